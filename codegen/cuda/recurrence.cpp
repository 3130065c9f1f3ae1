// CUDA C of recurrences: a thread per lane. What several levels read is loaded before the first of them is computed, as
// the compiler cannot move a load across a store.
//
// Turned accesses. Where lanes do not lie side by side in memory, levels may: a warp moves some levels of its 32 lanes
// at once, neighbouring threads neighbouring levels, and turns them through shared memory.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"
#include "codegen/ir/fit.h"

namespace tarry::codegen {
namespace cuda {
namespace {

constexpr int kHeldWords = 32;        // of a thread, for what is loaded ahead
constexpr int kHeldTurnedWords = 40;  // where a part of it is turned: fewer levels at once are no whole sectors
constexpr int kMostAhead = 16;        // levels
constexpr int kUsualAhead = 8;        // of loops that have more than a few instructions
constexpr int kTogether = 8;  // levels that move no memory take an eighth of the instructions at hand, side by side

class RecurrenceWriter {
 public:
  explicit RecurrenceWriter(const KernelIr& ir) : ir_(ir), expressions_(ir) {}

  KernelSource render() {
    out_.open(fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({1}) {0}(const __grid_constant__ struct {0}_params p)",
        kEntryName, kThreads));
    find_turned();
    out_.line(fmt::format("const tarry_i64 {} = (tarry_i64)blockIdx.x * {} + threadIdx.x;", turns_ ? "at" : "lane",
                          kThreads));
    if (turns_) {
      out_.line("__shared__ tarry_u64 turned[" + std::to_string(kThreads / 32 * 32 * (kMostAhead + 1)) + "];");
      out_.line(fmt::format("tarry_u64* const own = turned + (threadIdx.x >> 5) * {};", 32 * (kMostAhead + 1)));
      out_.line("const int thread = threadIdx.x & 31;");
      out_.line("const tarry_i64 rows = p.count - (at - thread);  // of the warp");
      out_.line("const tarry_i64 lane = at < p.count ? at : p.count - 1;");
    } else {
      out_.line("if (lane >= p.count) return;");
    }
    place();
    arrays();
    for (int stage = 0; stage <= loops(); ++stage) {
      each(Region::Row, stage, [&](Value v, const Instr&) { statement(v, "0", ""); });
      if (stage < loops()) levels(stage);
    }
    out_.close();
    std::initializer_list<SlotKind> with = {SlotKind::OuterCount, SlotKind::Extent, SlotKind::Scratch,
                                            SlotKind::Reciprocal};
    std::initializer_list<SlotKind> without = {SlotKind::OuterCount, SlotKind::Extent, SlotKind::Reciprocal};
    const Parameters parameters = ir_.arrays.empty() ? make_parameters(ir_, without) : make_parameters(ir_, with);
    return finish_kernel(ir_, Dialect::Cuda, parameter_struct(parameters) + out_.take(), parameters,
                         expressions_.functions());
  }

 private:
  [[nodiscard]] int loops() const { return static_cast<int>(ir_.levels.size()); }
  static std::string scalar(std::uint32_t s) { return "p." + slot_name({SlotKind::Scalar, s}); }

  template <class F>
  void each(Region region, int stage, F&& f) const {
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].region == region && ir_.instrs[v].stage == stage && ir_.instrs[v].kind != InstrKind::Scalar)
        f(v, ir_.instrs[v]);
  }

