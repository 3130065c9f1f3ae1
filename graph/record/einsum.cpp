// einsum: subscripts become labels of axes, operands are contracted from left to right.
#include <tarry/linalg.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/record/parts.h"
#include "graph/record/products.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace graph {
namespace {

using Labels = std::vector<int>;

/// Axes that an ellipsis stands for are numbered from their last one, below every letter.
constexpr int kEllipsis = -1;
constexpr int broadcast_label(int from_last) { return -2 - from_last; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Subscripts {
 public:
  Subscripts(std::string_view text, const ProductCall& call) : text_(text), call_(call) {}

  void parse() {
    std::string compact;
    for (const char c : text_)
      if (c != ' ') compact.push_back(c);
    const std::size_t arrow = compact.find("->");
    std::string_view inputs = std::string_view(compact).substr(0, arrow);
    for (std::size_t comma = inputs.find(','); comma != std::string_view::npos; comma = inputs.find(',')) {
      terms_.push_back(labels(inputs.substr(0, comma)));
      inputs.remove_prefix(comma + 1);
    }
    terms_.push_back(labels(inputs));
    if (arrow != std::string::npos) output_ = labels(std::string_view(compact).substr(arrow + 2));
  }

  /// The operands' axes; a label that an operand repeats is its diagonal.
  std::vector<Labelled> label(const std::vector<Edge>& operands) {
    if (operands.size() != terms_.size()) {
      fail<InvalidValue>("name " + std::to_string(terms_.size()) + (terms_.size() == 1 ? " operand" : " operands") +
                         ", not " + std::to_string(operands.size()));
    }
    std::vector<Labelled> result;
    for (std::size_t i = 0; i < operands.size(); ++i) result.push_back(label(operands[i], terms_[i]));
    return result;
  }

  /// The labels of the result, in order.
  [[nodiscard]] Labels output(const std::vector<Labelled>& operands) const {
    Labels broadcast;
    for (int d = broadcast_rank_; d-- > 0;) broadcast.push_back(broadcast_label(d));
    if (!output_) {
      std::map<int, int> times;
      for (const Labels& term : terms_)
        for (const int label : term) ++times[label];
      for (const auto& [label, count] : times)
        if (label >= 0 && count == 1) broadcast.push_back(label);
      return broadcast;
    }
    Labels result;
    for (const int label : *output_) {
      if (label == kEllipsis) {
        result.insert(result.end(), broadcast.begin(), broadcast.end());
        continue;
      }
      const auto names = [&](const Labelled& x) { return std::ranges::find(x.labels, label) != x.labels.end(); };
      if (std::ranges::none_of(operands, names)) fail<InvalidValue>("have '" + letter(label) + "' in the result alone");
      if (std::ranges::count(*output_, label) > 1)
        fail<InvalidValue>("have '" + letter(label) + "' twice in the result");
      result.push_back(label);
    }
    if (broadcast_rank_ > 0 && std::ranges::find(*output_, kEllipsis) == output_->end())
      fail<InvalidValue>("leave out the axes of an ellipsis in the result");
    return result;
  }

  template <class Kind>
  [[noreturn]] void fail(const std::string& message) const {
    TARRY_THROW(Kind, call_.op, call_.where,
                "the subscripts \"" + std::string(text_) + "\" " + message + " (given " + call_.given + ")");
  }

 private:
  static std::string letter(int label) { return {static_cast<char>(label)}; }

  [[nodiscard]] Labels labels(std::string_view term) const {
    Labels result;
    while (!term.empty()) {
      const bool dots = term.starts_with("...");
      if (!dots && !is_letter(term.front()))
        fail<InvalidValue>("have '" + std::string(1, term.front()) + "', which names no axis");
      if (dots && std::ranges::find(result, kEllipsis) != result.end())
        fail<InvalidValue>("have a second ellipsis in a term");
      result.push_back(dots ? kEllipsis : static_cast<int>(term.front()));
      term.remove_prefix(dots ? 3 : 1);
    }
    return result;
  }

  Labelled label(const Edge& operand, const Labels& term) {
    const int rank = operand.node()->rank, named = static_cast<int>(term.size());
    const bool dots = std::ranges::find(term, kEllipsis) != term.end();
    const int covered = dots ? rank - (named - 1) : 0;
    if (dots ? covered < 0 : named != rank) {
      fail<InvalidShape>("name " + std::to_string(named - (dots ? 1 : 0)) + " axes of " + Typed(operand).str() +
                         ", which has " + std::to_string(rank));
    }
    broadcast_rank_ = std::max(broadcast_rank_, covered);
    Labelled x{operand, {}};
    for (const int label : term) {
      if (label != kEllipsis) x.labels.push_back(label);
      for (int d = label == kEllipsis ? covered : 0; d-- > 0;) x.labels.push_back(broadcast_label(d));
    }
    return with_diagonals(std::move(x));
  }

  [[nodiscard]] Labelled with_diagonals(Labelled x) const {
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      const auto again = std::find(x.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, x.labels.end(), x.labels[i]);
      if (again == x.labels.end()) continue;
      const int label = x.labels[i];
      const auto first = static_cast<int>(i), second = static_cast<int>(again - x.labels.begin());
      const auto shape = x.x.node()->shape();
      if (shape[i] != shape[static_cast<std::size_t>(second)]) {
        fail<InvalidShape>("have '" + letter(label) + "' twice in a term, for axes of " + std::to_string(shape[i]) +
                           " and " + std::to_string(shape[static_cast<std::size_t>(second)]) + " elements");
      }
      x.x = diagonal_of(x.x, first, second, 0, call_.where);
      x.labels.erase(again);
      x.labels.erase(x.labels.begin() + first);
      x.labels.push_back(label);
      i = static_cast<std::size_t>(-1);  // from the start: labels have moved
    }
    return x;
  }

  std::string_view text_;
  const ProductCall& call_;
  std::vector<Labels> terms_;
  std::optional<Labels> output_;
  int broadcast_rank_ = 0;
};

/// Operands from left to right, each sum as early as nothing that follows needs its label.
Edge summed_products(const ProductCall& call, const std::vector<Labelled>& operands, const Labels& output) {
  Labelled result = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) {
    Labels kept = output;
    for (std::size_t later = i + 1; later < operands.size(); ++later)
      kept.insert(kept.end(), operands[later].labels.begin(), operands[later].labels.end());
    result = contracted(call, std::move(result), operands[i], kept);
  }
  return in_order(summed(call, std::move(result), output), output, call.where);
}

Edge einstein_sum(std::string_view subscripts, std::span<const Array> arrays, Where where) {
  const ProductCall call = product_call("einsum", arrays, where);
  Subscripts parsed(subscripts, call);
  parsed.parse();
  const std::vector<Labelled> operands = parsed.label(promoted_operands("einsum", arrays, where));
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!broadcast_by_label(operands[j], operands[i])) parsed.fail<InvalidShape>("give one axis two extents");
  return summed_products(call, operands, parsed.output(operands));
}

}  // namespace
}  // namespace graph

inline namespace v0 {

Array einsum(std::string_view subscripts, std::span<const Array> arrays, Where where) try {
  return detail::wrap(graph::einstein_sum(subscripts, arrays, where));
}
TARRY_OR_OUT_OF_MEMORY("einsum", where)

}  // namespace v0
}  // namespace tarry
