// roll(): a map whose formula repeats itself, as steps that a program has written one behind the other do, becomes a
// loop: a recurrence without an axis. Its text, and what a compiler takes for it, no longer grow with the steps.
#include <algorithm>
#include <limits>

#include "codegen/ir/fit.h"
#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

constexpr std::size_t kFewestSteps = 4;
constexpr std::size_t kMostScalars = 256;  // as many as of any recurrence: parameters have 4 KiB
constexpr int kPoints = 4;                 // that a thread has where nothing is rolled
constexpr std::size_t kTries = 4;
constexpr std::int64_t kFree[] = {4, 16, 64};  // operations of a step that need nothing of the steps before

/// Steps of `length` values, one behind the other. The values of a step are those of the step before, of itself, of
/// what comes before all of them, and scalars.
struct Steps {
  std::size_t first = 0, length = 0, count = 0;
  [[nodiscard]] std::size_t end() const { return first + length * count; }
  [[nodiscard]] std::size_t last() const { return end() - length; }  ///< where the last step begins
  [[nodiscard]] std::size_t spared() const { return length * (count - 1); }
};

/// All values but scalars, in an order in which those of a step are together: each as soon as it can be there, but what
/// is at most `free` operations away from memory just before its first reader. Stores come last: a buffer may be taken
/// over from one that is loaded.
std::vector<Value> step_by_step(const KernelIr& ir, std::int64_t free) {
  const auto values = static_cast<Value>(ir.instrs.size());
  const auto each_arg = [&](Value v, const auto& f) {
    for (const Value arg : ir.instrs[v].args)
      if (arg != kNone && ir.instrs[arg].kind != InstrKind::Scalar) f(arg);
  };
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> soonest(values), reader(values, kNever), when(values);
  for (Value v = 0; v < values; ++v)
    each_arg(v, [&](Value arg) { soonest[v] = std::max(soonest[v], soonest[arg] + 1); });
  for (Value v = values; v-- > 0;) {
    const bool stores = ir.instrs[v].kind == InstrKind::Store;
    const bool waits = soonest[v] <= free && reader[v] != kNever;
    when[v] = stores ? kNever : waits ? reader[v] - 1 : soonest[v];
    if (!stores) each_arg(v, [&](Value arg) { reader[arg] = std::min(reader[arg], when[v]); });
  }
  std::vector<Value> order;
  for (Value v = 0; v < values; ++v)
    if (ir.instrs[v].kind != InstrKind::Scalar) order.push_back(v);
  std::ranges::stable_sort(order, [&](Value a, Value b) { return when[a] < when[b]; });
  return order;
}

class Roller {
 public:
  Roller(const KernelIr& ir, const std::vector<ScalarRef>& scalars, std::int64_t free)
      : ir_(ir), scalars_(scalars), order_(step_by_step(ir, free)), place_(ir.instrs.size(), kNowhere) {
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  }

  /// Finds steps that are half of the formula at least.
  bool find() {
    for (const Steps& s : candidates()) {
      if (2 * s.spared() < order_.size()) return false;
      steps_ = s;
      if (fits()) return true;
    }
    return false;
  }

