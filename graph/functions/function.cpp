// function: its text is read once; a call is recorded.
#include <tarry/function.h>

#include <algorithm>
#include <exception>

#include "graph/functions/record.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {

class detail::FunctionText {
 public:
  FunctionText(std::string_view name, std::string_view parameters, std::string_view body, Where where)
      : name_(name), syntax_(graph::parse_function(name, parameters, body, where)), where_(where) {
    check();
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return syntax_.text; }
  [[nodiscard]] const graph::Syntax& syntax() const { return syntax_; }
  [[nodiscard]] std::vector<graph::Edge> apply(std::span<const graph::Argument> arguments, Where where) const {
    return graph::record_function(syntax_, name_, arguments, where_, where);
  }

 private:
  /// Records it once, for numbers that nobody reads: mistakes show here. T is a real type or an integer.
  void check() const {
    std::exception_ptr mistake;
    for (const Dtype of_template : {float32, int32}) {
      std::vector<graph::Argument> zeros;
      for (const graph::Variable& p : syntax_.parameters) {
        const bool is_template = p.type.kind == graph::TypeName::Kind::Template;
        zeros.push_back({graph::record_scalar(0, is_template ? of_template : p.type.dtype, name_, where_), 0});
      }
      try {
        (void)apply(zeros, where_);
        return;
      } catch (const InvalidArgument&) {
        if (!mistake) mistake = std::current_exception();
      }
    }
    std::rethrow_exception(mistake);
  }

  const std::string name_;
  const graph::Syntax syntax_;
  const Where where_;
};

function::function(std::string_view name, std::string_view parameters, std::string_view body, Where where) try
    : text_(std::make_shared<const detail::FunctionText>(name, parameters, body, where)) {}
TARRY_OR_OUT_OF_MEMORY("function", where)

std::vector<Array> function::apply(const std::vector<Operand>& arguments, Where where) const try {
  std::vector<graph::Argument> all;
  for (const Operand& x : arguments) all.push_back(detail::argument(x, name(), where));
  std::vector<Array> results;
  for (graph::Edge& e : text_->apply(all, where)) results.push_back(detail::wrap(std::move(e)));
  return results;
}
TARRY_OR_OUT_OF_MEMORY("function", where)

Array function::one(const std::vector<Operand>& arguments, Where where) const {
  std::vector<Array> results = apply(arguments, where);
  if (results.size() != 1)
    TARRY_THROW(InvalidArgument, name(), where,
                std::to_string(results.size()) + " results: call all() for a list of them");
  return std::move(results[0]);
}

const std::string& function::name() const noexcept { return text_->name(); }
const std::string& function::text() const noexcept { return text_->text(); }
std::size_t function::parameters() const noexcept { return text_->syntax().parameters.size(); }
std::size_t function::results() const noexcept { return std::max<std::size_t>(1, text_->syntax().results.size()); }

}  // namespace v0
}  // namespace tarry
