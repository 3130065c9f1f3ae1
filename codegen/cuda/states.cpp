// CUDA C: the states of a kernel's reductions, and how they take elements and combine.
#include <fmt/format.h>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {
namespace {

struct Field {
  std::string name, type;
};

/// Whose fields: those of a lane of a tree block, or of any node.
enum class Of { Lane, Node };

Dtype field_dtype(const KernelIr& ir, std::uint32_t reduction, Of of) {
  return of == Of::Lane ? ir.lane_dtype(reduction) : ir.reductions[reduction].dtype;
}

/// The index of an arg reduction is as wide as the kernel's.
std::vector<Field> fields_of(const KernelIr& ir, const Stage& stage, Of of) {
  std::vector<Field> fields;
  for (const std::uint32_t i : stage.reductions) {
    const Reduction& r = ir.reductions[i];
    const std::string type = c_type(field_dtype(ir, i, of));
    if (graph::output_count(r.op) == 2) {
      fields.push_back({fmt::format("r{}_mean", i), type});
      fields.push_back({fmt::format("r{}_m2", i), type});
    } else {
      fields.push_back({fmt::format("r{}", i), type});
      if (graph::is_arg_reduce(r.op)) fields.push_back({fmt::format("r{}_index", i), "$K"});
    }
  }
  return fields;
}

/// The value that a load or the cast of a load is.
bool is_loaded(const KernelIr& ir, Value v) {
  const Instr& in = ir.instrs[v];
  return in.kind == InstrKind::Load ||
         (in.kind == InstrKind::Compute && in.op == Op::Cast && ir.instrs[in.args[0]].kind == InstrKind::Load);
}

/// Functions of the states: first, step, combine, down, from; even and share say how nodes share their elements. Narrow
/// lanes have functions of the same names, and widen.
class States {
 public:
  States(const KernelIr& ir, const Stage& stage, Expressions& expressions)
      : ir_(ir), stage_(stage), expressions_(expressions) {}

  [[nodiscard]] std::string functions() {
    shares();
    of_ = Of::Lane;
    first();
    step();
    if (ir_.has_narrow_lanes()) {
      nodes();
      widen();
    }
    of_ = Of::Node;
    nodes();
    if (ir_.schedule() == Schedule::RowInner) thread("from", "int lane", "__shfl_sync(0xffffffffu, s.{}, lane)");
    return out_.take();
  }

 private:
  void nodes() {
    combine();
    meet();
    thread("across", "int d", "__shfl_xor_sync(0xffffffffu, s.{}, d)");
    thread("down", "int d", "__shfl_down_sync(0xffffffffu, s.{}, d)");
  }
  [[nodiscard]] const char* state() const { return of_ == Of::Lane ? "$lane" : "$S_state"; }
  /// The combination of two accumulators of a reduction. A minimum or maximum of what was loaded is left to the
  /// compiler, which may not see others (prelude/integer.h): nothing is negated here.
  [[nodiscard]] std::string combined(std::uint32_t i, const std::string& a, const std::string& b) {
    const Reduction& r = ir_.reductions[i];
    const bool extreme = r.op == Op::Min || r.op == Op::Max;
    if (extreme && !is_floating(r.dtype) && is_loaded(ir_, r.args[0]))
      return fmt::format("{0} {2} {1} ? {0} : {1}", a, b, r.op == Op::Min ? '<' : '>');
    return expressions_.combine(r.op, field_dtype(ir_, i, of_), a, b);
  }
  [[nodiscard]] bool moments(std::uint32_t i) const { return graph::output_count(ir_.reductions[i].op) == 2; }
  /// Elements that one input of reduction i stands for, as a factor.
  [[nodiscard]] std::string weight(std::uint32_t i) const {
    const Reduction& r = ir_.reductions[i];
    return r.op == Op::MomentsMerge ? fmt::format(" * p.{}", slot_name({SlotKind::Scalar, r.weight})) : std::string();
  }

