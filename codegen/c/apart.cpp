// C: elements that lie apart, as those of an image's channel do. Loops take them from arrays, and leave them in arrays,
// whose elements lie side by side; functions that kernels share (codegen/render/prebuilt.h) read and write those.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/c/render.h"

namespace tarry::codegen {

namespace {

constexpr int kFewestMeeting = 2, kMostMeeting = 4;  // arrays that are interleaved
constexpr int kParts[] = {kPart, kPart / 4};
constexpr std::size_t kMostApart = 16384;  // bytes of a part's arrays: stacks may be small
constexpr int kBetween = 16;               // elements between arrays, which then do not lie 4096 bytes apart

/// Whole numbers as wide as an element.
std::string_view word_of(Dtype dtype) {
  switch (itemsize(dtype)) {
    case 1: return "tarry_u8";
    case 2: return "tarry_u16";
    case 4: return "tarry_u32";
    default: return "tarry_u64";
  }
}

}  // namespace

/// A loop without what it reads and writes apart.
struct CWriter::Apart {
  std::vector<Value> loads, stores;
  int points = 0;  ///< of a part, for which there are arrays; 0: nothing lies apart, or too much

  [[nodiscard]] static std::string array_of(Value v) { return fmt::format("apart{}", v); }
};

CWriter::Apart CWriter::apart_of(const Loop& l) const {
  Apart apart;
  for (const Value v : l.values) {
    const Instr& in = ir.instrs[v];
    if (in.kind != InstrKind::Load && in.kind != InstrKind::Store) continue;
    const bool is_apart = ir.accesses[in.index].buffer != kNone && stride_class(in.index, l.axis) == StrideClass::Any &&
                          (in.guard == kNone || (holds_.contains(in.guard) && holds_.at(in.guard) == "1"));
    if (is_apart) (in.kind == InstrKind::Load ? apart.loads : apart.stores).push_back(v);
  }
  // Compilers put vectors together of elements of four bytes or more, but interleave none of four bytes. In the steps
  // of a loop they find no vectors at all.
  const bool in_steps = std::ranges::any_of(l.values, [&](Value v) { return ir.instrs[v].loop != kNone; });
  const auto size_of = [&](Value v) { return itemsize(ir.instrs[v].dtype); };
  const auto meet = std::ranges::count_if(apart.stores, [&](Value v) { return size_of(v) == 4; });
  const auto is_plain = [&](Value v) {
    return !in_steps && size_of(v) > 2 && (size_of(v) > 4 || meet < kFewestMeeting || meet > kMostMeeting);
  };
  std::erase_if(apart.loads, is_plain);
  std::erase_if(apart.stores, is_plain);
  std::size_t bytes = 0;  // of a point
  for (const std::vector<Value>* all : {&apart.loads, &apart.stores})
    for (const Value v : *all) bytes += size_of(v);
  if (bytes == 0 || l.is_short) return apart;
  for (const int points : kParts)
    if (apart.points == 0 && static_cast<std::size_t>(points) * bytes <= kMostApart) apart.points = points;
  return apart;
}

/// A loop over n elements, of which vectors can take no more than one at a time.
void CWriter::by_fours(std::string_view advance, const std::function<std::string(int)>& element) {
  line("tarry_i64 i = 0;");
  open(fmt::format("for (; i + 4 <= n; i += 4, {})", advance));
  line("TARRY_SCALAR;");
  for (int k = 0; k < 4; ++k) line(element(k));
  close();
  line("n -= i;");
  for (int k = 0; k < 3; ++k) line(fmt::format("if (n > {}) {}", k, element(k)));
}

/// The function that reads n elements, `stride` apart: its name.
std::string CWriter::read_function(Dtype dtype) {
  const std::string_view word = word_of(dtype);
  return share(fmt::format("read_apart_{}", 8 * itemsize(dtype)), [&] {
    open(fmt::format(
        "static __attribute__((noinline)) void {0}({1}* to, const {1}* from, tarry_i64 stride, tarry_i64 n)",
        kSharedName, word));
    for (const int step : {-1, 2, 3, 4}) {
      open(fmt::format("if (stride == {})", step));
      open_loop("i", "0", "n");
      line(fmt::format("to[i] = from[{} * i];", step));
      close();
      line("return;");
      close();
    }
    by_fours("from += 4 * stride", [](int k) { return fmt::format("to[i + {0}] = from[{0} * stride];", k); });
    close();
  });
}

/// The function that writes n elements of each of some arrays side by side, from the first array's on: its name.
std::string CWriter::interleave_function(Dtype dtype, std::size_t arrays) {
  const std::string_view word = word_of(dtype);
  return share(fmt::format("interleave_{}_{}", arrays, 8 * itemsize(dtype)), [&] {
    std::string parameters;
    for (std::size_t k = 0; k < arrays; ++k) parameters += fmt::format(", const {}* x{}", word, k);
    open(fmt::format("static __attribute__((noinline)) void {}({}* to, tarry_i64 n{})", kSharedName, word, parameters));
    open_loop("i", "0", "n");
    for (std::size_t k = 0; k < arrays; ++k) line(fmt::format("to[{0} * i + {1}] = x{1}[i];", arrays, k));
    close();
    close();
  });
}

/// The function that writes n elements, `stride` apart: its name.
std::string CWriter::write_function(Dtype dtype) {
  return share(fmt::format("write_apart_{}", 8 * itemsize(dtype)), [&] {
    open(fmt::format(
        "static __attribute__((noinline)) void {0}({1}* to, tarry_i64 stride, tarry_i64 n, const {1}* from)",
        kSharedName, word_of(dtype)));
    by_fours("to += 4 * stride", [](int k) { return fmt::format("to[{0} * stride] = from[i + {0}];", k); });
    close();
  });
}

/// Moves the results of a part's loop from their arrays to their places; those that prove to lie side by side at once.
void CWriter::write_parts(const Loop& part, const Apart& apart) {
  const std::string count = fmt::format("{} - {}", part.to, part.from);
  const auto address = [&](Value v) {
    return fmt::format("({}*)&{}", word_of(ir.instrs[v].dtype), element(ir.instrs[v].index, part.axis, part.from));
  };
  const auto array = [&](Value v) {
    return fmt::format("(const {}*){}", word_of(ir.instrs[v].dtype), Apart::array_of(v));
  };
  std::map<std::size_t, std::vector<Value>> of_size;
  for (const Value v : apart.stores) of_size[itemsize(ir.instrs[v].dtype)].push_back(v);
  for (const auto& [size, stores] : of_size) {
    const Dtype dtype = ir.instrs[stores[0]].dtype;
    const bool may_meet = kFewestMeeting <= std::ssize(stores) && std::ssize(stores) <= kMostMeeting;
    if (may_meet) {
      std::string meets, arrays;
      for (std::size_t k = 0; k < stores.size(); ++k) {
        meets +=
            fmt::format("{}{} == {}", k ? " && " : "", stride(ir.instrs[stores[k]].index, part.axis), stores.size());
        if (k > 0) meets += fmt::format(" && {} == {} + {}", address(stores[k]), address(stores[0]), k);
        arrays += ", " + array(stores[k]);
      }
      open(fmt::format("if ({})", meets));
      line(fmt::format("{}({}, {}{});", interleave_function(dtype, stores.size()), address(stores[0]), count, arrays));
      close();
      open("else");
    }
    for (const Value v : stores)
      line(fmt::format("{}({}, {}, {}, {});", write_function(dtype), address(v), stride(ir.instrs[v].index, part.axis),
                       count, array(v)));
    if (may_meet) close();
  }
}

/// Writes the loop in parts between which elements that lie apart are moved; false where none do.
bool CWriter::run_apart(const Loop& l) {
  const Apart apart = apart_of(l);
  if (apart.points == 0) return false;
  Loop part = l;
  const bool is_one = l.is_part && apart.points == kPart;
  if (!is_one) {
    open(fmt::format("for (tarry_i64 first = {0}, last; first < {1}; first = last)", l.from, l.to));
    line(fmt::format("last = {0} - first < {1} ? {0} : first + {1};", l.to, apart.points));
    part.from = "first";
    part.to = "last";
  }
  part.is_part = true;
  part.vectors = false;
  const std::set<Value> loads(apart.loads.begin(), apart.loads.end()), stores(apart.stores.begin(), apart.stores.end());
  std::erase_if(part.values, [&](Value v) { return loads.contains(v) || stores.contains(v); });
  const auto at_point = [from = part.from, i = l.i](Value v) {
    return fmt::format("{}[-{} + {}]", Apart::array_of(v), from, i);
  };
  for (const Value v : l.values)
    if (loads.contains(v) || stores.contains(v))
      line(fmt::format("{} {}[{}] __attribute__((aligned(64)));", c_type(ir.instrs[v].dtype), Apart::array_of(v),
                       apart.points + kBetween));
  for (const Value v : apart.loads) {
    const Instr& in = ir.instrs[v];
    line(fmt::format("{0}(({1}*){2}, (const {1}*)&{3}, {4}, {5} - {6});", read_function(in.dtype), word_of(in.dtype),
                     Apart::array_of(v), element(in.index, l.axis, part.from), stride(in.index, l.axis), part.to,
                     part.from));
  }
  // Stores take what is there before other kept elements change.
  part.kept.clear();
  for (const Value v : apart.stores) part.kept.emplace_back(at_point(v), ir.instrs[v].args[0]);
  part.kept.insert(part.kept.end(), l.kept.begin(), l.kept.end());
  part.operand = [loads, at_point, operand = l.operand](Value v) {
    return loads.contains(v) ? at_point(v) : operand(v);
  };
  open("");
  run(part);
  close();
  write_parts(part, apart);
  if (!is_one) close();
  return true;
}

}  // namespace tarry::codegen
