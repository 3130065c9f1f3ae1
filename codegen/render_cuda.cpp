// CUDA C: the device functions of a kernel, and the skeleton of pointwise kernels.
#include "codegen/render_cuda.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/check.h"

namespace tarry::codegen {

KernelSource render_cuda(const KernelIr& ir, const graph::Target& target) {
  TARRY_ASSERT(target.is_cuda());
  return ir.schedule == Schedule::Pointwise ? cuda::render_pointwise(ir) : cuda::render_reduction(ir);
}

namespace cuda {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

bool has_point_stores(const KernelIr& ir) {
  return std::any_of(ir.instrs.begin(), ir.instrs.end(), [](const Instr& in) {
    return in.kind == InstrKind::Store && in.region == Region::Point;
  });
}

bool pointwise(const KernelIr& ir) { return ir.schedule == Schedule::Pointwise; }

}  // namespace

int items(const KernelIr& ir) {
  switch (ir.schedule) {
    case Schedule::Pointwise: return ir.vector;
    case Schedule::ReduceSerial: return 1;
    case Schedule::ReduceInner: return kInnerItems;
    case Schedule::ReduceOuter: return outer_tile(ir).items;
    case Schedule::RowSerial:
    case Schedule::RowInner: return 1;
  }
  return 1;
}

Template::Template(const KernelIr& ir, std::vector<std::pair<std::string, std::string>> more)
    : stores_(has_point_stores(ir)), replacements_(std::move(more)) {
  replacements_.emplace_back("$N", std::string(kEntryName));
  replacements_.emplace_back("$K", ir.wide_index ? "tarry_i64" : "int");
  replacements_.emplace_back("$O", ir.wide_index ? "tarry_i64" : "tarry_u32");
  replacements_.emplace_back("$W", std::to_string(items(ir)));
}

std::string Template::fill(std::string_view text) const {
  std::string filled;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with("@S")) {
      if (!stores_) continue;
      line.remove_prefix(2);
    }
    filled += line;
  }
  for (const auto& [what, by] : replacements_) replace_all(filled, what, by);
  return filled;
}

Functions::Functions(const KernelIr& ir) : ir_(ir), items_(items(ir)), expressions_(ir) {}

std::string Functions::text() {
  types();
  place();
  move(false);
  if (!point_accesses(true).empty()) move(true);
  if (!pointwise(ir_)) begin();
  point();
  if (!pointwise(ir_)) finish();
  return Template(ir_).fill(out_.take());
}

/// How an access moves from one item of a thread to the next.
StrideClass Functions::item_class(std::uint32_t access) const {
  const Access& a = ir_.accesses[access];
  if (ir_.schedule == Schedule::ReduceInner) return a.outer_only ? StrideClass::Zero : a.reduced;
  return a.strides.empty() ? StrideClass::Zero : a.strides.back();
}

bool Functions::vector_access(std::uint32_t access) const {
  return items_ > 1 && ir_.vector > 1 && ir_.accesses[access].aligned && item_class(access) == StrideClass::One;
}

/// Offset of item j at index k along the reduced axis, from where `place` put the access.
std::string Functions::element(std::uint32_t access, Region region) const {
  if (ir_.schedule == Schedule::ReduceInner)
    return region == Region::Point ? reduced_offset(ir_, access, "(k + j)", "p.") : "0";
  std::string item = "0";
  if (items_ > 1 && region != Region::Outer && item_class(access) != StrideClass::Zero) {
    std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
    indices.back() = "j";
    item = outer_offset(ir_, access, indices, "p.");
  }
  const bool along = region == Region::Point && !pointwise(ir_);
  return sum_text(item, along ? reduced_offset(ir_, access, "k", "p.") : "0");
}

std::string Functions::operand(Value v, Region user) const {
  const Instr& in = ir_.instrs[v];
  if (in.kind == InstrKind::Scalar) return "p." + slot_name({SlotKind::Scalar, in.index});
  return (user == Region::Point && in.region == Region::Row ? "r." : "") + value_name(v);
}

