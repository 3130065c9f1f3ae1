// The first places of an Argsort on the CPU: one pass over a row, which keeps the elements that may be among them.
#include <algorithm>
#include <array>

#include "runtime/device/cpu/network.h"
#include "runtime/device/cpu/order_key.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/parallel.h"

namespace tarry::runtime {
namespace {

using codegen::RoutineSpec;

constexpr std::int64_t kReadOneOf = 16;       // places read of so many elements for each
constexpr std::int64_t kOfAThread = 1 << 15;  // at least, of a row that several threads select from

template <class Bits>
struct Candidate {
  Bits key;
  std::int64_t place;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

/// Elements of a row, one after the other, of which the `wanted` first in order are kept, in any order.
template <class Bits>
class Kept {
 public:
  /// `memory`: for `room` candidates, more than are wanted.
  Kept(Candidate<Bits>* memory, std::int64_t wanted, std::int64_t room) : at_(memory), wanted_(wanted), room_(room) {}

  void offer(Bits key, std::int64_t place) {
    // The earlier place of two equal keys comes first, and it is here already.
    if (full_ && key >= last_) return;
    at_[count_++] = {key, place};
    if (count_ == room_) drop();
  }
  void drop() {
    if (count_ < wanted_) return;
    std::nth_element(at_, at_ + wanted_ - 1, at_ + count_);
    count_ = wanted_;
    last_ = at_[wanted_ - 1].key;
    full_ = true;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  Candidate<Bits>* const at_;
  const std::int64_t wanted_, room_;
  std::int64_t count_ = 0;
  Bits last_{};
  bool full_ = false;
};

template <class Key, graph::RoutineAttributes::Way kWay>
void select_rows(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Bits = typename Key::Bits;
  using One = Candidate<Bits>;
  const std::int64_t n = spec.n, wanted = spec.m, bytes = n * (codegen::packs(spec) ? 8 : 32);
  const std::int64_t room = std::max(2 * wanted, std::min<std::int64_t>(n / 2, 64));
  const auto row = [&](std::int64_t r, std::int64_t parts) {
    const Bits* const x = static_cast<const Bits*>(operands[0]) + r * n;
    auto* const memory = reinterpret_cast<One*>(static_cast<char*>(scratch) + codegen::kSortTables + r * bytes);
    std::array<std::int64_t, codegen::kSortParts> counts{};
    parallel_for(parts, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t p = lo; p < hi; ++p) {
        Kept<Bits> kept(memory + p * room, wanted, room);
        for (std::int64_t i = n * p / parts; i < n * (p + 1) / parts; ++i)
          kept.offer(kWay == graph::RoutineAttributes::Way::Usual ? Key::rising(x[i]) : Key::falling(x[i]), i);
        kept.drop();
        counts[static_cast<std::size_t>(p)] = kept.count();
      }
    });
    One* end = memory + counts[0];
    for (std::int64_t p = 1; p < parts; ++p)
      end = std::copy_n(memory + p * room, counts[static_cast<std::size_t>(p)], end);
    std::partial_sort(memory, memory + wanted, end);
    auto* const to = static_cast<std::int64_t*>(operands[1]) + r * n;
    for (std::int64_t i = 0; i < wanted; ++i) to[i] = memory[i].place;
  };
  const std::int64_t parts =
      std::min({n / kOfAThread, n / (kReadOneOf * wanted), std::int64_t{thread_count()}, codegen::kSortParts});
  if (spec.rows < thread_count() && parts > 1) {
    for (std::int64_t r = 0; r < spec.rows; ++r) row(r, parts);
    return;
  }
  parallel_for(spec.rows, std::max<std::int64_t>(1, kOfAThread / n), [&](std::int64_t lo, std::int64_t hi) {
    for (std::int64_t r = lo; r < hi; ++r) row(r, 1);
  });
}

}  // namespace

bool selects(const RoutineSpec& spec) {
  // A network sorts all elements of short rows in the time in which one pass finds a few.
  constexpr std::int64_t kInNetworkOneOf = 128, kManyRows = 16;
  const bool in_network = has_network() && spec.n <= kLongestInNetwork && spec.rows >= kManyRows;
  const std::int64_t most = spec.n / (in_network ? kInNetworkOneOf : kReadOneOf);
  return spec.op == graph::Op::Argsort && spec.m > 0 && spec.m <= most;
}

void select_on_host(const RoutineSpec& spec, std::span<void* const> operands, void* scratch) {
  using Way = graph::RoutineAttributes::Way;
  with_key(spec.dtype, [&](auto key) {
    using Key = decltype(key);
    if (spec.reversed()) return select_rows<Key, Way::Reversed>(spec, operands, scratch);
    select_rows<Key, Way::Usual>(spec, operands, scratch);
  });
}

}  // namespace tarry::runtime