  /// Operands of Chan's merge of a node of na with one of nb elements: na and w = nb / (na + nb), which is 0.5 exactly
  /// for equal counts. A division is long, so the tree asks for one share per level. In float64 counts are exact, and
  /// what each element stands for cancels: a step's share is a constant.
  void shares() {
    std::string fields;
    for (const std::uint32_t i : stage_.reductions)
      if (moments(i)) fields += fmt::format(" {} n{}, w{};", c_type(ir_.reductions[i].dtype), i, i);
    out_.line(fmt::format("struct $S_split {{{} }};", fields));
    for (const bool even : {true, false}) {
      out_.line("template <class Count>");
      out_.open(fmt::format("__device__ __forceinline__ $S_split $S_{}(const $N_params& p, Count na{})",
                            even ? "even" : "share", even ? "" : ", Count nb"));
      if (!even) out_.line("if (na == nb) return $S_even(p, na);");
      out_.line("$S_split h;");
      for (const std::uint32_t i : stage_.reductions) {
        if (!moments(i)) continue;
        const std::string type = c_type(ir_.reductions[i].dtype), times = weight(i);
        out_.line(fmt::format("h.n{} = ({})(na{});", i, type, times));
        if (even)
          out_.line(fmt::format("h.w{} = ({})0.5;", i, type));
        else
          out_.line(fmt::format("h.w{0} = ({1})(nb{2}) / ({1})((na + nb){2});", i, type,
                                ir_.reductions[i].dtype == float64 ? "" : times));
      }
      out_.line("return h;");
      out_.close();
    }
  }

  void first() {
    out_.open("__device__ __forceinline__ $lane $S_first(const $S_inputs& in)");
    out_.line("$lane s;");
    for (const std::uint32_t i : stage_.reductions) {
      const Op op = ir_.reductions[i].op;
      if (op == Op::Moments)
        out_.line(fmt::format("s.r{0}_mean = in.x{0}; s.r{0}_m2 = 0;", i));
      else if (op == Op::MomentsMerge)
        out_.line(fmt::format("s.r{0}_mean = in.x{0}; s.r{0}_m2 = in.x{0}_m2;", i));
      else if (graph::is_arg_reduce(op))
        out_.line(fmt::format("s.r{0} = in.x{0}; s.r{0}_index = in.at;", i));
      else
        out_.line(fmt::format("s.r{0} = in.x{0};", i));
    }
    out_.line("return s;");
    out_.close();
  }

  /// A lane takes its k-th element.
  void step() {
    out_.open("__device__ __forceinline__ $lane $S_step(const $N_params& p, $lane a, const $S_inputs& in, int k)");
    bool merges = false;
    for (const std::uint32_t i : stage_.reductions) merges |= ir_.reductions[i].op == Op::MomentsMerge;
    if (merges) out_.line("const $S_split h = $S_share(p, k - 1, 1);");
    for (const std::uint32_t i : stage_.reductions) {
      const Reduction& r = ir_.reductions[i];
      const std::string type = c_type(r.dtype);
      if (r.op == Op::Moments) {
        out_.open("");
        out_.line(fmt::format("const {0} d = in.x{1} - a.r{1}_mean;", type, i));
        out_.line(fmt::format("a.r{1}_mean = a.r{1}_mean + d * (({0})1 / ({0})k);", type, i));
        out_.line(fmt::format("a.r{0}_m2 = a.r{0}_m2 + d * (in.x{0} - a.r{0}_mean);", i));
        out_.close();
      } else if (r.op == Op::MomentsMerge) {
        merge(i, fmt::format("in.x{}", i), fmt::format("in.x{}_m2", i));
      } else if (graph::is_arg_reduce(r.op)) {
        choose_later(i);
      } else {
        out_.line(fmt::format("a.r{0} = {1};", i, combined(i, fmt::format("a.r{}", i), fmt::format("in.x{}", i))));
      }
    }
    out_.line("return a;");
    out_.close();
  }

  /// Node a on the left, node b on the right.
  void combine() {
    out_.open(fmt::format("__device__ __forceinline__ {0} $S_combine({0} a, {0} b, $S_split h)", state()));
    for (const std::uint32_t i : stage_.reductions)
      if (moments(i)) merge(i, fmt::format("b.r{}_mean", i), fmt::format("b.r{}_m2", i));
    combine_others();
    out_.line("return a;");
    out_.close();
  }

  /// All but moments: which node is on the left makes no difference.
  void combine_others() {
    for (const std::uint32_t i : stage_.reductions) {
      if (moments(i)) continue;
      const Reduction& r = ir_.reductions[i];
      const std::string a = fmt::format("a.r{}", i), b = fmt::format("b.r{}", i);
      if (graph::is_arg_reduce(r.op))
        choose(i, b, b + "_index");
      else
        out_.line(fmt::format("{} = {};", a, combined(i, a, b)));
    }
  }