/// Buffers that Point instructions load or store, each once.
std::vector<std::uint32_t> Functions::point_accesses(bool store) const {
  std::vector<std::uint32_t> found;
  for (const Instr& in : ir_.instrs) {
    if (in.region != Region::Point || in.kind != (store ? InstrKind::Store : InstrKind::Load)) continue;
    if (ir_.accesses[in.index].buffer != kNone && std::find(found.begin(), found.end(), in.index) == found.end())
      found.push_back(in.index);
  }
  return found;
}

void Functions::types() {
  std::vector<Dtype> dtypes;
  for (const bool store : {false, true})
    for (const std::uint32_t a : point_accesses(store)) dtypes.push_back(ir_.buffers[ir_.accesses[a].buffer]);
  std::sort(dtypes.begin(), dtypes.end());
  dtypes.erase(std::unique(dtypes.begin(), dtypes.end()), dtypes.end());
  for (const Dtype dtype : dtypes) {
    // A vector access is as wide as the schedule's alignment allows, and never wider than 16 bytes.
    const std::size_t wide = itemsize(dtype) * static_cast<std::size_t>(std::min(ir_.vector, items_));
    out_.line(fmt::format("struct alignas({}) $N_{} {{ {} v[$W]; }};", std::min<std::size_t>(16, wide), info(dtype).suffix,
                          c_type(dtype)));
  }
  for (const bool store : {false, true}) {
    if (store && point_accesses(true).empty()) continue;
    std::string fields;
    for (const std::uint32_t a : point_accesses(store)) {
      const Dtype dtype = ir_.buffers[ir_.accesses[a].buffer];
      const bool one = !store && item_class(a) == StrideClass::Zero;
      fields += one ? fmt::format(" {} a{};", c_type(dtype), a) : fmt::format(" $N_{} a{};", info(dtype).suffix, a);
    }
    out_.line(fmt::format("struct $N_{} {{{} }};", store ? "stores" : "loads", fields));
  }
}

void Functions::place() {
  const auto rank = static_cast<std::size_t>(ir_.rank);
  out_.open("struct $N_at");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.buffer == kNone) out_.line(fmt::format("tarry_i64 o{};", a));
    else out_.line(fmt::format("{}{}* a{};", access.store ? "" : "const ", c_type(ir_.buffers[access.buffer]), a));
  }
  out_.close(";");
  out_.open("__device__ __forceinline__ $N_at $N_place(const $N_params& p, $O i)");
  std::vector<std::string> indices(rank, "i");
  for (std::size_t d = rank; d-- > 1;) {
    if (ir_.wide_index) out_.line(fmt::format("const $O q{0} = i / p.e{0};", d));
    else out_.line(fmt::format("const $O q{0} = (__umulhi((tarry_u32)p.m{0}, i) + i) >> (tarry_u32)(p.m{0} >> 32);", d));
    out_.line(fmt::format("const $O i{0} = i - q{0} * ($O)p.e{0};", d));
    out_.line(fmt::format("i = q{};", d));
    indices[d] = fmt::format("i{}", d);
  }
  out_.line("$N_at t;");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const std::string name = slot_name({ir_.accesses[a].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer, a});
    out_.line(fmt::format("t.{0} = {1};", name, sum_text("p." + name, outer_offset(ir_, a, indices, "p."))));
  }
  out_.line("return t;");
  out_.close();
}

