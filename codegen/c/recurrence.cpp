// C kernels of recurrences: a work item is several lanes side by side. What a lane has once, what is carried and what
// is kept lie in arrays, in which neighbours are the lanes.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/c/render.h"

namespace tarry::codegen {
namespace {

class RecurrenceWriter {
 public:
  RecurrenceWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        lanes_(ir.as<RecurrenceLayout>().lanes),
        parameters_(make_parameters(ir, {ir.rank == 1 ? SlotKind::OuterCount : SlotKind::Extent, SlotKind::Reduced})),
        w_(ir, parameters_, target.vector_bytes) {}

  KernelSource render() {
    w_.preamble();
    bool plain = true;
    for (int stage = 0; stage <= loops(); ++stage) {
      plain = plain && row_loop(stage).vectors;
      if (stage < loops()) plain = plain && level_loop(stage).vectors;
    }
    w_.open(fmt::format("{1}void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName,
                        plain ? "TARRY_PLAIN " : ""));
    w_.locals();
    w_.line("(void)n;");
    if (ir_.rank == 1) w_.line("(void)count;");
    count_tiles(w_, lanes_);
    w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
    decode_tile(w_, lanes_);
    arrays();
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
      w_.base('b', a,
              "p->" + slot_name({ir_.accesses[a].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer, a}),
              outer_offset(ir_, a, outer_indices(ir_, "j0"), ""));
    for (int stage = 0; stage <= loops(); ++stage) {
      const CWriter::Loop once = row_loop(stage);
      if (!once.values.empty() || !once.kept.empty()) {
        w_.open("");
        places(Region::Row, stage, "0");
        w_.loop(once);
        w_.close();
      }
      if (stage == loops()) break;
      w_.open_loop("k", "0", "p->" + slot_name({SlotKind::Scalar, ir_.levels[static_cast<std::size_t>(stage)]}));
      places(Region::Point, stage, "k");
      w_.loop(level_loop(stage));
      store_apart(stage);
      each(Region::Point, stage, [&](Value v, const Instr& in) {
        if (in.kind == InstrKind::While) leave_at_end(v);
      });
      w_.close();
    }
    w_.close();
    w_.close();
    KernelSource source = w_.finish();
    source.tile = lanes_;
    return source;
  }

 private:
  [[nodiscard]] int loops() const { return static_cast<int>(ir_.levels.size()); }

  template <class F>
  void each(Region region, int stage, F&& f) const {
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].region == region && ir_.instrs[v].stage == stage && ir_.instrs[v].kind != InstrKind::Scalar)
        f(v, ir_.instrs[v]);
  }

  /// True if a value is found in an array: of a lane, or of an earlier level.
  [[nodiscard]] static bool is_placed(const Instr& in) {
    return in.kind == InstrKind::Carried || in.kind == InstrKind::Last || in.kind == InstrKind::Kept;
  }

  void arrays() {
    const auto array = [&](const std::string& name, Dtype dtype, const std::string& extent) {
      w_.line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", c_type(dtype), name, extent));
    };
    for (Value v = 0; v < ir_.instrs.size(); ++v) {
      const Instr& in = ir_.instrs[v];
      if (is_once(in)) array(fmt::format("row{}", v), in.dtype, std::to_string(lanes_));
      if (in.kind == InstrKind::Carried) array(fmt::format("c{}", v), in.dtype, std::to_string(lanes_));
      if (is_apart(in))
        array(fmt::format("s{}", v), ir_.buffers[ir_.accesses[in.index].buffer], std::to_string(lanes_));
      if (in.kind == InstrKind::While) array(fmt::format("e{}", v), in.dtype, std::to_string(lanes_));
      if (in.kind == InstrKind::Last && carrier(v) == kNone)
        array(fmt::format("l{}", v), in.dtype, std::to_string(lanes_));
    }
    for (std::size_t h = 0; h < ir_.arrays.size(); ++h)
      array(fmt::format("h{}", h), ir_.arrays[h].dtype,
            fmt::format("p->{} * {}", slot_name({SlotKind::Scalar, ir_.arrays[h].extent}), lanes_));
  }