  /// Two threads combine a, one's own node, with b, the other's, of as many elements; `left`: a is on the left. Only
  /// the means tell left from right: d is exact but for its sign, and sums and products commute.
  void meet() {
    out_.open(fmt::format("__device__ __forceinline__ {0} $S_meet({0} a, {0} b, $S_split h, bool left)", state()));
    for (const std::uint32_t i : stage_.reductions) {
      if (!moments(i)) continue;
      out_.open("");
      out_.line(fmt::format("const {0} d = b.r{1}_mean - a.r{1}_mean, from = left ? a.r{1}_mean : b.r{1}_mean;",
                            c_type(ir_.reductions[i].dtype), i));
      out_.line(fmt::format("a.r{0}_mean = from + (left ? d : -d) * h.w{0};", i));
      out_.line(fmt::format("a.r{0}_m2 = (a.r{0}_m2 + b.r{0}_m2) + (d * d) * (h.n{0} * h.w{0});", i));
      out_.close();
    }
    combine_others();
    out_.line("return a;");
    out_.close();
  }

  void merge(std::uint32_t i, const std::string& mean, const std::string& m2) {
    out_.open("");
    out_.line(fmt::format("const {} d = {} - a.r{}_mean;", c_type(ir_.reductions[i].dtype), mean, i));
    out_.line(fmt::format("a.r{0}_mean = a.r{0}_mean + d * h.w{0};", i));
    out_.line(fmt::format("a.r{0}_m2 = (a.r{0}_m2 + {1}) + (d * d) * (h.n{0} * h.w{0});", i, m2));
    out_.close();
  }

  /// a becomes (x, at) where that wins: a NaN over a number, then the better value, then the lower index. Lanes of a
  /// tree block interleave, so the left operand need not have the lower index.
  void choose(std::uint32_t i, const std::string& x, const std::string& at) {
    const Reduction& r = ir_.reductions[i];
    const std::string a = fmt::format("a.r{}", i), order = r.op == Op::ArgMin ? "<" : ">";
    std::string wins = fmt::format("{0} {1} {2} || ({0} == {2} && {3} < {2}_index)", x, order, a, at);
    if (is_floating(r.dtype)) wins = fmt::format("{0} != {0} ? {1} == {1} || {2} < {1}_index : {3}", x, a, at, wins);
    out_.line(fmt::format("if ({}) {{ {} = {}; {}_index = {}; }}", wins, a, x, a, at));
  }

  /// The same for a lane's next element, whose index is higher.
  void choose_later(std::uint32_t i) {
    const Reduction& r = ir_.reductions[i];
    const std::string a = fmt::format("a.r{}", i), x = fmt::format("in.x{}", i);
    const bool least = r.op == Op::ArgMin;
    // !(x <= a): x is larger, or one of them is NaN.
    const std::string wins = is_floating(r.dtype)
                                 ? fmt::format("{1} == {1} && !({0} {2} {1})", x, a, least ? ">=" : "<=")
                                 : fmt::format("{} {} {}", x, least ? "<" : ">", a);
    out_.line(fmt::format("if ({0}) {{ {1} = {2}; {1}_index = in.at; }}", wins, a, x));
  }

  void widen() {
    out_.open("__device__ __forceinline__ $S_state $S_widen(const $lane& s)");
    out_.line("$S_state w;");
    for (const Field& f : fields_of(ir_, stage_, Of::Node)) out_.line(fmt::format("w.{0} = s.{0};", f.name));
    out_.line("return w;");
    out_.close();
  }

  /// The state of another thread of the warp.
  void thread(std::string_view name, std::string_view which, std::string_view shuffle) {
    out_.open(fmt::format("__device__ __forceinline__ {0} $S_{1}({0} s, {2})", state(), name, which));
    for (const Field& f : fields_of(ir_, stage_, of_))
      out_.line(fmt::format("s.{} = ({}){};", f.name, f.type, fmt::format(fmt::runtime(shuffle), f.name)));
    out_.line("return s;");
    out_.close();
  }

  const KernelIr& ir_;
  const Stage& stage_;
  Expressions& expressions_;
  Of of_ = Of::Node;
  CodeWriter out_;
};

std::string struct_of(const KernelIr& ir, const Stage& stage, const char* name, Of of) {
  std::string fields;
  for (const Field& f : fields_of(ir, stage, of)) fields += fmt::format(" {} {};", f.type, f.name);
  return fmt::format("struct {} {{{} }};\n", name, fields);
}

}  // namespace

std::string state_type(const KernelIr& ir, const Stage& stage) {
  const std::string narrow = ir.has_narrow_lanes() ? struct_of(ir, stage, "$lane", Of::Lane) : std::string();
  return Template(ir, stage).fill(struct_of(ir, stage, "$S_state", Of::Node) + narrow);
}

std::string state_functions(const KernelIr& ir, const Stage& stage, Expressions& expressions) {
  return Template(ir, stage).fill(States(ir, stage, expressions).functions());
}

}  // namespace tarry::codegen::cuda
