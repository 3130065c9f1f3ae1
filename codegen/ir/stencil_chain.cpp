// find_chain(): instructions that are equal but for a shift. Values of a chain are numbered as they appear, so that
// what a value uses comes before it.
#include "codegen/ir/stencil_chain.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/ir/usual.h"

namespace tarry::codegen {
namespace {

Shift operator+(const Shift& a, const Shift& b) { return {a.first + b.first, a.second + b.second}; }
Shift operator-(const Shift& a, const Shift& b) { return {a.first - b.first, a.second - b.second}; }

class Finder {
 public:
  explicit Finder(const KernelIr& ir) : ir_(ir) {
    chain_.value_of.assign(ir.instrs.size(), kNone);
    chain_.shift_of.resize(ir.instrs.size());
  }

  Chain run() {
    for (Value v = 0; v < ir_.instrs.size(); ++v) name(v);
    need();
    divide();
    return std::move(chain_);
  }

 private:
  void name(Value v) {
    const Instr& in = ir_.instrs[v];
    std::vector<std::int64_t> key{static_cast<std::int64_t>(in.kind)};
    Shift at{0, 0};
    if (is_usually_zero(ir_, in)) return;
    if (in.kind == InstrKind::Load) {
      const Access& a = ir_.accesses[in.index];
      if (a.window != kNone) at = {a.row, a.column};
      key.push_back(a.window != kNone ? a.window : in.index);
    } else if (in.kind == InstrKind::Compute) {
      if (const Value taken = usual_value(ir_, v); taken != v) {
        chain_.value_of[v] = chain_.value_of[taken];
        chain_.shift_of[v] = chain_.shift_of[taken];
        return;
      }
      key.push_back(static_cast<std::int64_t>(in.op));
      key.push_back(static_cast<std::int64_t>(in.dtype));
      std::optional<Shift> first;
      for (const Value arg : in.args) {
        if (arg == kNone) continue;
        const std::uint32_t value = chain_.value_of[arg];
        if (value == kNone) {  // the same everywhere
          key.insert(key.end(), {-1, static_cast<std::int64_t>(arg)});
          continue;
        }
        if (!first) first = chain_.shift_of[arg];
        const Shift apart = chain_.shift_of[arg] - *first;
        key.insert(key.end(), {value, apart.first, apart.second});
      }
      if (first) at = *first;
    } else {
      return;
    }
    const auto [it, fresh] = known_.try_emplace(key, static_cast<std::uint32_t>(chain_.values.size()));
    if (fresh) {
      ChainValue value;
      value.sample = v;
      value.at = at;
      chain_.values.push_back(std::move(value));
    }
    chain_.value_of[v] = it->second;
    chain_.shift_of[v] = at;
  }

  /// From stores to loads: a value's users have higher numbers.
  void need() {
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::Store && chain_.value_of[in.args[0]] != kNone)
        chain_.values[chain_.value_of[in.args[0]]].needed.insert(chain_.shift_of[in.args[0]]);
    for (std::size_t i = chain_.values.size(); i-- > 0;) {
      ChainValue& value = chain_.values[i];
      if (value.needed.empty()) continue;
      value.top = value.needed.begin()->first;
      value.bottom = value.needed.rbegin()->first;
      value.left = value.right = value.needed.begin()->second;
      for (const Shift& s : value.needed) {
        value.left = std::min(value.left, s.second);
        value.right = std::max(value.right, s.second);
        for (const Value arg : ir_.instrs[value.sample].args) {
          if (arg == kNone || chain_.value_of[arg] == kNone) continue;
          chain_.values[chain_.value_of[arg]].needed.insert(chain_.shift_of[arg] - value.at + s);
        }
      }
    }
  }

  /// Neighbours in order that are needed at the same shifts run together.
  void divide() {
    const std::set<Shift>* now = nullptr;
    for (std::uint32_t i = 0; i < chain_.values.size(); ++i) {
      ChainValue& value = chain_.values[i];
      if (value.needed.empty() || ir_.instrs[value.sample].kind == InstrKind::Load) continue;
      if (!now || *now != value.needed) chain_.passes.emplace_back();
      now = &value.needed;
      value.pass = static_cast<int>(chain_.passes.size()) - 1;
      chain_.passes.back().values.push_back(i);
    }
  }

  const KernelIr& ir_;
  Chain chain_;
  std::map<std::vector<std::int64_t>, std::uint32_t> known_;
};

}  // namespace

bool Chain::worthwhile() const {
  return std::any_of(values.begin(), values.end(),
                     [](const ChainValue& v) { return v.pass >= 0 && v.needed.size() > 1; });
}

Chain find_chain(const KernelIr& ir) { return Finder(ir).run(); }

}  // namespace tarry::codegen
