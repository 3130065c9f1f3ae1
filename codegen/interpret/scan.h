// Scans in the interpreter, sentence by sentence as docs/reference/numerics.md has them. Only interpreter.cpp includes
// this.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tarry::codegen {

/// A block's node: that of tree R, or its rows from left to right, which keep the order of elements.
enum class BlockNode : std::uint8_t { OfTree, OfRows };

/// A scan whose elements come block by block. `combine` is what two neighbours give, the earlier one first.
template <class State, class Combine>
class Scan {
 public:
  Scan(BlockNode kind, Combine combine) : kind_(kind), combine_(std::move(combine)) {}

  /// The next block, its elements in order: at most 128, of which fewer are there in the last block alone. Gives what
  /// all elements up to each combine to.
  std::vector<State> take(const std::vector<State>& x) {
    Maybe rows;
    std::vector<State> out = results(x, rows);
    push(kind_ == BlockNode::OfRows ? *rows : node(x));
    return out;
  }

 private:
  using Maybe = std::optional<State>;

  [[nodiscard]] Maybe join(const Maybe& a, const Maybe& b) { return a && b ? combine_(*a, *b) : a ? a : b; }

  /// Rows of eight quads of four; `rows` becomes what all of them combine to.
  std::vector<State> results(const std::vector<State>& x, Maybe& rows) {
    constexpr std::size_t kQuad = 4, kQuads = 8;
    const Maybe before = offset();
    std::vector<State> out;
    for (std::size_t at = 0; at < x.size(); at += kQuad * kQuads) {
      Maybe single[kQuads], pair[kQuads / 2], four[kQuads / 4], through;  // through: the quads before
      for (std::size_t q = 0; q < kQuads && at + q * kQuad < x.size(); ++q) {
        const Maybe base = join(join(before, rows), through);
        for (std::size_t j = 0; j < kQuad && at + q * kQuad + j < x.size(); ++j) {
          single[q] = join(single[q], x[at + q * kQuad + j]);
          out.push_back(*join(base, single[q]));
        }
        if (q % 2 == 1) pair[q / 2] = join(single[q - 1], single[q]);
        if (q % 4 == 3) four[q / 4] = join(pair[q / 2 - 1], pair[q / 2]);
        through = single[q];
        if (q & 1) through = join(single[q - 1], through);
        if (q & 2) through = join(pair[q / 4 * 2], through);
        if (q & 4) through = join(four[0], through);
      }
      rows = join(rows, through);
    }
    return out;
  }

  /// A block's node in tree R.
  State node(const std::vector<State>& x) {
    constexpr std::size_t kLanes = 32;
    std::vector<State> lanes;
    for (std::size_t l = 0; l < kLanes && l < x.size(); ++l) {
      lanes.push_back(x[l]);
      for (std::size_t k = l + kLanes; k < x.size(); k += kLanes) lanes[l] = combine_(lanes[l], x[k]);
    }
    for (std::size_t d = kLanes / 2; d > 0; d /= 2)
      for (std::size_t l = 0; l < d && l + d < lanes.size(); ++l) lanes[l] = combine_(lanes[l], lanes[l + d]);
    return lanes[0];
  }

  /// Aligned subtrees, as a binary counter.
  void push(State block) {
    for (std::int64_t n = ++blocks_; n % 2 == 0; n /= 2) {
      block = combine_(subtrees_.back(), block);
      subtrees_.pop_back();
    }
    subtrees_.push_back(std::move(block));
  }

  /// The blocks so far, the largest subtree first.
  [[nodiscard]] Maybe offset() {
    Maybe out;
    for (const State& s : subtrees_) out = join(out, s);
    return out;
  }

  BlockNode kind_;
  Combine combine_;
  std::int64_t blocks_ = 0;
  std::vector<State> subtrees_;
};

/// The results of `scan` at `count` points, whose elements are x(t): f(t, result).
template <class State, class Combine, class X, class F>
void scan_tile(Scan<State, Combine>& scan, std::int64_t count, const X& x, const F& f) {
  constexpr std::int64_t kTaken = 128;
  for (std::int64_t b = 0; b < count; b += kTaken) {
    std::vector<State> block;
    for (std::int64_t t = b; t < b + kTaken && t < count; ++t) block.push_back(x(t));
    const std::vector<State> scanned = scan.take(block);
    for (std::size_t t = 0; t < scanned.size(); ++t) f(b + static_cast<std::int64_t>(t), scanned[t]);
  }
}

}  // namespace tarry::codegen
