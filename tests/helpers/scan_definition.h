// Scans as docs/reference/numerics.md defines them: element by element, from tree R alone, without any schedule. Every
// backend is compared with this.
#pragma once

#include <map>
#include <optional>

#include "tests/helpers/reduction_tree.h"

namespace tarry::test {

/// A block's node: that of tree R, or its rows from left to right.
enum class BlockNode { OfTree, OfRows };

template <class T, class Combine>
class ScanDefinition {
 public:
  ScanDefinition(std::vector<T> x, Combine op, BlockNode kind) : x_(std::move(x)), op_(op), kind_(kind) {}

  [[nodiscard]] std::vector<T> run() {
    std::vector<T> out;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(x_.size()); ++k) out.push_back(element(k));
    return out;
  }

 private:
  using Part = std::optional<T>;  // nothing where there is no element

  [[nodiscard]] Part join(const Part& a, const Part& b) const { return a && b ? Part(op_(*a, *b)) : a ? a : b; }

  T element(std::int64_t k) {
    const std::int64_t block = k / 128, row = k % 128 / 32, quad = k % 32 / 4;
    Part rows, own;
    for (std::int64_t r = 0; r < row; ++r) rows = join(rows, through(block * 128 + r * 32, 8, 7));
    const Part quads = quad > 0 ? Part(through(block * 128 + row * 32, 8, quad - 1)) : Part();
    for (std::int64_t i = k / 4 * 4; i <= k; ++i) own = join(own, x_[static_cast<std::size_t>(i)]);
    return *join(join(join(offset(block), rows), quads), own);
  }

  /// Quads 0..q of `count` from element `at` on: those of the right half come behind the whole left half.
  T through(std::int64_t at, std::int64_t count, std::int64_t q) const {
    if (count == 1) {
      Part sum;
      for (std::int64_t i = at; i < at + 4; ++i) sum = join(sum, x_[static_cast<std::size_t>(i)]);
      return *sum;
    }
    const std::int64_t half = count / 2;
    if (q < half) return through(at, half, q);
    return op_(through(at, half, half - 1), through(at + half * 4, half, q - half));
  }

  Part offset(std::int64_t block) {
    Part fold;
    std::int64_t from = 0;
    for (std::int64_t size = std::int64_t{1} << 40; size > 0; size /= 2) {
      if (!(block & size)) continue;
      fold = join(fold, node(from, size));
      from += size;
    }
    return fold;
  }

  /// The node of an aligned run of blocks in tree R.
  T node(std::int64_t first, std::int64_t blocks) {
    const auto [it, fresh] = nodes_.try_emplace({first, blocks});
    if (!fresh) return it->second;
    if (kind_ == BlockNode::OfTree) {
      it->second = reduce_values<T>(
          blocks * 128, [&](std::int64_t k) { return x_[static_cast<std::size_t>(first * 128 + k)]; }, op_);
    } else if (blocks > 1) {
      const T left = node(first, blocks / 2);
      it->second = op_(left, node(first + blocks / 2, blocks / 2));
    } else {
      it->second = through(first * 128, 8, 7);
      for (std::int64_t row = 1; row < 4; ++row) it->second = op_(it->second, through(first * 128 + row * 32, 8, 7));
    }
    return it->second;
  }

  std::vector<T> x_;
  Combine op_;
  BlockNode kind_;
  std::map<std::pair<std::int64_t, std::int64_t>, T> nodes_;
};

template <class T, class Combine>
std::vector<T> scanned(std::vector<T> x, Combine op, BlockNode kind = BlockNode::OfTree) {
  return ScanDefinition<T, Combine>(std::move(x), op, kind).run();
}

}  // namespace tarry::test
