// Shared by both dialects: parameter struct, names, offsets, expressions, the hashed entry name.
#include "codegen/render/common.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/hash.h"

namespace tarry::codegen {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

namespace {

/// One struct member that fills its 8 bytes exactly.
std::string scalar_field(Dtype dtype, const std::string& name) {
  const std::size_t padding = 8 / itemsize(dtype) - 1;
  if (padding == 0) return fmt::format("{} {};", c_type(dtype), name);
  return fmt::format("{} {}, {}_pad[{}];", c_type(dtype), name, name, padding);
}

/// Values of a dtype in the 8 bytes of a parameter.
std::size_t words_of(Dtype dtype) { return 8 / itemsize(dtype); }

std::string field(const KernelIr& ir, const Slot& slot) {
  const std::string name = slot_name(slot);
  switch (slot.kind) {
    case SlotKind::Pointer: {
      const Access& access = ir.accesses[slot.a];
      if (access.faults) return fmt::format("tarry_u64* {};", name);
      return fmt::format("{}{}* {};", access.store ? "" : "const ", c_type(ir.buffers[access.buffer]), name);
    }
    case SlotKind::Scalar:
      for (const Series& s : ir.series) {
        if (slot.a == s.first)
          return fmt::format("{} {}[{}];", c_type(ir.scalars[slot.a]), name, s.count * words_of(ir.scalars[slot.a]));
        if (s.has(slot.a)) return {};
      }
      return scalar_field(ir.scalars[slot.a], name);
    case SlotKind::Reciprocal: return scalar_field(ir.scalars[slot.a], name);
    case SlotKind::Magic:
    case SlotKind::TileMagic: return fmt::format("tarry_u64 {};", name);
    case SlotKind::Scratch: return fmt::format("void* {};", name);
    case SlotKind::Tickets: return fmt::format("tarry_u32* {};", name);
    default: return fmt::format("tarry_i64 {};", name);
  }
}

}  // namespace

void CodeWriter::line(std::string_view text) {
  text_.append(static_cast<std::size_t>(2 * depth_), ' ').append(text).push_back('\n');
}
void CodeWriter::open(std::string_view head) {
  line(head.empty() ? std::string("{") : fmt::format("{} {{", head));
  ++depth_;
}
void CodeWriter::close(std::string_view tail) {
  --depth_;
  line(fmt::format("}}{}", tail));
}
void CodeWriter::label(std::string_view text) { text_.append(text).push_back('\n'); }
std::string CodeWriter::aside(const std::function<void()>& write) {
  std::string text = std::exchange(text_, {});
  const int depth = std::exchange(depth_, 0);
  write();
  depth_ = depth;
  return std::exchange(text_, std::move(text));
}

std::string number(const KernelIr& ir, const Instr& in, std::string_view k, std::string_view p) {
  const std::size_t apart = words_of(in.dtype);
  return fmt::format("{}{}[{}{}]", p, slot_name({SlotKind::Scalar, ir.series[in.index].first}), k,
                     apart == 1 ? std::string() : fmt::format(" * {}", apart));
}

std::string value_name(Value v) { return fmt::format("v{}", v); }

std::string slot_name(const Slot& slot) {
  switch (slot.kind) {
    case SlotKind::Pointer: return fmt::format("a{}", slot.a);
    case SlotKind::IotaOffset: return fmt::format("o{}", slot.a);
    case SlotKind::Scalar: return fmt::format("s{}", slot.a);
    case SlotKind::Reciprocal: return fmt::format("h{}", slot.a);
    case SlotKind::Extent: return fmt::format("e{}", slot.a);
    case SlotKind::Magic: return fmt::format("m{}", slot.a);
    case SlotKind::Tiles: return fmt::format("n{}", slot.a);
    case SlotKind::TileMagic: return fmt::format("w{}", slot.a);
    case SlotKind::TileCount: return "tiles";
    case SlotKind::Stride: return fmt::format("t{}_{}", slot.a, slot.b);
    case SlotKind::ReducedStride: return fmt::format("r{}", slot.a);
    case SlotKind::LoopStride: return fmt::format("l{}", slot.a);
    case SlotKind::OuterCount: return "count";
    case SlotKind::Reduced: return "n";
    case SlotKind::Chunks: return "chunks";
    case SlotKind::ChunkBlocks: return "chunk_blocks";
    case SlotKind::Scratch: return "scratch";
    case SlotKind::Tickets: return "tickets";
  }
  return {};
}

namespace {

/// Places are counted from the last dimension on, which leaves the first one alone; but tiles along it may end early.
bool needs_first_extent(const KernelIr& ir) {
  return ir.is_contraction() || ir.is_row_column() || (ir.rank > 0 && ir.tile(0) > 1);
}

/// The scalar by which an instruction divides float32 or float64; kNone for anything else.
std::uint32_t divisor(const KernelIr& ir, const Instr& instr) {
  if (instr.kind != InstrKind::Compute || instr.op != Op::Divide) return kNone;
  if (instr.dtype != Dtype::Float32 && instr.dtype != Dtype::Float64) return kNone;
  const Instr& by = ir.instrs[instr.args[1]];
  return by.kind == InstrKind::Scalar ? by.index : kNone;
}

}  // namespace

Parameters make_parameters(const KernelIr& ir, std::initializer_list<SlotKind> more) {
  Parameters p;
  auto add = [&](SlotKind kind, std::uint32_t a = 0, std::uint32_t b = 0) { p.slots.push_back({kind, a, b}); };
  const auto rank = static_cast<std::uint32_t>(ir.rank);
  for (std::uint32_t a = 0; a < ir.accesses.size(); ++a) {
    const Access& access = ir.accesses[a];
    if (access.window != kNone && access.window != a) continue;
    add(access.buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer, a);
    for (std::uint32_t d = 0; d < rank; ++d)
      if (access.strides[d] == StrideClass::Any) add(SlotKind::Stride, a, d);
    if (access.reduced == StrideClass::Any && !access.outer_only) add(SlotKind::ReducedStride, a);
    if (access.loop != kNone && access.step == StrideClass::Any) add(SlotKind::LoopStride, a);
  }
  for (std::uint32_t s = 0; s < ir.scalars.size(); ++s) add(SlotKind::Scalar, s);
  for (const SlotKind kind : more) {
    if (kind == SlotKind::Reciprocal) {
      std::set<std::uint32_t> divisors;
      for (const Instr& instr : ir.instrs) divisors.insert(divisor(ir, instr));
      divisors.erase(kNone);
      for (const std::uint32_t s : divisors) add(kind, s);
    } else if (kind == SlotKind::Extent && ir.has_tiles()) {
      for (std::uint32_t d = 0; d < rank; ++d)
        if (d + 1 == rank || static_cast<int>(d) == ir.row_dimension()) add(kind, d);
    } else if (kind == SlotKind::Extent || kind == SlotKind::Magic || kind == SlotKind::Tiles ||
               kind == SlotKind::TileMagic)
      for (std::uint32_t d = kind == SlotKind::Extent && needs_first_extent(ir) ? 0 : 1; d < rank; ++d) add(kind, d);
    else
      add(kind);
  }
  for (const Slot& slot : p.slots)
    if (const std::string text = field(ir, slot); !text.empty()) p.fields += fmt::format("  {}\n", text);
  return p;
}

std::string parameter_struct(const Parameters& parameters) {
  // A struct without members is not C.
  const std::string_view fields =
      parameters.fields.empty() ? "  tarry_i64 unused;\n" : std::string_view(parameters.fields);
  return fmt::format("struct {}_params {{\n{}}};\n", kEntryName, fields);
}

std::string fault_words() {
  return fmt::format(
      "const tarry_u64 number = (tarry_u64)(element < {0} ? element : {0}) << {1};\n"
      "  for (int k = 0; k < {2}; ++k) {{\n"
      "    const tarry_u64 word = number | ((tarry_u64)i >> {1} * k & {3});\n",
      kMostNumber, kFaultBits, kFaultWords, (1 << kFaultBits) - 1);
}

std::string_view index_body() {
  return "const tarry_i64 at = i < 0 ? i + n : i;\n"
         "  if (__builtin_expect((tarry_u64)at < (tarry_u64)n, 1)) return at;\n";
}

std::string check_words(const KernelIr& ir, const Instr& index, std::string_view p) {
  const std::string words = fmt::format("{}{}", p, slot_name({SlotKind::Pointer, ir.faults}));
  return index.index == 0 ? words : fmt::format("{} + {}", words, index.index * kFaultWords);
}

std::string sum_text(std::string_view a, std::string_view b) {
  if (a == "0") return std::string(b);
  if (b == "0") return std::string(a);
  return fmt::format("{} + {}", a, b);
}

std::string outer_offset(const KernelIr& ir, std::uint32_t access, std::span<const std::string> indices,
                         std::string_view p) {
  std::string sum = "0";
  for (std::uint32_t d = 0; d < indices.size(); ++d) {
    const StrideClass stride = ir.accesses[access].strides[d];
    if (stride == StrideClass::Zero || indices[d] == "0") continue;
    if (stride == StrideClass::One)
      sum = sum_text(sum, indices[d]);
    else
      sum = sum_text(sum, fmt::format("{} * {}{}", indices[d], p, slot_name({SlotKind::Stride, access, d})));
  }
  return sum;
}

std::string reduced_offset(const KernelIr& ir, std::uint32_t access, std::string_view k, std::string_view p) {
  const Access& a = ir.accesses[access];
  if (a.outer_only || a.reduced == StrideClass::Zero || k == "0") return "0";
  if (a.reduced == StrideClass::One) return std::string(k);
  return fmt::format("{} * {}{}", k, p, slot_name({SlotKind::ReducedStride, access}));
}

std::string loop_offset(const KernelIr& ir, std::uint32_t access, std::string_view p) {
  const Access& a = ir.accesses[access];
  if (a.loop == kNone || a.step == StrideClass::Zero) return "0";
  if (a.step == StrideClass::One) return fmt::format("u{}", a.loop);
  return fmt::format("u{} * {}{}", a.loop, p, slot_name({SlotKind::LoopStride, access}));
}

std::string Expressions::apply(Op op, Dtype input, Dtype output, std::span<const std::string> operands) {
  std::string text = expression(op, input, output, operands);
  // An infix op needs no function; everything else is a call.
  const std::string name = function_name(op, input, output);
  if (text.starts_with(name + "(")) functions_.insert(name);
  return text;
}

std::string Expressions::call(const std::string& function, const std::string& arguments) {
  functions_.insert(function);
  return fmt::format("{}({})", function, arguments);
}

std::string Expressions::compute(Value v, std::span<const std::string> operands) {
  const Instr& instr = ir_.instrs[v];
  if (const std::uint32_t s = divisor(ir_, instr); s != kNone && operands[1] == "p." + slot_name({SlotKind::Scalar, s}))
    return call(fmt::format("tarry_divide_by_{}", info(instr.dtype).suffix),
                fmt::format("{}, {}, p.{}", operands[0], operands[1], slot_name({SlotKind::Reciprocal, s})));
  // where(condition, a, b) is named after the dtype it moves.
  const Value typed = instr.op == Op::Where ? instr.args[1] : instr.args[0];
  return apply(instr.op, ir_.instrs[typed].dtype, instr.dtype, operands);
}

std::string Expressions::combine(Op reduction, Dtype dtype, const std::string& left, const std::string& right) {
  const Op op = reduction == Op::Sum || reduction == Op::CumulativeSum                              ? Op::Add
                : reduction == Op::Prod || reduction == Op::CumulativeProd                          ? Op::Multiply
                : reduction == Op::Min || reduction == Op::ArgMin || reduction == Op::CumulativeMin ? Op::Minimum
                                                                                                    : Op::Maximum;
  const std::string operands[] = {left, right};
  return apply(op, dtype, dtype, operands);
}

std::vector<std::string> Expressions::combination(std::string_view earlier, std::string_view later,
                                                  std::string_view p) {
  std::vector<std::string> names(ir_.instrs.size()), statements;
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Scalar) names[v] = fmt::format("{}{}", p, slot_name({SlotKind::Scalar, in.index}));
    if (in.region != Region::Combine) continue;
    std::string text = fmt::format(fmt::runtime(in.kind == InstrKind::Earlier ? earlier : later), in.index);
    if (in.kind == InstrKind::Compute) {
      std::vector<std::string> operands;
      for (int k = 0; k < arity(in); ++k) operands.push_back(names[in.args[static_cast<std::size_t>(k)]]);
      text = compute(v, operands);
    }
    names[v] = value_name(v);
    statements.push_back(fmt::format("const {} {} = {};", c_type(in.dtype), names[v], text));
  }
  return statements;
}

