// Reads the sections of codegen/prelude/ and hands out those a kernel needs. The format is described there.
#include "codegen/prelude/text.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "support/check.h"

namespace tarry::codegen {

extern const char kPreludeSource[];

namespace {

struct Section {
  std::string name;  ///< the first of `names`
  std::vector<std::string> names;
  std::vector<std::size_t> needs;  ///< indices of earlier sections
  std::vector<std::string> ops;    ///< a family: what each of its rows defines
  std::string c, cuda;             ///< the body in either dialect
};

struct Prelude {
  std::vector<Section> sections;
  std::unordered_map<std::string, std::size_t> by_name;
  std::unordered_map<std::string, std::size_t> by_function;
};

std::vector<std::string> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::size_t index_of(const Prelude& prelude, const std::string& section) {
  auto found = prelude.by_name.find(section);
  if (found == prelude.by_name.end()) TARRY_THROW(InternalError, "", Where{}, "the prelude has no section " + section);
  return found->second;
}

/// "names : needs : ops". A need must stand above, so the order of the file is an order of dependencies.
Section parse_header(const Prelude& prelude, std::string_view header) {
  const std::size_t first = header.find(':'), second = header.find(':', first + 1);
  Section section;
  section.names = words(header.substr(0, first));
  section.name = section.names.at(0);
  for (const std::string& need : words(header.substr(first + 1, second - first - 1)))
    section.needs.push_back(index_of(prelude, need));
  if (second != std::string_view::npos) section.ops = words(header.substr(second + 1));
  return section;
}

/// A row `family_suffix` of a family it needs defines tarry_<op>_<suffix>; any other section defines its own names.
void index_functions(Prelude& prelude, std::size_t at) {
  const Section& section = prelude.sections[at];
  bool is_row = false;
  for (std::size_t need : section.needs) {
    const Section& family = prelude.sections[need];
    if (family.ops.empty() || !section.name.starts_with(family.name + "_")) continue;
    is_row = true;
    const std::string suffix = section.name.substr(family.name.size());
    for (const std::string& op : family.ops) prelude.by_function.emplace("tarry_" + op + suffix, at);
  }
  if (is_row || !section.ops.empty()) return;
  for (const std::string& name : section.names) prelude.by_function.emplace("tarry_" + name, at);
}

/// Which dialects the lines between `#ifdef __CUDACC__` and its `#endif` belong to. Conditionals within are text.
class Branches {
 public:
  /// False for a line of text; else the line is used up.
  bool take(std::string_view line) {
    if (inner_ == 0 && line == "#ifdef __CUDACC__") return go(true, false);
    if (inner_ == 0 && line == "#ifndef __CUDACC__") return go(false, true);
    if (line.starts_with("#if")) return ++inner_, false;
    if (inner_ != 0 && line == "#endif") return --inner_, false;
    if (inner_ == 0 && line == "#else") return go(!cuda_, !c_);
    if (inner_ == 0 && line == "#endif") return go(true, true);
    return false;
  }
  [[nodiscard]] bool cuda() const { return cuda_; }
  [[nodiscard]] bool c() const { return c_; }
  [[nodiscard]] bool closed() const { return cuda_ && c_ && inner_ == 0; }

 private:
  bool go(bool cuda, bool c) {
    cuda_ = cuda;
    c_ = c;
    return true;
  }
  bool cuda_ = true, c_ = true;
  int inner_ = 0;
};

Prelude parse(std::string_view text) {
  constexpr std::string_view marker = "//== ";
  Prelude prelude;
  Branches branches;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(marker)) {
      Section section = parse_header(prelude, line.substr(marker.size()));
      prelude.by_name.emplace(section.name, prelude.sections.size());
      prelude.sections.push_back(std::move(section));
      index_functions(prelude, prelude.sections.size() - 1);
    } else if (prelude.sections.empty() || line.empty() || line.starts_with("//") || line == "#pragma once") {
      continue;  // the head of the file, and comments for its readers
    } else if (!branches.take(line)) {
      Section& section = prelude.sections.back();
      if (branches.c()) section.c.append(line) += '\n';
      if (branches.cuda()) section.cuda.append(line) += '\n';
    }
  }
  TARRY_ASSERT(branches.closed() && !prelude.sections.empty() && prelude.sections[0].name == "core");
  return prelude;
}

const Prelude& prelude() {
  static const Prelude& parsed =
      *new Prelude(parse(kPreludeSource));  // never destroyed: static arrays may be evaluated at exit
  return parsed;
}

/// Marks what `wanted` marks and all it needs. Needs point upwards, so one walk from the end is the closure.
void close(const Prelude& prelude, std::vector<bool>& wanted) {
  for (std::size_t i = wanted.size(); i-- > 0;)
    if (wanted[i])
      for (std::size_t need : prelude.sections[i].needs) wanted[need] = true;
  wanted[0] = true;
}

std::string suffix(Dtype dtype) { return std::string("_") + info(dtype).suffix; }

/// float16 and bfloat16 are stored as integers: every op on them is a call.
bool is_infix(graph::Op op, Dtype input) {
  if (input == Dtype::Float16 || input == Dtype::BFloat16) return false;
  const graph::OpInfo& row = graph::info(op);
  return row.infix != nullptr && (is_floating(input) || row.rule == graph::DtypeRule::Bool);
}

}  // namespace

std::string function_name(graph::Op op, Dtype input, Dtype output) {
  const std::string base = std::string("tarry_") + graph::info(op).name;
  if (op == graph::Op::Cast) return base + suffix(input) + suffix(output);
  // where's condition is always bool; draws are told apart by what they give
  const bool by_output = op == graph::Op::Where || graph::info(op).rule == graph::DtypeRule::Draw;
  return base + suffix(by_output ? output : input);
}

std::string expression(graph::Op op, Dtype input, Dtype output, std::span<const std::string> operands) {
  TARRY_ASSERT(operands.size() == graph::info(op).arity);
  if (is_infix(op, input)) return operands[0] + " " + graph::info(op).infix + " " + operands[1];
  std::string call = function_name(op, input, output) + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) call += (i ? ", " : "") + operands[i];
  return call + ")";
}

std::vector<std::string> prelude_sections(std::span<const std::string> functions) {
  const Prelude& all = prelude();
  std::vector<bool> wanted(all.sections.size());
  for (const std::string& function : functions) {
    auto found = all.by_function.find(function);
    if (found == all.by_function.end())
      TARRY_THROW(InternalError, "", Where{}, "no section of the prelude defines " + function);
    wanted[found->second] = true;
  }
  close(all, wanted);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) names.push_back(all.sections[i].name);
  return names;
}

std::string prelude_text(std::span<const std::string> sections, Dialect dialect) {
  const Prelude& all = prelude();
  std::vector<bool> wanted(all.sections.size());
  for (const std::string& name : sections) wanted[index_of(all, name)] = true;
  close(all, wanted);
  std::string text;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) text += dialect == Dialect::C ? all.sections[i].c : all.sections[i].cuda;
  return text;
}

std::string c_type(Dtype dtype) {
  if (dtype == Dtype::Float32) return "float";
  if (dtype == Dtype::Float64) return "double";
  if (dtype == Dtype::Bool) return "tarry_u8";
  return std::string("tarry_") + info(dtype).suffix;
}

}  // namespace tarry::codegen