  /// Indices of the lane, and the addresses of its first levels.
  void place() {
    std::string rest = "lane";
    for (int d = ir_.rank - 1; d > 0; --d) {
      const std::string extent = "p." + slot_name({SlotKind::Extent, static_cast<std::uint32_t>(d)});
      out_.line(fmt::format("const tarry_i64 q{} = {} / {};", d, rest, extent));
      out_.line(fmt::format("const tarry_i64 i{0} = {1} - q{0} * {2};", d, rest, extent));
      rest = fmt::format("q{}", d);
    }
    if (ir_.rank > 0) out_.line(fmt::format("const tarry_i64 i0 = {};", rest));
    std::vector<std::string> indices;
    for (int d = 0; d < ir_.rank; ++d) indices.push_back(fmt::format("i{}", d));
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      const Access& access = ir_.accesses[a];
      const bool iota = access.buffer == kNone;
      const std::string type = iota           ? "const tarry_i64"
                               : access.store ? fmt::format("{}* const", c_type(ir_.buffers[access.buffer]))
                                              : fmt::format("const {}* const", c_type(ir_.buffers[access.buffer]));
      out_.line(fmt::format("{} b{} = {};", type, a,
                            sum_text("p." + slot_name({iota ? SlotKind::IotaOffset : SlotKind::Pointer, a}),
                                     outer_offset(ir_, a, indices, "p."))));
    }
  }

  /// Arrays lie one behind the other in the scratch memory, lanes side by side.
  void arrays() {
    std::string at = "(char*)p.scratch";
    for (std::size_t h = 0; h < ir_.arrays.size(); ++h) {
      out_.line(fmt::format("char* const f{} = {};", h, at));
      out_.line(fmt::format("{0}* const h{1} = ({0}*)f{1} + lane;", c_type(ir_.arrays[h].dtype), h));
      at = fmt::format("f{} + ((p.count * {} * {} + 255) & ~(tarry_i64)255)", h, scalar(ir_.arrays[h].extent),
                       itemsize(ir_.arrays[h].dtype));
    }
  }

  [[nodiscard]] std::string operand(Value v) const {
    const Instr& in = ir_.instrs[v];
    return in.kind == InstrKind::Scalar ? scalar(in.index) : value_name(v);
  }

  [[nodiscard]] std::string element(const Instr& in, std::string_view k) const {
    const std::string offset = reduced_offset(ir_, in.index, k, "p.");
    if (in.kind == InstrKind::Keep || in.kind == InstrKind::Kept)
      return fmt::format("h{}[({}) * p.count]", in.output, sum_text(fmt::format("b{}", in.index), offset));
    if (ir_.accesses[in.index].buffer == kNone) return sum_text(fmt::format("b{}", in.index), offset);
    return fmt::format("b{}[{}]", in.index, offset);
  }

  /// True for the one access of a loop to a buffer, which may go down the levels: where there are several, elements of
  /// a lane lie side by side, and not its levels.
  [[nodiscard]] bool is_alone(const Instr& in) const {
    const Access& a = ir_.accesses[in.index];
    int accesses = 0;
    each(Region::Point, in.stage, [&](Value, const Instr& other) {
      if (other.kind == in.kind && ir_.accesses[other.index].buffer == a.buffer) ++accesses;
    });
    return a.reduced == StrideClass::Any && accesses == 1;
  }

  void find_turned() {
    turned_.assign(ir_.instrs.size(), false);
    for (Value v = 0; v < ir_.instrs.size(); ++v) {
      const Instr& in = ir_.instrs[v];
      if ((in.kind != InstrKind::Load && in.kind != InstrKind::Store) || in.region != Region::Point) continue;
      const Access& a = ir_.accesses[in.index];
      turned_[v] = a.buffer != kNone && (a.reduced == StrideClass::One || is_alone(in)) && !a.strides.empty() &&
                   a.strides.back() == StrideClass::Any && condition_of(in.stage) == kNone;
      turns_ = turns_ || turned_[v];
    }
  }

  /// Moves `ahead` levels of x between memory and threads that have one lane each. Element u of a thread is level
  /// `thread % ahead` of lane `u * (32 / ahead) + thread / ahead` of the warp on the side of the memory.
  void turn(Value v, int ahead) {
    const Instr& in = ir_.instrs[v];
    const std::string type = c_type(in.dtype);
    const bool store = in.kind == InstrKind::Store;
    const std::string row = fmt::format("u * {} + thread / {}", 32 / ahead, ahead),
                      column = fmt::format("thread % {}", ahead);
    const auto each_level = [&](const auto& body) {
      out_.line("#pragma unroll");
      out_.open(fmt::format("for (int u = 0; u < {}; ++u)", ahead));
      body();
      out_.close();
    };
    const auto memory = [&] {
      each_level([&] {
        out_.line(fmt::format("const int row = {}, level = {};", row, column));
        out_.line(fmt::format("{0}{1}* const line = ({0}{1}*)__shfl_sync(0xffffffffu, (tarry_u64)b{2}, row);",
                              store ? "" : "const ", type, in.index));
        const std::string element = fmt::format("line[{}]", reduced_offset(ir_, in.index, "(first + level)", "p."));
        out_.line(store ? fmt::format("if (row < rows && level < m) {} = part[row * {} + level];", element, ahead + 1)
                        : fmt::format("if (row < rows && level < m) x{}[u] = {};", v, element));
      });
    };
    const auto threads = [&](std::string_view at, bool writes) {
      each_level([&] {
        const std::string place = fmt::format("part[{}]", at), value = fmt::format("x{}[u]", v);
        out_.line(fmt::format("{} = {};", writes ? place : value, writes ? value : place));
      });
    };
    const std::string across = fmt::format("({}) * {} + {}", row, ahead + 1, column);
    const std::string along = fmt::format("thread * {} + u", ahead + 1);
    out_.open("");
    out_.line(fmt::format("{0}* const part = ({0}*)own;", type));
    if (!store) memory();
    out_.line("__syncwarp();");
    threads(store ? along : across, true);
    out_.line("__syncwarp();");
    if (store)
      memory();
    else
      threads(along, false);
    out_.close();
  }

  /// Memory that a level reads.
  [[nodiscard]] bool is_ahead(const Instr& in) const {
    return in.region == Region::Point && condition_of(in.stage) == kNone &&
           (in.kind == InstrKind::Kept || (in.kind == InstrKind::Load && ir_.accesses[in.index].buffer != kNone));
  }

  /// True if levels read or write memory.
  [[nodiscard]] bool moves(int stage) const {
    bool any = false;
    each(Region::Point, stage, [&](Value, const Instr& in) {
      any = any || in.kind == InstrKind::Store || in.kind == InstrKind::Keep || in.kind == InstrKind::Kept ||
            (in.kind == InstrKind::Load && ir_.accesses[in.index].buffer != kNone);
    });
    return any;
  }

  /// True if a thread has several levels of it.
  [[nodiscard]] bool is_held(Value v) const { return turned_[v] || is_ahead(ir_.instrs[v]); }

  void statement(Value v, std::string_view k, std::string_view step) {
    const Instr& in = ir_.instrs[v];
    const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
    if (is_ahead(in)) return out_.line(fmt::format("{}x{}[{}];", head, v, step));
    switch (in.kind) {
      case InstrKind::Load:
      case InstrKind::Kept: return out_.line(fmt::format("{}{};", head, element(in, k)));
      case InstrKind::Keep:
      case InstrKind::Store:
        if (turned_[v]) return out_.line(fmt::format("x{}[{}] = {};", v, step, operand(in.args[0])));
        return out_.line(
            fmt::format("{}{} = {};", turns_ ? "if (at < p.count) " : "", element(in, k), operand(in.args[0])));
      case InstrKind::Number: return out_.line(fmt::format("{}{};", head, number(ir_, in, k, "p.")));
      case InstrKind::Last: return out_.line(fmt::format("{}l{};", head, v));
      case InstrKind::Carried: return out_.line(fmt::format("{}c{};", head, v));
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(in.args[i]));
        return out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
      }
      default: return;
    }
  }

  /// The argument of a While instruction, where the loop has one.
  [[nodiscard]] Value condition_of(int stage) const {
    Value found = kNone;
    each(Region::Point, stage, [&](Value, const Instr& in) {
      if (in.kind == InstrKind::While) found = in.args[0];
    });
    return found;
  }
  [[nodiscard]] Value carrier_of(Value next) const {
    const auto it = std::ranges::find_if(
        ir_.instrs, [&](const Instr& in) { return in.kind == InstrKind::Carried && in.args[1] == next; });
    return static_cast<Value>(it - ir_.instrs.begin());
  }

  /// Levels until the condition is false. It comes first: what follows is computed where it holds, and the compiler
  /// knows that it does.
  template <class HandOn>
  void while_levels(int stage, Value condition, HandOn hand_on) {
    std::vector<bool> early(ir_.instrs.size());
    early[condition] = true;
    for (Value v = condition + 1; v-- > 0;)
      for (int i = 0; early[v] && i < arity(ir_.instrs[v]); ++i)
        early[ir_.instrs[v].args[static_cast<std::size_t>(i)]] = true;
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Carried) early[v] = true;
    });
    out_.line("#pragma unroll 1");
    out_.open(fmt::format("for (tarry_i64 k = 0; k < {}; ++k)", scalar(ir_.levels[static_cast<std::size_t>(stage)])));
    each(Region::Point, stage, [&](Value v, const Instr&) {
      if (early[v]) statement(v, "k", "");
    });
    out_.line(fmt::format("if (!{}) break;", value_name(condition)));
    each(Region::Point, stage, [&](Value v, const Instr&) {
      if (!early[v]) statement(v, "k", "");
    });
    hand_on();
    out_.close();
  }

  void levels(int stage) {
    int words = 0;
    bool turns = false;
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (is_held(v)) words += static_cast<int>(std::max<std::size_t>(1, itemsize(in.dtype) / 4));
      turns = turns || turned_[v];
    });
    int ahead = kMostAhead;
    while (ahead > 1 && ahead * words > (turns ? kHeldTurnedWords : kHeldWords)) ahead /= 2;
    if (ahead > kUsualAhead && (!turns || has_many_instructions(ir_, kTogether * ahead))) ahead = kUsualAhead;
    while (ahead > 1 && !moves(stage) && has_many_instructions(ir_, kTogether * ahead)) ahead /= 2;
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Carried)
        out_.line(fmt::format("{} c{} = {};", c_type(in.dtype), v, operand(in.args[0])));
    });
    const auto each_last = [&](auto f) {
      for (Value v = 0; v < ir_.instrs.size(); ++v)
        if (ir_.instrs[v].kind == InstrKind::Last && ir_.instrs[ir_.instrs[v].args[0]].stage == stage)
          f(v, ir_.instrs[v]);
    };
    const Value condition = condition_of(stage);
    each_last([&](Value v, const Instr& in) {
      const Value carried = condition == kNone ? kNone : carrier_of(in.args[0]);
      out_.line(fmt::format("{} l{} = {};", c_type(in.dtype), v, carried == kNone ? "0" : fmt::format("c{}", carried)));
    });
    const auto hand_on = [&] {
      each_last([&](Value v, const Instr& in) { out_.line(fmt::format("l{} = {};", v, operand(in.args[0]))); });
      each(Region::Point, stage, [&](Value v, const Instr& in) {
        if (in.kind == InstrKind::Carried) out_.line(fmt::format("c{} = {};", v, operand(in.args[1])));
      });
    };
    if (condition != kNone) return while_levels(stage, condition, hand_on);
    const std::string count = scalar(ir_.levels[static_cast<std::size_t>(stage)]);
    if (turns) return turned_levels(stage, ahead, count, hand_on);
    out_.open("");
    out_.line("tarry_i64 first = 0;");
    if (ahead > 1) levels_together(stage, ahead, count, hand_on);
    levels_together(stage, 1, count, hand_on);
    out_.close();
  }

  /// Levels in whole blocks of `together`, as far as there are.
  template <class HandOn>
  void levels_together(int stage, int together, const std::string& count, HandOn hand_on) {
    out_.line("#pragma unroll 1");
    out_.open(fmt::format("for (; first + {0} <= {1}; first += {0})", together, count));
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (is_ahead(in)) out_.line(fmt::format("{} x{}[{}];", c_type(in.dtype), v, together));
    });
    const auto each_level = [&](const auto& body) {
      out_.line("#pragma unroll");
      out_.open(fmt::format("for (int u = 0; u < {}; ++u)", together));
      body();
      out_.close();
    };
    each_level([&] {
      each(Region::Point, stage, [&](Value v, const Instr& in) {
        if (is_ahead(in)) out_.line(fmt::format("x{}[u] = {};", v, element(in, "(first + u)")));
      });
    });
    each_level([&] {
      out_.line("const tarry_i64 k = first + u;");
      out_.line("(void)k;");
      each(Region::Point, stage, [&](Value v, const Instr&) { statement(v, "k", "u"); });
      hand_on();
    });
    out_.close();
  }

  /// Levels of which a warp moves some at once; the last block may have fewer.
  template <class HandOn>
  void turned_levels(int stage, int ahead, const std::string& count, HandOn hand_on) {
    out_.line("#pragma unroll 1");
    out_.open(fmt::format("for (tarry_i64 first = 0; first < {}; first += {})", count, ahead));
    out_.line(fmt::format("const int m = {0} - first < {1} ? (int)({0} - first) : {1};", count, ahead));
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (is_held(v)) out_.line(fmt::format("{} x{}[{}]{};", c_type(in.dtype), v, ahead, turned_[v] ? " = {}" : ""));
    });
    out_.line("#pragma unroll");
    out_.open(fmt::format("for (int u = 0; u < {}; ++u)", ahead));
    out_.open("if (u < m)");
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (is_ahead(in) && !turned_[v]) out_.line(fmt::format("x{}[u] = {};", v, element(in, "(first + u)")));
    });
    out_.close();
    out_.close();
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (turned_[v] && in.kind == InstrKind::Load) turn(v, ahead);
    });
    out_.line("#pragma unroll");
    out_.open(fmt::format("for (int u = 0; u < {}; ++u)", ahead));
    out_.open("if (u < m)");
    out_.line("const tarry_i64 k = first + u;");
    out_.line("(void)k;");
    each(Region::Point, stage, [&](Value v, const Instr&) { statement(v, "k", "u"); });
    hand_on();
    out_.close();
    out_.close();
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (turned_[v] && in.kind == InstrKind::Store) turn(v, ahead);
    });
    out_.close();
  }

  const KernelIr& ir_;
  Expressions expressions_;
  CodeWriter out_;
  std::vector<bool> turned_;  // by instruction
  bool turns_ = false;        // one of them is
};

}  // namespace

KernelSource render_recurrence(const KernelIr& ir, const graph::Target&) { return RecurrenceWriter(ir).render(); }

Geometry geometry_recurrence(const KernelIr&, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  g.outer_tiles = (args.outer_count() + kThreads - 1) / kThreads;
  for (const std::int64_t bytes : args.array_bytes) {
    constexpr std::int64_t kLine = 256;
    g.scratch_bytes += static_cast<std::size_t>((args.outer_count() * bytes + kLine - 1) / kLine * kLine);
  }
  return g;
}

}  // namespace cuda
}  // namespace tarry::codegen