std::string fold_start(const Fold& fold) {
  if (fold.op == Op::Prod) return "1";
  return fold.op == Op::Sum && is_floating(fold.dtype) ? "-0.0f" : "0";
}

std::string fold_step(Expressions& expressions, const Fold& fold, const std::string& step, const std::string& value,
                      const std::string& taken) {
  const std::string next = expressions.combine(fold.op, fold.dtype, value, taken);
  if (fold.op == Op::Sum || fold.op == Op::Prod) return next;
  return fmt::format("{} == 0 ? {} : {}", step, taken, next);
}

namespace {

/// The ends of all numbers of a dtype that scans compute in. Infinities as bits: no token of C means them everywhere.
std::string largest_literal(Dtype dtype) {
  if (dtype == Dtype::Float32) return "tarry_from_bits_f32(0x7f800000u)";
  if (dtype == Dtype::Float64) return "tarry_from_bits_f64(0x7ff0000000000000ull)";
  if (itemsize(dtype) == 4) return dtype == Dtype::UInt32 ? "0xffffffffu" : "0x7fffffff";
  return dtype == Dtype::UInt64 ? "0xffffffffffffffffull" : "0x7fffffffffffffffll";
}
std::string smallest_literal(Dtype dtype) {
  if (dtype == Dtype::Float32) return "tarry_from_bits_f32(0xff800000u)";
  if (dtype == Dtype::Float64) return "tarry_from_bits_f64(0xfff0000000000000ull)";
  if (tarry::info(dtype).kind == DtypeKind::UInt) return "0";
  return itemsize(dtype) == 4 ? "(-0x7fffffff - 1)" : "(-0x7fffffffffffffffll - 1)";
}

}  // namespace