/// load: the first m items' operands; store: the first m items' results.
void Functions::move(bool store) {
  const auto accesses = point_accesses(store);
  auto copy = [&](const std::string& member, const std::string& memory) {
    out_.line(store ? fmt::format("{} = {};", memory, member) : fmt::format("{} = {};", member, memory));
  };
  auto each_item = [&](const std::vector<std::uint32_t>& some) {
    out_.label("#pragma unroll");
    out_.open("for (int j = 0; j < $W; ++j)");
    out_.open("if (j < m)");
    for (const std::uint32_t a : some) copy(fmt::format("x.a{}.v[j]", a), fmt::format("t.a{}[{}]", a, element(a, Region::Point)));
    out_.close();
    out_.close();
  };
  out_.open(fmt::format("__device__ __forceinline__ void $N_{}(const $N_params& p, const $N_at& t{}, int m, {}$N_{}& x)",
                        store ? "store" : "load", pointwise(ir_) ? "" : ", $K k", store ? "const " : "", store ? "stores" : "loads"));
  std::vector<std::uint32_t> whole, each;
  for (const std::uint32_t a : accesses) {
    if (!store && item_class(a) == StrideClass::Zero) {
      const std::string at = ir_.schedule == Schedule::ReduceInner || pointwise(ir_) ? "0" : reduced_offset(ir_, a, "k", "p.");
      out_.line(fmt::format("if (m > 0) x.a{0} = t.a{0}[{1}];", a, at));
    } else {
      (vector_access(a) ? whole : each).push_back(a);
    }
  }
  if (!whole.empty()) {
    // m may pass $W or be negative. A count clamped at both ends is not used: from max(min(m, 4), 0) < j ptxas 13.0 makes
    // a predicate that is wrong where m is 0.
    out_.open("if (m >= $W)");
    for (const std::uint32_t a : whole) {
      const char* suffix = info(ir_.buffers[ir_.accesses[a].buffer]).suffix;
      const std::string k = pointwise(ir_) ? "0" : reduced_offset(ir_, a, "k", "p.");
      copy(fmt::format("x.a{}", a), fmt::format("*({}$N_{}*)({})", store ? "" : "const ", suffix, sum_text(fmt::format("t.a{}", a), k)));
    }
    out_.close();
    out_.open("else");
    each_item(whole);
    out_.close();
  }
  if (!each.empty()) each_item(each);
  out_.close();
}

/// Loads and computations of a region as statements; Row stores only where one thread stands for the outer index.
void Functions::instructions(Region region, bool row_stores) {
  const bool alone = row_stores;  // `finish` places the accesses at its own outer index
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.region != region || in.kind == InstrKind::Scalar) continue;
    const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
    const std::string at = in.kind == InstrKind::Load || in.kind == InstrKind::Store
                               ? element(in.index, alone ? Region::Outer : region) : std::string();
    switch (in.kind) {
      case InstrKind::Load:
        if (ir_.accesses[in.index].buffer == kNone) {
          out_.line(fmt::format("{}{};", head, sum_text(fmt::format("t.o{}", in.index), at)));
        } else if (region == Region::Point) {
          out_.line(fmt::format("{}x.a{}{};", head, in.index, item_class(in.index) == StrideClass::Zero ? "" : ".v[j]"));
        } else {
          out_.line(fmt::format("{}t.a{}[{}];", head, in.index, at));
        }
        break;
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(in.args[i], region));
        out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
        break;
      }
      case InstrKind::Result: {
        static constexpr const char* kParts[] = {"mean", "m2"};
        const bool pair = graph::output_count(ir_.reductions[in.index].op) == 2;
        out_.line(fmt::format("{}s.r{}{};", head, in.index, pair ? fmt::format("_{}", kParts[in.output]) : std::string()));
        break;
      }
      case InstrKind::Store:
        if (region == Region::Point) out_.line(fmt::format("y.a{}.v[j] = {};", in.index, operand(in.args[0], region)));
        else if (row_stores) out_.line(fmt::format("t.a{}[{}] = {};", in.index, at, operand(in.args[0], region)));
        break;
      case InstrKind::Inside: TARRY_ASSERT(false && "guards are not rendered yet"); break;
      case InstrKind::Scalar: break;
    }
  }
}

void Functions::begin() {
  std::vector<Value> used;
  auto use = [&](Value v) {
    if (v == kNone || ir_.instrs[v].region != Region::Row || ir_.instrs[v].kind == InstrKind::Scalar) return;
    if (std::find(used.begin(), used.end(), v) == used.end()) used.push_back(v);
  };
  for (const Instr& in : ir_.instrs)
    if (in.region == Region::Point && (in.kind == InstrKind::Compute || in.kind == InstrKind::Store))
      for (const Value v : in.args) use(v);
  for (const Reduction& r : ir_.reductions)
    for (const Value v : r.args) use(v);
  std::string fields;
  for (const Value v : used) fields += fmt::format(" {} {};", c_type(ir_.instrs[v].dtype), value_name(v));
  out_.line(fmt::format("struct $N_row {{{} }};", fields));
  out_.open("__device__ __forceinline__ $N_row $N_begin(const $N_params& p, const $N_at& t, int j)");
  if (!used.empty()) instructions(Region::Row, false);
  out_.line("$N_row r;");
  for (const Value v : used) out_.line(fmt::format("r.{0} = {0};", value_name(v)));
  out_.line("return r;");
  out_.close();
}