  /// The kernel with its steps as a loop, and the scalars it takes.
  std::pair<KernelIr, std::vector<ScalarRef>> rolled() {
    out_ = ir_;
    out_.instrs.clear();
    out_.scalars.clear();
    now_.assign(ir_.instrs.size(), kNone);
    for (std::size_t i = 0; i < steps_.first; ++i) add(order_[i], Region::Row, 0);
    begin_step();
    for (std::size_t i = steps_.first; i < steps_.first + steps_.length; ++i) add_step(i);
    end_step();
    for (std::size_t i = steps_.end(); i < order_.size(); ++i) add(order_[i], Region::Row, 1);
    out_.levels = {scalar({graph::kNoId, steps_.count}, Dtype::Int64)};
    out_.layout = RecurrenceLayout{};
    return {std::move(out_), std::move(taken_)};
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  enum class Source : std::uint8_t { Same, Step, Scalars };

  [[nodiscard]] const Instr& at(std::size_t place) const { return ir_.instrs[order_[place]]; }
  [[nodiscard]] bool is_scalar(Value v) const { return ir_.instrs[v].kind == InstrKind::Scalar; }

  /// True if the values at two places are the same operation of the same, of what lies as far apart, or of scalars.
  [[nodiscard]] bool repeats(std::size_t i, std::size_t length) const {
    const Instr &a = at(i), &b = at(i + length);
    if (a.kind != InstrKind::Compute || b.kind != InstrKind::Compute || a.op != b.op || a.dtype != b.dtype)
      return false;
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(a)); ++k) {
      const Value u = a.args[k], w = b.args[k];
      if (ir_.instrs[u].dtype != ir_.instrs[w].dtype) return false;
      if (u == w || (is_scalar(u) && is_scalar(w))) continue;
      if (is_scalar(u) || is_scalar(w) || place_[w] != place_[u] + length) return false;
    }
    return true;
  }

  /// Runs of steps, the longest first.
  [[nodiscard]] std::vector<Steps> candidates() const {
    std::vector<Steps> found;
    for (std::size_t length = 1; length * kFewestSteps <= order_.size(); ++length) {
      std::size_t run = 0;
      for (std::size_t i = 0; i + length <= order_.size(); ++i) {
        if (i + length < order_.size() && repeats(i, length)) {
          ++run;
          continue;
        }
        const Steps s{i - run, length, run / length + 1};
        if (s.count >= kFewestSteps) found.push_back(s);
        run = 0;
      }
    }
    std::ranges::stable_sort(found, [](const Steps& a, const Steps& b) { return a.spared() > b.spared(); });
    found.resize(std::min(found.size(), kTries));
    return found;
  }

  [[nodiscard]] Source source(std::size_t i, std::size_t k) const {
    const Value u = at(i).args[k], w = at(i + steps_.length).args[k];
    return u == w ? Source::Same : is_scalar(u) ? Source::Scalars : Source::Step;
  }

  /// True if every step takes its arguments from where the first one does, and only the last one has readers behind.
  [[nodiscard]] bool fits() const {
    const auto [first, length, count] = steps_;
    for (std::size_t i = first; i < first + length; ++i) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(at(i))); ++k) {
        const Value u = at(i).args[k];
        const std::size_t from = place_[u];
        const Source is = source(i, k);
        if (is == Source::Same && !is_scalar(u) && from >= first) return false;
        if (is == Source::Step && from + length < first) return false;  // of the step before the last one
        for (std::size_t step = 1; step < count; ++step) {
          const Value w = at(i + step * length).args[k];
          const bool as_first = is == Source::Same   ? w == u
                                : is == Source::Step ? !is_scalar(w) && place_[w] == from + step * length
                                                     : is_scalar(w);
          // Scalars may be the same in some steps.
          if (!as_first && !(is_scalar(u) && is_scalar(w))) return false;
        }
      }
    }
    for (std::size_t i = steps_.end(); i < order_.size(); ++i)
      for (const Value v : at(i).args)
        if (v != kNone && !is_scalar(v) && place_[v] >= first && place_[v] < steps_.last()) return false;
    return true;
  }

  /// The scalars that argument k of a value has, step by step; empty if they are one.
  [[nodiscard]] std::vector<std::uint32_t> series_of(std::size_t i, std::size_t k) const {
    std::vector<std::uint32_t> all;
    for (std::size_t step = 0; step < steps_.count; ++step)
      all.push_back(ir_.instrs[at(i + step * steps_.length).args[k]].index);
    if (std::ranges::all_of(all, [&](std::uint32_t s) { return s == all.front(); })) all.clear();
    return all;
  }

  std::uint32_t scalar(const ScalarRef& ref, Dtype dtype) {
    taken_.push_back(ref);
    out_.scalars.push_back(dtype);
    return static_cast<std::uint32_t>(taken_.size() - 1);
  }

  Value push(Instr in, Region region, std::uint8_t stage) {
    in.region = region;
    in.stage = stage;
    out_.instrs.push_back(in);
    return static_cast<Value>(out_.instrs.size() - 1);
  }

  /// A scalar that is the same in all steps.
  Value plain_scalar(Value v) {
    if (now_[v] != kNone) return now_[v];
    Instr in = ir_.instrs[v];
    in.index = scalar(scalars_[in.index], ir_.scalars[in.index]);
    return now_[v] = push(in, Region::Row, 0);
  }

  void add(Value v, Region region, std::uint8_t stage) {
    Instr in = ir_.instrs[v];
    for (Value& arg : in.args)
      if (arg != kNone) arg = is_scalar(arg) ? plain_scalar(arg) : now_[arg];
    now_[v] = push(in, region, stage);
  }

  /// A step takes values of the one before, and scalars of its own.
  void begin_step() {
    carried_.assign(steps_.length, kNone);
    for (std::size_t i = steps_.first; i < steps_.first + steps_.length; ++i) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(at(i))); ++k) {
        const Value u = at(i).args[k];
        if (is_scalar(u)) {
          number(i, k);
        } else if (source(i, k) == Source::Step && place_[u] < steps_.first) {
          Value& carried = carried_[place_[u] + steps_.length - steps_.first];
          if (carried != kNone) continue;
          Instr in;
          in.kind = InstrKind::Carried;
          in.dtype = ir_.instrs[u].dtype;
          in.args[0] = now_[u];
          carried = push(in, Region::Point, 0);
        }
      }
    }
  }

  void number(std::size_t i, std::size_t k) {
    const std::vector<std::uint32_t> series = series_of(i, k);
    if (series.empty()) {
      plain_scalar(at(i).args[k]);
      return;
    }
    const auto known = std::ranges::find(series_, series);
    if (known != series_.end()) return;
    Instr in;
    in.kind = InstrKind::Number;
    in.dtype = ir_.scalars[series.front()];
    in.index = static_cast<std::uint32_t>(out_.series.size());
    out_.series.push_back({static_cast<std::uint32_t>(taken_.size()), static_cast<std::uint32_t>(series.size())});
    for (const std::uint32_t s : series) scalar(scalars_[s], ir_.scalars[s]);
    series_.push_back(series);
    numbers_.push_back(push(in, Region::Point, 0));
  }

  void add_step(std::size_t i) {
    Instr in = at(i);
    for (std::size_t k = 0; k < static_cast<std::size_t>(arity(at(i))); ++k) {
      const Value u = in.args[k];
      if (is_scalar(u)) {
        const auto known = std::ranges::find(series_, series_of(i, k));
        in.args[k] = known == series_.end() ? now_[u] : numbers_[static_cast<std::size_t>(known - series_.begin())];
      } else if (source(i, k) == Source::Step && place_[u] < steps_.first) {
        in.args[k] = carried_[place_[u] + steps_.length - steps_.first];
      } else {
        in.args[k] = now_[u];
      }
    }
    now_[order_[i]] = push(in, Region::Point, 0);
  }

  /// A step hands values on, the last one to readers behind the loop.
  void end_step() {
    std::vector<bool> read(order_.size());
    for (std::size_t i = steps_.end(); i < order_.size(); ++i)
      for (const Value v : at(i).args)
        if (v != kNone && !is_scalar(v)) read[place_[v]] = true;
    for (std::size_t k = 0; k < steps_.length; ++k) {
      const Value step = now_[order_[steps_.first + k]];
      if (carried_[k] != kNone) out_.instrs[carried_[k]].args[1] = step;
      if (!read[steps_.last() + k]) continue;
      Instr in;
      in.kind = InstrKind::Last;
      in.dtype = out_.instrs[step].dtype;
      in.args[0] = step;
      now_[order_[steps_.last() + k]] = push(in, Region::Row, 1);
    }
  }

  const KernelIr& ir_;
  const std::vector<ScalarRef>& scalars_;
  std::vector<Value> order_;
  std::vector<std::size_t> place_;  // by value: where it is in order_
  Steps steps_;
  KernelIr out_;
  std::vector<ScalarRef> taken_;  // by scalar of out_
  std::vector<Value> now_;        // by value: the one of out_
  std::vector<Value> carried_;    // by place in a step: what the step before had there
  std::vector<std::vector<std::uint32_t>> series_;
  std::vector<Value> numbers_;  // by series
};

/// True if nothing but loads, computations and stores at each point make the map.
bool is_simple(const KernelIr& ir) {
  return ir.checks.empty() && std::ranges::all_of(ir.instrs, [](const Instr& in) {
           return in.kind == InstrKind::Scalar || in.kind == InstrKind::Compute || in.kind == InstrKind::Store ||
                  (in.kind == InstrKind::Load && in.guard == kNone);
         });
}

}  // namespace

std::optional<Layout> roll(Choice& c) {
  if (!c.is_plain_map() || !is_simple(c.ir) || !has_many_instructions(c.ir, kPoints)) return std::nullopt;
  for (const std::int64_t free : kFree) {
    Roller roller(c.ir, c.lowered.scalars, free);
    if (!roller.find()) continue;
    auto [ir, scalars] = roller.rolled();
    if (scalars.size() > kMostScalars) return std::nullopt;
    c.ir = std::move(ir);
    c.lowered.scalars = std::move(scalars);
    return c.ir.layout;
  }
  return std::nullopt;
}

}  // namespace tarry::codegen
