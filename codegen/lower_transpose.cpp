// choose_transpose(): loads that are contiguous along another dimension than the stores go through shared memory, or on a
// CPU through an array that the first cache holds.
#include <algorithm>

#include "codegen/selection.h"

namespace tarry::codegen {
namespace {

constexpr std::int64_t kShort = 32;     // along either dimension: caches hold what a tile would
constexpr std::int64_t kShortOnCpu = 7;  // less than a vector
constexpr int kMostRegisters = 80;      // for the elements that a thread loads
constexpr std::int64_t kMostOnStack = 1 << 16;

/// Measured on an H200 and on a Zen 4: a tile's edge, whose rows are 128 to 256 bytes, by the size of an element.
int edge_of(std::size_t itemsize) { return itemsize == 1 ? 128 : itemsize == 8 ? 32 : 64; }

class Transpose {
 public:
  Transpose(KernelIr& ir, const KernelArgs& args, const graph::Target& target) : ir_(ir), args_(args), target_(target) {}

  bool choose() {
    const std::int64_t shortest = target_.is_cuda() ? kShort : kShortOnCpu;
    if (ir_.rank < 2 || args_.outer_count() == 0 || args_.extents.back() <= shortest) return false;
    std::int64_t most = 0;
    for (int d = 0; d + 1 < ir_.rank; ++d) {
      const std::int64_t bytes = crossed_bytes(d);
      if (args_.extents[d] <= shortest || bytes <= most) continue;
      most = bytes;
      ir_.cross = d;
    }
    if (ir_.cross < 0) return false;
    if (!fits()) return forget();
    ir_.schedule = Schedule::Transpose;
    if (target_.is_cuda()) choose_vector();
    return true;
  }

 private:
  bool forget() {
    ir_.cross = -1;
    ir_.tile_rows = ir_.vector = 1;
    return false;
  }

  [[nodiscard]] std::int64_t size(const Access& a) const { return static_cast<std::int64_t>(itemsize(ir_.buffers[a.buffer])); }

  [[nodiscard]] bool is_load(const Access& a) const { return a.buffer != kNone && !a.store; }

  [[nodiscard]] std::int64_t crossed_bytes(int dimension) const {
    std::int64_t sum = 0;
    for (const Access& a : ir_.accesses)
      if (is_load(a) && crosses(a, dimension)) sum += size(a);
    return sum;
  }

  /// Stores go along columns, guards can be tested by rows and by columns, and a tile fits a thread block or a thread's stack.
  bool fits() {
    std::int64_t widest = 1, shared = 0, loads = 0;
    const auto row = static_cast<std::size_t>(ir_.cross);
    for (const Access& a : ir_.accesses) {
      if (a.store && a.strides.back() != StrideClass::One) return false;
      if (is_load(a)) loads += std::max<std::int64_t>(1, size(a) / 4);
      if (!is_load(a) || !crosses(a, ir_.cross)) continue;
      widest = std::max(widest, size(a));
      shared += size(a);
    }
    for (const Guard& g : ir_.guards)
      for (const GuardTerm& term : g.terms) {
        const auto& strides = ir_.accesses[term.access].strides;
        if (strides.back() != StrideClass::Zero && strides[row] != StrideClass::Zero) return false;
      }
    ir_.tile_rows = edge_of(static_cast<std::size_t>(widest));
    const auto bytes = [&] { return shared * ir_.tile_rows * (ir_.tile_rows + 4); };
    const std::int64_t most = target_.is_cuda() ? target_.shared_bytes : kMostOnStack;
    while (bytes() > most && ir_.tile_rows > 32) ir_.tile_rows /= 2;
    return bytes() <= most && (!target_.is_cuda() || loads * ir_.tile_rows / 8 <= kMostRegisters);
  }

  /// Elements of less than four bytes move four bytes at a time, where all of them are aligned.
  void choose_vector() {
    std::int64_t widest = 1;
    for (const Access& a : ir_.accesses)
      if (is_load(a) && crosses(a, ir_.cross)) widest = std::max(widest, size(a));
    int v = widest < 4 ? static_cast<int>(4 / widest) : 1;
    for (std::size_t a = 0; a < ir_.accesses.size() && v > 1; ++a)
      if (runs(a) && !aligned(a, v)) v = 1;
    ir_.vector = v;
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) ir_.accesses[a].aligned = v > 1 && runs(a);
  }

  /// Whether a thread's elements of an access are neighbours.
  [[nodiscard]] bool runs(std::size_t access) const {
    const Access& a = ir_.accesses[access];
    return a.buffer != kNone && (a.strides.back() == StrideClass::One || (is_load(a) && crosses(a, ir_.cross)));
  }

  [[nodiscard]] bool aligned(std::size_t access, int v) const {
    const AccessArgs& a = args_.accesses[access];
    const int along = crosses(ir_.accesses[access], ir_.cross) ? ir_.cross : ir_.rank - 1;
    if (a.offset % v != 0) return false;
    for (int d = 0; d < ir_.rank; ++d)
      if (d != along && a.strides[d] % v != 0) return false;
    return true;
  }

  KernelIr& ir_;
  const KernelArgs& args_;
  const graph::Target& target_;
};

}  // namespace

bool choose_transpose(KernelIr& ir, const KernelArgs& args, const graph::Target& target) {
  return Transpose(ir, args, target).choose();
}

}  // namespace tarry::codegen