std::string neutral_literal(const Reduction& r) {
  if (r.op == Op::CumulativeProd || r.op == Op::Prod) return "1";
  if (r.op == Op::CumulativeMin) return largest_literal(r.dtype);
  if (r.op == Op::CumulativeMax) return smallest_literal(r.dtype);
  return !is_floating(r.dtype) ? "0" : r.dtype == Dtype::Float32 ? "-0.0f" : "-0.0";  // -0 + x is x for every x
}

std::string float_literal(Dtype dtype, double value) {
  TARRY_ASSERT(dtype == Dtype::Float32 || dtype == Dtype::Float64);
  const bool single = dtype == Dtype::Float32;
  char digits[64];
  const double rounded = single ? static_cast<double>(static_cast<float>(value)) : value;
  const auto end =
      std::to_chars(digits, digits + sizeof digits, rounded < 0 ? -rounded : rounded, std::chars_format::hex).ptr;
  return fmt::format("{}0x{}{}", rounded < 0 ? "-" : "",
                     std::string_view(digits, static_cast<std::size_t>(end - digits)), single ? "f" : "");
}

namespace {

/// A word of a kernel's name: what it does, how telling that is, and when it is done.
struct Word {
  std::string_view text;
  int weight = 0;
};

/// The operations of the kernel, each word once, in the order of a run: stage by stage, reductions after their points.
std::vector<Word> words_of(const KernelIr& ir) {
  constexpr int kReductionWeight = 1000;  // says more than any operation at a point
  std::vector<Word> words;
  const auto add = [&](Op op, int weight) {
    const std::string_view text = op == Op::LoopStack ? "combine" : graph::name(op);
    if (std::none_of(words.begin(), words.end(), [&](const Word& w) { return w.text == text; }))
      words.push_back({text, weight + graph::info(op).cost});
  };
  const auto compute = [&](int stage, bool after) {
    for (const Instr& in : ir.instrs)
      if (in.stage == stage && (ir.home_region(in) == Region::Outer) == after) {
        if (in.kind == InstrKind::Compute) add(in.op, 0);
        if (in.kind == InstrKind::Gather) add(Op::Gather, 0);
        if (in.kind == InstrKind::Fold) add(ir.folds[in.index].op, kReductionWeight);
      }
  };
  for (int stage = 0; stage < ir.stages(); ++stage) {
    compute(stage, false);
    for (const Reduction& r : ir.reductions)
      if (r.stage == stage) add(r.op, kReductionWeight);
    compute(stage, true);
  }
  if (words.empty()) {
    const bool copies = std::any_of(ir.instrs.begin(), ir.instrs.end(), [&](const Instr& in) {
      return in.kind == InstrKind::Load && ir.accesses[in.index].buffer != kNone;
    });
    words.push_back({copies ? "copy" : "fill"});
  }
  return words;
}

/// "f32", or "f32_i64" where what is stored is not what is loaded: the first access of either kind.
std::string dtype_words(const KernelIr& ir) {
  std::string_view loaded, stored;
  for (const Access& a : ir.accesses) {
    if (a.buffer == kNone || a.faults) continue;
    std::string_view& of_kind = a.store ? stored : loaded;
    if (of_kind.empty()) of_kind = info(ir.buffers[a.buffer]).suffix;
  }
  if (loaded.empty() || loaded == stored) return std::string(stored);
  return fmt::format("{}_{}", loaded, stored);
}

}  // namespace

