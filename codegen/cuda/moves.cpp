// CUDA C: what the points of a stage load and store in memory, whole vectors at a time where they are aligned.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {
namespace {

/// Items of 8 or 16 bits in a word.
struct Packing {
  int items, bits;
  const char *mask, *type;  ///< of an item without a sign
};
Packing packing(Dtype dtype) {
  return itemsize(dtype) == 1 ? Packing{4, 8, "0xffu", "tarry_u8"} : Packing{2, 16, "0xffffu", "tarry_u16"};
}

}  // namespace

/// The struct of the items' operands or results.
void Functions::moved(bool store) {
  std::string fields;
  for (const Member& m : members(store)) {
    const Dtype dtype = element_type(m.access);
    fields += m.single ? fmt::format(" {} {};", c_type(dtype), m.name())
                       : fmt::format(" {} {};", vector_type(m, store), m.name());
  }
  if (!store) {
    fields += ahead_fields();
    for (const Value v : draws()) fields += fmt::format(" {} d{}[$W];", c_type(ir_.instrs[v].dtype), v);
  }
  out_.line(fmt::format("struct $S_{} {{{} }};", store ? "stores" : "loads", fields));
}

/// load: the first m items' operands; store: the first m items' results. Interleaved: those of less than m elements on.
void Functions::move(bool store) {
  out_.open(fmt::format(
      "__device__ __forceinline__ void $S_{}(const $N_params& p, const $N_at& t{}, int m, {}$S_{}& x)",
      store ? "store" : "load", ir_.is_map() ? "" : ", $K k", store ? "const " : "", store ? "stores" : "loads"));
  std::vector<Member> whole, each, lines;
  for (const Member& m : members(store)) {
    if (m.single) {
      const std::string at = along_row(ir_) || ir_.is_map() ? "0" : reduced_offset(ir_, m.access, "k", "p.");
      out_.line(fmt::format("if (m > 0) x.{0} = t.a{1}[{2}];", m.name(), m.access, at));
    } else {
      const bool lanes = ir_.has(trait::kLanes) && !ir_.striped();
      const bool runs = store && lanes && item_class(m.access) == StrideClass::One;
      (m.guard == kNone && vector_access(m.access) ? whole : runs ? lines : each).push_back(m);
    }
  }
  if (!whole.empty()) {
    // m may pass $W or be negative. A count clamped at both ends is not used: from max(min(m, 4), 0) < j ptxas 13.0
    // makes a predicate that is wrong where m is 0.
    out_.open("if (m >= $W)");
    for (const Member& m : whole) {
      const std::string k = ir_.is_map() ? "0" : reduced_offset(ir_, m.access, "k", "p.");
      const std::string memory = fmt::format("*({}{}*)({})", store ? "" : "const ", vector_type(m, store),
                                             sum_text(fmt::format("t.a{}", m.access), k));
      const std::string member = "x." + m.name();
      out_.line(fmt::format("{} = {};", store ? memory : member, store ? member : memory));
    }
    out_.close();
    out_.open("else");
    if (has_single_points(ir_)) {  // the last thread block's points come one by one
      out_.line("constexpr int j = 0;");
      move_item(store, whole);
    } else {
      move_items(store, whole);
    }
    out_.close();
  }
  if (!each.empty()) move_items(store, each);
  if (!store) load_ahead();
  for (const Member& m : lines) store_lines(m);
  if (!store && !draws_late(ir_))
    for (const Value v : draws()) draw(v);
  out_.close();
}

/// Unaligned stores go through shared memory, so that a warp writes 32 neighbours at once: a tree block's share of
/// what its $W blocks have. All threads of the warp are here.
void Functions::store_lines(const Member& m) {
  const std::string vector = fmt::format("$N_{}", info(element_type(m.access)).suffix),
                    type = c_type(element_type(m.access));
  out_.open("");
  out_.line(fmt::format("__shared__ {} lines[{}][32];", vector, std::max(kThreads, plan_.tile.threads()) / 32));
  out_.line("const int lane = threadIdx.x & 31;");
  out_.line(fmt::format("{}* own = lines[threadIdx.x >> 5];", vector));
  out_.line("__syncwarp();");
  out_.line(fmt::format("own[lane] = x.{};", m.name()));
  out_.line("__syncwarp();");
  out_.label("#pragma unroll");
  out_.open("for (int b = 0; b < $W; ++b)");
  out_.line("const int owner = b * (32 / $W) + lane / $W;");
  out_.line(
      fmt::format("{0}* to = ({0}*)__shfl_sync(0xffffffffu, (tarry_u64)(t.a{1} + k), b * (32 / $W));", type, m.access));
  out_.line("if (lane % $W < __shfl_sync(0xffffffffu, m, owner)) to[lane] = own[owner].v[lane % $W];");
  out_.close();
  out_.close();
}

void Functions::move_items(bool store, const std::vector<Member>& some) {
  out_.label("#pragma unroll");
  out_.open("for (int j = 0; j < $W; ++j)");
  out_.open(fmt::format("if ({} < m)", item_));
  move_item(store, some);
  out_.close();
  out_.close();
}

/// True if loads of whole vectors of dtype are words, from which items are taken by shifts: of vectors of 8 and 16 bits
/// ptxas makes up to twice as many instructions.
bool Functions::packs(Dtype dtype) const {
  return itemsize(dtype) <= 2 && ir_.vector() == items_ && static_cast<std::size_t>(items_) * itemsize(dtype) % 4 == 0;
}