  /// The carried value that is, behind its loop, the last level that `last` asks for; kNone: there is none.
  [[nodiscard]] Value carrier(Value last) const {
    const Value value = ir_.instrs[last].args[0];
    const auto in_loop = [&](const Instr& in) {
      return in.region == Region::Point && in.stage == ir_.instrs[value].stage;
    };
    for (const Instr& in : ir_.instrs)
      if (in.kind == InstrKind::While && in_loop(in)) return kNone;
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].kind == InstrKind::Carried && in_loop(ir_.instrs[v]) && ir_.instrs[v].args[1] == value)
        return v;
    return kNone;
  }

  [[nodiscard]] static bool is_once(const Instr& in) {
    return in.region == Region::Row &&
           (in.kind == InstrKind::Load || in.kind == InstrKind::Compute || in.kind == InstrKind::Kept);
  }

  /// True for a store of lanes that do not lie side by side: their values wait in an array, so that what computes them
  /// has vectors.
  [[nodiscard]] bool is_apart(const Instr& in) const {
    return in.kind == InstrKind::Store && in.region == Region::Point && in.guard == kNone &&
           w_.stride_class(in.index, Axis::LastOuter) == StrideClass::Any;
  }

  void store_apart(int stage) {
    std::vector<Value> stores;
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (is_apart(in)) stores.push_back(v);
    });
    if (stores.empty()) return;
    w_.open("for (tarry_i64 j = 0; j < m; ++j)");
    for (const Value v : stores)
      w_.line(fmt::format("{} = s{}[j];", w_.element(ir_.instrs[v].index, Axis::LastOuter, "j"), v));
    w_.close();
  }

  /// Leaves the loop where no lane goes on.
  void leave_at_end(Value v) {
    w_.line("int on = 0;");
    w_.line(fmt::format("for (tarry_i64 j = 0; j < m; ++j) on |= e{}[j];", v));
    w_.line("if (!on) break;");
  }

  /// Addresses and numbers at level `k`.
  void places(Region region, int stage, std::string_view k) {
    std::vector<bool> done(ir_.accesses.size());
    each(region, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Keep || in.kind == InstrKind::Kept) {
        w_.line(fmt::format("{0}* const x{1} = h{2} + ({3}) * {4};", c_type(in.dtype), v, in.output,
                            sum_text(fmt::format("b{}", in.index), reduced_offset(ir_, in.index, k, "")), lanes_));
        return;
      }
      if (in.kind == InstrKind::Number)
        w_.line(fmt::format("const {} {} = {};", c_type(in.dtype), value_name(v), number(ir_, in, k, "p->")));
      // A draw of neighbouring lanes is told the first one's number, wherever that is loaded.
      const bool draws = w_.shares_blocks(v, Axis::LastOuter);
      const Instr& at = draws ? ir_.instrs[in.args[0]] : in;
      if (at.kind != InstrKind::Load && at.kind != InstrKind::Store) return;
      const std::string_view level = at.region == region ? k : "0";
      if (!done[at.index])
        w_.base('a', at.index, fmt::format("b{}", at.index), reduced_offset(ir_, at.index, level, ""));
      done[at.index] = true;
    });
  }

  /// The spelling of a value at lane j, in a loop that computes `own` values.
  [[nodiscard]] std::string operand(Value v, Region region, int stage) const {
    const Instr& in = ir_.instrs[v];
    switch (in.kind) {
      case InstrKind::Scalar:
      case InstrKind::Number: return value_name(v);
      case InstrKind::Carried: return fmt::format("c{}[j]", v);
      case InstrKind::Last: {
        const Value c = carrier(v);
        return c == kNone ? fmt::format("l{}[j]", v) : fmt::format("c{}[j]", c);
      }
      case InstrKind::Kept:
        if (in.region == region && in.stage == stage) return fmt::format("x{}[j]", v);
        break;
      default: break;
    }
    const bool is_own = in.region == region && in.stage == stage;
    return is_once(in) && !is_own ? fmt::format("row{}[j]", v) : value_name(v);
  }

  [[nodiscard]] CWriter::Loop loop_of(Region region, int stage) const {
    CWriter::Loop loop{{}, Axis::LastOuter, "j", "0", "m"};
    each(region, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Keep)
        loop.kept.emplace_back(fmt::format("x{}[j]", v), in.args[0]);
      else if (in.kind == InstrKind::While)
        loop.kept.emplace_back(fmt::format("e{}[j]", v), in.args[0]);
      else if (is_apart(in))
        loop.kept.emplace_back(fmt::format("s{}[j]", v), in.args[0]);
      else if (!is_placed(in) && in.kind != InstrKind::Number)
        loop.values.push_back(v);
    });
    loop.operand = [=, this](Value v) { return operand(v, region, stage); };
    loop.is_short = true;
    return loop;
  }

  /// Values that lanes have once before the loop of a stage, and the first ones of those that are carried.
  [[nodiscard]] CWriter::Loop row_loop(int stage) const {
    CWriter::Loop loop = loop_of(Region::Row, stage);
    each(Region::Row, stage, [&](Value v, const Instr& in) {
      if (is_once(in)) loop.kept.emplace_back(fmt::format("row{}[j]", v), v);
    });
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Carried) loop.kept.emplace_back(fmt::format("c{}[j]", v), in.args[0]);
    });
    loop.vectors = w_.has_vectors(loop);
    return loop;
  }

  /// A level; then what it hands on, each value before the one that it is handed from changes.
  [[nodiscard]] CWriter::Loop level_loop(int stage) const {
    CWriter::Loop loop = loop_of(Region::Point, stage);
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].kind == InstrKind::Last && ir_.instrs[ir_.instrs[v].args[0]].stage == stage &&
          carrier(v) == kNone)
        loop.kept.emplace_back(fmt::format("l{}[j]", v), ir_.instrs[v].args[0]);
    std::vector<Value> carried;
    each(Region::Point, stage, [&](Value v, const Instr& in) {
      if (in.kind == InstrKind::Carried) carried.push_back(v);
    });
    while (!carried.empty()) {
      const auto last = std::ranges::find_if(carried, [&](Value v) {
        return std::ranges::none_of(carried, [&](Value other) { return ir_.instrs[other].args[1] == v; });
      });
      loop.kept.emplace_back(fmt::format("c{}[j]", *last), ir_.instrs[*last].args[1]);
      carried.erase(last);
    }
    loop.vectors = w_.has_vectors(loop);
    return loop;
  }

  const KernelIr& ir_;
  const int lanes_;
  const Parameters parameters_;
  CWriter w_;
};

}  // namespace

KernelSource render_c_recurrence(const KernelIr& ir, const graph::Target& target) {
  return RecurrenceWriter(ir, target).render();
}

Geometry geometry_c_recurrence(const KernelIr& ir, const graph::Target&, const KernelArgs& args) {
  Geometry g;
  g.outer_tiles = tile_count(args, ir.as<RecurrenceLayout>().lanes);
  return g;
}

}  // namespace tarry::codegen