std::string readable_name(const KernelIr& ir) {
  constexpr std::size_t kLongest = 51;  // and 9 of the hash
  const std::string tail = fmt::format("_{}_{}", dtype_words(ir), entry_word(ir.schedule()));
  std::vector<Word> words = words_of(ir);
  const auto length = [&] {
    std::size_t sum = tail.size() + words.size() - 1;
    for (const Word& w : words) sum += w.text.size();
    return sum;
  };
  while (words.size() > 1 && length() > kLongest)  // of equally telling words the last one goes
    words.erase(std::prev(std::min_element(words.rbegin(), words.rend(), [](const Word& a, const Word& b) {
                            return a.weight < b.weight;
                          }).base()));
  std::string name;
  for (const Word& w : words) name += fmt::format("{}{}", name.empty() ? "" : "_", w.text);
  return name + tail;
}

SharedText shared_text(std::string_view name, std::string text) {
  SharedText found{fmt::format("tarry_{}_{}", name, support::hash_bytes(text).hex().substr(0, 8)), std::move(text)};
  replace_all(found.text, kSharedName, found.name);
  return found;
}

namespace {

/// Thread blocks that are there before the kernel before theirs is done, where a launch allows it, wait for it; those
/// of the next kernel may come as soon as all of these have. Nothing in memory is touched earlier.
constexpr std::string_view kWait = R"(#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
)";