bool Functions::packed(const Member& m) const {
  return !m.single && m.guard == kNone && vector_access(m.access) && packs(element_type(m.access));
}

std::string Functions::vector_type(const Member& m, bool store) const {
  return fmt::format("$N_{}{}", info(element_type(m.access)).suffix, !store && packed(m) ? "_words" : "");
}

/// Item j of each.
void Functions::move_item(bool store, const std::vector<Member>& some) {
  for (const Member& m : some) {
    if (!store && packed(m)) {
      const Packing in = packing(element_type(m.access));
      const std::string word = fmt::format("x.{}.w[j / {}]", m.name(), in.items);
      out_.line(fmt::format("{0} = ({0} & ~({1} << {2} * (j % {3}))) | (tarry_u32)({4})t.a{5}[{6}] << {2} * (j % {3});",
                            word, in.mask, in.bits, in.items, in.type, m.access, element(m.access, Region::Point)));
      continue;
    }
    const std::string member = fmt::format("x.{}.v[j]", m.name()),
                      memory = fmt::format("t.a{}[{}]", m.access, element(m.access, Region::Point));
    if (store)
      out_.line(fmt::format("{} = {};", memory, member));
    else if (m.guard == kNone)
      out_.line(fmt::format("{} = {};", member, memory));
    else
      out_.line(fmt::format("{} = {} ? {} : ({})0;", member, guard(m.guard, Region::Point), memory,
                            c_type(element_type(m.access))));
  }
}

/// The function of a place, and of what it reports.
void Functions::index() {
  out_.open("__device__ inline void $N_fault(tarry_u64* words, tarry_i64 element, tarry_i64 i)");
  out_.line(fmt::format("{}    atomicMin((unsigned long long*)(words + k), (unsigned long long)word);", fault_words()));
  out_.line("}");
  out_.close();
  out_.open(
      "__device__ __forceinline__ tarry_i64 $N_index(tarry_i64 i, tarry_i64 n, tarry_i64 element, tarry_u64* words)");
  out_.line(fmt::format(
      "{}  {}$N_fault(words, element, i);", index_body(),
      std::ranges::any_of(ir_.instrs, [&](const Instr& in) { return may_lack_row(in); }) ? "if (words) " : ""));
  out_.line("return 0;");
  out_.close();
}

/// True for a place that threads compute together from the results of a row, and in a row beyond the last from nothing.
bool Functions::may_lack_row(const Instr& in) const {
  return in.kind == InstrKind::Index && in.region == Region::Outer && ir_.staged();
}

/// A place that is computed, or what is there.
std::string Functions::at_place(const Instr& in, Region region, Region placed) const {
  std::string text;
  if (in.kind == InstrKind::Gather) {
    text = fmt::format("p.a{}[{}]", in.index, operand(in.args[0], region));
  } else {
    const std::uint32_t check = ir_.checks[in.index];
    std::string number = sum_text(fmt::format("t.o{}", check), element(check, placed));
    if (in.loop != kNone) number = sum_text(number, loop_offset(ir_, check, "p."));
    if (in.args[2] != kNone) number = sum_text(number, operand(in.args[2], region));
    std::string words = check_words(ir_, in, "p.");
    if (may_lack_row(in)) words = fmt::format("leader ? {} : (tarry_u64*)0", words);
    text = fmt::format("$N_index({}, {}, {}, {})", operand(in.args[0], region), operand(in.args[1], region), number,
                       words);
  }
  if (in.guard == kNone) return text;
  return fmt::format("{} ? {} : ({})0", guard(in.guard, placed), text, c_type(in.dtype));
}

void Functions::load(Value v, Region region, const std::string& at) {
  const Instr& in = ir_.instrs[v];
  const std::string head = fmt::format("const {} {}", c_type(in.dtype), value_name(v));
  if (ir_.accesses[in.index].buffer == kNone)
    return out_.line(fmt::format("{} = {};", head, sum_text(fmt::format("t.o{}", in.index), at)));
  if (region == Region::Point) {
    const Member m = load_member(in);
    if (packed(m)) {
      // Up, then down with the sign: that is what NVVM sees through where the item becomes 32 bits again.
      const Packing of = packing(in.dtype);
      const int spare = 32 - of.bits;
      return out_.line(fmt::format("{0} = ({1})(({2})(x.{3}.w[j / {4}] << ({5} - {6} * (j % {4}))) >> {5});", head,
                                   c_type(in.dtype), info(in.dtype).kind == DtypeKind::Int ? "tarry_i32" : "tarry_u32",
                                   m.name(), of.items, spare, of.bits));
    }
    return out_.line(fmt::format("{} = x.{}{};", head, m.name(), m.single ? "" : ".v[j]"));
  }
  const std::string memory = fmt::format("t.a{}[{}]", in.index, at);
  if (in.guard == kNone) return out_.line(fmt::format("{} = {};", head, memory));
  out_.line(fmt::format("{} = {} ? {} : ({})0;", head, guard(in.guard, region), memory, c_type(in.dtype)));
}

void Functions::store(Value v, Region region, const std::string& at) {
  const Instr& in = ir_.instrs[v];
  if (region == Region::Point) return out_.line(fmt::format("y.a{}.v[j] = {};", in.index, operand(in.args[0], region)));
  out_.line(
      fmt::format("{}t.a{}[{}] = {};", ir_.staged() ? "if (leader) " : "", in.index, at, operand(in.args[0], region)));
}

}  // namespace tarry::codegen::cuda