void Functions::point() {
  const bool reduces = !pointwise(ir_);
  std::string fields;
  for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
    const Reduction& r = ir_.reductions[i];
    fields += fmt::format(" {} x{};", c_type(r.dtype), i);
    if (r.op == Op::MomentsMerge) fields += fmt::format(" {} x{}_m2;", c_type(r.dtype), i);
  }
  if (reduces) out_.line(fmt::format("struct $N_inputs {{{} }};", fields));
  out_.open(fmt::format("__device__ __forceinline__ {} $N_point(const $N_params& p, const $N_at& t{}, const $N_loads& x, int j{}{})",
                        reduces ? "$N_inputs" : "void", reduces ? ", const $N_row& r" : "", reduces ? ", $K k" : "",
                        point_accesses(true).empty() ? "" : ", $N_stores& y"));
  instructions(Region::Point, false);
  if (reduces) {
    out_.line("$N_inputs in;");
    for (std::size_t i = 0; i < ir_.reductions.size(); ++i) {
      const Reduction& r = ir_.reductions[i];
      out_.line(fmt::format("in.x{} = {};", i, operand(r.args[0], Region::Point)));
      if (r.op == Op::MomentsMerge) out_.line(fmt::format("in.x{}_m2 = {};", i, operand(r.args[1], Region::Point)));
    }
    out_.line("return in;");
  }
  out_.close();
}

void Functions::finish() {
  out_.open("__device__ __forceinline__ void $N_finish(const $N_params& p, const $N_at& t, const $N_state& s)");
  instructions(Region::Row, true);
  instructions(Region::Outer, true);
  out_.close();
}

namespace {

/// One vector per thread, or four points at a distance of the thread block's width, so that a warp always touches
/// neighbouring addresses; all loads come before the first store. The last thread block goes point by point.
constexpr std::string_view kPointwise = R"(
extern "C" __global__ void __launch_bounds__(256) $N(const __grid_constant__ struct $N_params p) {
  const tarry_i64 first = (tarry_i64)blockIdx.x * ($G * 256 * $W);
  if (p.count - first >= $G * 256 * $W) {
    $N_at t[$G];
    $N_loads x[$G];
#pragma unroll
    for (int g = 0; g < $G; ++g) {
      t[g] = $N_place(p, ($O)first + ($O)((g * 256 + threadIdx.x) * $W));
      $N_load(p, t[g], $W, x[g]);
    }
#pragma unroll
    for (int g = 0; g < $G; ++g) {
      $N_stores y;
#pragma unroll
      for (int j = 0; j < $W; ++j) $N_point(p, t[g], x[g], j, y);
      $N_store(p, t[g], $W, y);
    }
  } else {
#pragma unroll 1
    for (tarry_i64 i = first + threadIdx.x; i < p.count; i += 256) {
      const $N_at t = $N_place(p, ($O)i);
      $N_loads x;
      $N_stores y;
      $N_load(p, t, 1, x);
      $N_point(p, t, x, 0, y);
      $N_store(p, t, 1, y);
    }
  }
}
)";

}  // namespace

KernelSource render_pointwise(const KernelIr& ir) {
  TARRY_ASSERT(ir.rank > 0 || ir.vector == 1);
  Functions functions(ir);
  const Parameters parameters = ir.wide_index ? make_parameters(ir, {SlotKind::OuterCount, SlotKind::Extent})
                                              : make_parameters(ir, {SlotKind::OuterCount, SlotKind::Extent, SlotKind::Magic});
  std::string kernel = parameter_struct(parameters) + functions.text();
  kernel += Template(ir, {{"$G", std::to_string(pointwise_groups(ir))}}).fill(kPointwise);
  return finish_kernel(ir, Dialect::Cuda, std::move(kernel), parameters, functions.expressions().functions());
}

}  // namespace cuda
}  // namespace tarry::codegen