void wait_first(std::string& kernel) {
  const std::size_t entry = kernel.find("extern \"C\" __global__"), body = kernel.find("{\n", entry);
  TARRY_ASSERT(entry != std::string::npos && body != std::string::npos);
  kernel.insert(body + 2, kWait);
}

}  // namespace

namespace {

/// Left alone, ptxas spills a few registers for the sake of thread blocks that nobody asked for.
void ask_for_one_block(std::string& kernel) {
  constexpr std::string_view kBounds = "__launch_bounds__(";
  const std::size_t begin = kernel.find(kBounds);
  TARRY_ASSERT(begin != std::string::npos);
  const std::size_t threads = begin + kBounds.size(), end = kernel.find_first_of(",)", threads);
  kernel.replace(end, kernel.find(')', end) - end, ", 1");
}

}  // namespace

KernelSource finish_kernel(const KernelIr& ir, Dialect dialect, std::string kernel, const Parameters& parameters,
                           std::span<const std::string> functions, std::vector<SharedText> shared) {
  KernelSource source;
  source.waits = dialect == Dialect::Cuda;
  if (source.waits) wait_first(kernel);
  if (ir.roomy) ask_for_one_block(kernel);
  source.sections = prelude_sections(functions);
  source.prelude = prelude_text(source.sections, dialect);
  source.shared = std::move(shared);
  std::string before = source.prelude;
  for (const SharedText& s : source.shared) before += s.text;
  const std::string hash = support::hash_bytes(before + kernel).hex();
  source.entry = fmt::format("{}_{}", readable_name(ir), hash.substr(0, 8));
  replace_all(kernel, kEntryName, source.entry);
  source.kernel = std::move(kernel);
  source.text = before + source.kernel;
  source.slots = parameters.slots;
  for (std::uint32_t word = 0; word < source.slots.size(); ++word) {
    const Slot& slot = source.slots[word];
    if (slot.kind != SlotKind::Pointer || !ir.accesses[slot.a].store) continue;
    source.stores.push_back(
        {slot.a, word, static_cast<std::int64_t>(itemsize(ir.buffers[ir.accesses[slot.a].buffer]))});
  }
  return source;
}

std::uint64_t division_magic(std::int64_t extent) {
  TARRY_ASSERT(extent >= 0 && extent <= (std::int64_t{1} << 31));
  if (extent == 0) return 0;  // nothing to index
  const auto d = static_cast<std::uint64_t>(extent);
  unsigned shift = 0;
  while ((std::uint64_t{1} << shift) < d) ++shift;
  const std::uint64_t multiplier = (((std::uint64_t{1} << shift) - d) << 32) / d + 1;
  return multiplier | (std::uint64_t{shift} << 32);
}

}  // namespace tarry::codegen
