// shrink(): smaller programs that still fail, by greedy passes until none helps.
#include <algorithm>
#include <set>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {
namespace {

/// Drops statements and inputs that no output needs and numbers the rest anew.
Program pruned(const Program& p) {
  const auto inputs = static_cast<int>(p.inputs.size());
  std::vector<bool> needed(static_cast<std::size_t>(p.value_count()));
  for (const int v : p.outputs) needed[static_cast<std::size_t>(v)] = true;
  for (std::size_t i = p.statements.size(); i-- > 0;) {
    if (!needed[static_cast<std::size_t>(inputs) + i]) continue;
    for (const Argument& a : p.statements[i].arguments)
      if (a.value >= 0) needed[static_cast<std::size_t>(a.value)] = true;
  }
  std::vector<int> number(needed.size(), -1);
  Program q;
  q.seed = p.seed;
  for (int v = 0, next = 0; v < p.value_count(); ++v) {
    if (!needed[static_cast<std::size_t>(v)]) continue;
    number[static_cast<std::size_t>(v)] = next++;
    if (v < inputs)
      q.inputs.push_back(p.inputs[static_cast<std::size_t>(v)]);
    else
      q.statements.push_back(p.statements[static_cast<std::size_t>(v - inputs)]);
  }
  for (Statement& s : q.statements)
    for (Argument& a : s.arguments)
      if (a.value >= 0) a.value = number[static_cast<std::size_t>(a.value)];
  for (const int v : p.outputs) q.outputs.push_back(number[static_cast<std::size_t>(v)]);
  return q;
}

/// Uses of value `from` read `to` instead.
void replace_uses(Program& p, int from, int to) {
  for (Statement& s : p.statements)
    for (Argument& a : s.arguments)
      if (a.value == from) a.value = to;
  std::replace(p.outputs.begin(), p.outputs.end(), from, to);
}

/// The program with a new input of this type as its last input; older values keep their order.
Program with_input(Program p, const Type& type) {
  const auto at = static_cast<int>(p.inputs.size());
  for (Statement& s : p.statements)
    for (Argument& a : s.arguments)
      if (a.value >= at) ++a.value;
  for (int& v : p.outputs)
    if (v >= at) ++v;
  p.inputs.push_back({type, Layout::Copied, Content::Plain, 1});
  return p;
}

class Shrinker {
 public:
  Shrinker(Program p, const std::function<bool(const Program&)>& fails, int calls)
      : best_(std::move(p)), fails_(fails), calls_(calls) {}

  Program run() {
    try_program(pruned(best_));
    while (calls_ > 0 &&
           (fewer_outputs() || fewer_statements() || smaller_extents() || simpler_arguments() || simpler_inputs())) {
    }
    return std::move(best_);
  }

 private:
  bool try_program(const Program& p) {
    if (p.outputs.empty() || calls_ <= 0 || !infer(p)) return false;
    --calls_;
    if (!fails_(p)) return false;
    best_ = p;
    return true;
  }

