// CUDA C: the states of a kernel's reductions, and how they take elements and combine.
#include <fmt/format.h>

#include "codegen/render_cuda.h"

namespace tarry::codegen::cuda {
namespace {

std::string field_name(const StateField& field, const Reduction& r) {
  return graph::output_count(r.op) == 2 ? fmt::format("r{}_{}", field.reduction, field.part) : fmt::format("r{}", field.reduction);
}

/// Functions of the states: first, step, combine, down; even and share say how nodes share their elements.
class States {
 public:
  States(const KernelIr& ir, Expressions& expressions) : ir_(ir), expressions_(expressions) {}

  [[nodiscard]] std::string functions() {
    shares();
    first();
    step();
    combine();
    down();
    return out_.take();
  }

 private:
  [[nodiscard]] bool moments(std::size_t i) const { return graph::output_count(ir_.reductions[i].op) == 2; }
  /// Elements that one input of reduction i stands for, as a factor.
  [[nodiscard]] std::string weight(std::size_t i) const {
    const Reduction& r = ir_.reductions[i];
    return r.op == Op::MomentsMerge ? fmt::format(" * p.{}", slot_name({SlotKind::Scalar, r.weight})) : std::string();
  }

  /// What Chan's merge of a node of na with one of nb elements needs: na and w = nb / (na + nb), which is 0.5 exactly
  /// for equal counts. A division is long, so the tree asks for one share per level.
  void shares() {
    std::string fields;
    for (std::size_t i = 0; i < ir_.reductions.size(); ++i)
      if (moments(i)) fields += fmt::format(" {} n{}, w{};", c_type(ir_.reductions[i].dtype), i, i);
    out_.line(fmt::format("struct $N_split {{{} }};", fields));
    for (const bool even : {true, false}) {
      out_.line("template <class Count>");
      out_.open(fmt::format("__device__ __forceinline__ $N_split $N_{}(const $N_params& p, Count na{})", even ? "even" : "share",
                            even ? "" : ", Count nb"));
      if (!even) out_.line("if (na == nb) return $N_even(p, na);");
      out_.line("$N_split h;");
      for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
        if (!moments(i)) continue;
        const std::string type = c_type(ir_.reductions[i].dtype), times = weight(i);
        out_.line(fmt::format("h.n{} = ({})(na{});", i, type, times));
        if (even) out_.line(fmt::format("h.w{} = ({})0.5;", i, type));
        else out_.line(fmt::format("h.w{0} = ({1})(nb{2}) / ({1})((na + nb){2});", i, type, times));
      }
      out_.line("return h;");
      out_.close();
    }
  }

  void first() {
    out_.open("__device__ __forceinline__ $N_state $N_first(const $N_inputs& in)");
    out_.line("$N_state s;");
    for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
      const Op op = ir_.reductions[i].op;
      if (op == Op::Moments) out_.line(fmt::format("s.r{0}_mean = in.x{0}; s.r{0}_m2 = 0;", i));
      else if (op == Op::MomentsMerge) out_.line(fmt::format("s.r{0}_mean = in.x{0}; s.r{0}_m2 = in.x{0}_m2;", i));
      else out_.line(fmt::format("s.r{0} = in.x{0};", i));
    }
    out_.line("return s;");
    out_.close();
  }

  /// A lane takes its k-th element.
  void step() {
    out_.open("__device__ __forceinline__ $N_state $N_step(const $N_params& p, $N_state a, const $N_inputs& in, int k)");
    bool merges = false;
    for (const Reduction& r : ir_.reductions) merges |= r.op == Op::MomentsMerge;
    if (merges) out_.line("const $N_split h = $N_share(p, k - 1, 1);");
    for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
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
      } else {
        out_.line(fmt::format("a.r{0} = {1};", i, expressions_.combine(r, fmt::format("a.r{}", i), fmt::format("in.x{}", i))));
      }
    }
    out_.line("return a;");
    out_.close();
  }

  /// Node a on the left, node b on the right.
  void combine() {
    out_.open("__device__ __forceinline__ $N_state $N_combine($N_state a, $N_state b, $N_split h)");
    for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
      if (moments(i)) merge(i, fmt::format("b.r{}_mean", i), fmt::format("b.r{}_m2", i));
      else
        out_.line(fmt::format("a.r{0} = {1};", i,
                              expressions_.combine(ir_.reductions[i], fmt::format("a.r{}", i), fmt::format("b.r{}", i))));
    }
    out_.line("return a;");
    out_.close();
  }

  void merge(std::size_t i, const std::string& mean, const std::string& m2) {
    out_.open("");
    out_.line(fmt::format("const {} d = {} - a.r{}_mean;", c_type(ir_.reductions[i].dtype), mean, i));
    out_.line(fmt::format("a.r{0}_mean = a.r{0}_mean + d * h.w{0};", i));
    out_.line(fmt::format("a.r{0}_m2 = (a.r{0}_m2 + {1}) + (d * d) * (h.n{0} * h.w{0});", i, m2));
    out_.close();
  }

  /// The state of the thread d lanes up in the warp.
  void down() {
    out_.open("__device__ __forceinline__ $N_state $N_down($N_state s, int d)");
    for (const StateField& f : state_fields(ir_)) {
      const std::string name = field_name(f, ir_.reductions[f.reduction]);
      out_.line(fmt::format("s.{0} = ({1})__shfl_down_sync(0xffffffffu, s.{0}, d);", name, c_type(f.dtype)));
    }
    out_.line("return s;");
    out_.close();
  }

  const KernelIr& ir_;
  Expressions& expressions_;
  CodeWriter out_;
};

}  // namespace

std::string state_type(const KernelIr& ir) {
  std::string fields;
  for (const StateField& f : state_fields(ir))
    fields += fmt::format(" {} {};", c_type(f.dtype), field_name(f, ir.reductions[f.reduction]));
  return fmt::format("struct $N_state {{{} }};\n", fields);
}

std::string state_functions(const KernelIr& ir, Expressions& expressions) { return States(ir, expressions).functions(); }

}  // namespace tarry::codegen::cuda