  bool fewer_outputs() {
    bool changed = false;
    for (std::size_t i = 0; best_.outputs.size() > 1 && i < best_.outputs.size();) {
      Program p = best_;
      p.outputs = {best_.outputs[i]};
      if (try_program(pruned(p))) return true;
      p = best_;
      p.outputs.erase(p.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (try_program(pruned(p)))
        changed = true;
      else
        ++i;
    }
    return changed;
  }

  /// An output moves to an operand; a statement gives way to an equal-typed earlier value, to an operand, or to an
  /// input.
  bool fewer_statements() {
    for (std::size_t i = best_.statements.size(); i-- > 0;) {
      const auto value = static_cast<int>(best_.inputs.size() + i);
      const std::vector<Type> types = *infer(best_);
      const bool is_output = std::find(best_.outputs.begin(), best_.outputs.end(), value) != best_.outputs.end();
      if (is_output) {
        for (const Argument& a : best_.statements[i].arguments) {
          if (a.value < static_cast<int>(best_.inputs.size())) continue;
          Program p = best_;
          std::replace(p.outputs.begin(), p.outputs.end(), value, a.value);
          if (try_program(pruned(p))) return true;
        }
      }
      for (int earlier = 0; earlier < value; ++earlier) {
        if (types[static_cast<std::size_t>(earlier)] != types[static_cast<std::size_t>(value)]) continue;
        Program p = best_;
        replace_uses(p, value, earlier);
        if (try_program(pruned(p))) return true;
      }
      if (is_output) continue;
      for (const Argument& a : std::vector<Argument>(best_.statements[i].arguments)) {
        if (a.value < 0) continue;
        Program p = best_;
        replace_uses(p, value, a.value);
        if (try_program(pruned(p))) return true;
      }
      Program p = with_input(best_, types[static_cast<std::size_t>(value)]);
      replace_uses(p, value + 1, static_cast<int>(p.inputs.size()) - 1);
      for (const Content content : {Content::Small, Content::Plain, Content::Special}) {
        p.inputs.back().content = content;
        if (try_program(pruned(p))) return true;
      }
    }
    return false;
  }

  /// Every place that names one extent gets a smaller one; axes of extent 1 stay, infer() rejects what breaks.
  bool smaller_extents() {
    std::set<std::int64_t, std::greater<>> extents;
    for (const Input& i : best_.inputs) extents.insert(i.type.shape.begin(), i.type.shape.end());
    for (const Statement& s : best_.statements) extents.insert(s.shape.begin(), s.shape.end());
    bool changed = false;
    for (const std::int64_t extent : extents) {
      std::vector<std::int64_t> smaller = {1, 2, 3, 33, 129};
      for (std::int64_t e = extent / 2; e > 3; e = (e + extent + 1) / 2) {  // halves, then ever closer to the extent
        smaller.push_back(e);
        if (e == extent - 1) break;
      }
      for (const std::int64_t e : smaller) {
        if (e >= extent) continue;
        Program p = best_;
        for (Input& i : p.inputs) std::replace(i.type.shape.begin(), i.type.shape.end(), extent, e);
        for (Statement& s : p.statements) std::replace(s.shape.begin(), s.shape.end(), extent, e);
        if (!try_program(p)) continue;
        changed = true;
        break;
      }
    }
    return changed;
  }

  bool simpler_arguments() {
    for (std::size_t i = 0; i < best_.statements.size(); ++i) {
      for (std::size_t k = 0; k < best_.statements[i].arguments.size(); ++k) {
        const Argument& a = best_.statements[i].arguments[k];
        for (const Argument& simple : {Argument{-1, 1}, Argument{-1, 2}}) {
          const bool simplest = a.value < 0 && a.scalar.is_integer() && a.scalar.as_int() <= simple.scalar.as_int();
          if (simplest || family(best_.statements[i].function) == Family::Create || (a.value >= 0 && is_only_array(i)))
            continue;
          Program p = best_;
          p.statements[i].arguments[k] = simple;
          if (try_program(pruned(p))) return true;
        }
      }
      Program p = best_;
      p.statements[i].number = 0;
      if (best_.statements[i].number != 0 && try_program(p)) return true;
      p = best_;
      p.statements[i].flag = false;
      if (best_.statements[i].flag && try_program(p)) return true;
    }
    return false;
  }
  bool is_only_array(std::size_t statement) const {
    const auto& arguments = best_.statements[statement].arguments;
    return std::count_if(arguments.begin(), arguments.end(), [](const Argument& a) { return a.value >= 0; }) == 1;
  }

  bool simpler_inputs() {
    bool changed = false;
    for (std::size_t i = 0; i < best_.inputs.size(); ++i) {
      for (const Layout layout : {Layout::Copied, Layout::Contiguous}) {
        if (layout >= best_.inputs[i].layout) break;
        Program p = best_;
        p.inputs[i].layout = layout;
        if (try_program(p)) changed = true;
      }
      for (const Content content : {Content::Zeros, Content::Small, Content::Plain}) {
        if (content >= best_.inputs[i].content) break;
        Program p = best_;
        p.inputs[i].content = content;
        if (try_program(p)) changed = true;
      }
    }
    return changed;
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  int calls_;
};

}  // namespace

Program shrink(Program p, const std::function<bool(const Program&)>& fails, int calls) {
  return Shrinker(std::move(p), fails, calls).run();
}

}  // namespace tarry::test::fuzz
