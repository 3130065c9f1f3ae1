// Tree R in the interpreter, sentence by sentence as docs/reference/numerics.md has it: elements, lanes, blocks, the
// tree above them. Only interpreter.cpp includes this.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/interpret/interpreter.h"
#include "support/check.h"

namespace tarry::codegen {

inline constexpr int kLanes = 32, kBlock = 128;

struct Cell {
  alignas(8) unsigned char bytes[8];
};

/// A partial result of one reduction over `count` elements.
struct Part {
  Cell a{}, b{};  // value; mean and m2; best value and its index
  std::int64_t count = 0;
};

template <class T>
T get(const Cell& c) {
  T v;
  std::memcpy(&v, c.bytes, sizeof v);
  return v;
}
template <class T>
void put(Cell& c, T v) {
  std::memcpy(c.bytes, &v, sizeof v);
}

/// Chan's merge, as docs/reference/numerics.md writes it.
template <class T>
Part merge_moments(const Part& a, const Part& b) {
  const T w = static_cast<T>(b.count) / static_cast<T>(a.count + b.count);
  const T d = get<T>(b.a) - get<T>(a.a);
  Part out;
  put<T>(out.a, get<T>(a.a) + d * w);
  put<T>(out.b, (get<T>(a.b) + get<T>(b.b)) + (d * d) * (static_cast<T>(a.count) * w));
  out.count = a.count + b.count;
  return out;
}

/// Welford's step: the k-th element of a lane, k = a.count + 1.
template <class T>
Part step_moments(const Part& a, const Cell& y) {
  const T d = get<T>(y) - get<T>(a.a);
  const T mean = get<T>(a.a) + d * (T{1} / static_cast<T>(a.count + 1));
  Part out;
  put<T>(out.a, mean);
  put<T>(out.b, get<T>(a.b) + d * (get<T>(y) - mean));
  out.count = a.count + 1;
  return out;
}

/// The lowest index among equal values, the first among NaNs: an order of all (value, index), so the tree cannot
/// matter.
template <class T>
Part better(Op op, const Part& a, const Part& b) {
  const T x = get<T>(a.a), y = get<T>(b.a);
  bool left = get<std::int64_t>(a.b) < get<std::int64_t>(b.b);
  if ((x != x) != (y != y))
    left = x != x;
  else if (x < y || y < x)
    left = op == Op::ArgMin ? x < y : y < x;
  return left ? a : b;
}

inline Part better(Op op, Dtype dtype, const Part& a, const Part& b) {
  switch (dtype) {
    case Dtype::Int32: return better<std::int32_t>(op, a, b);
    case Dtype::Int64: return better<std::int64_t>(op, a, b);
    case Dtype::UInt32: return better<std::uint32_t>(op, a, b);
    case Dtype::UInt64: return better<std::uint64_t>(op, a, b);
    case Dtype::Float32: return better<float>(op, a, b);
    default: TARRY_ASSERT(dtype == Dtype::Float64); return better<double>(op, a, b);
  }
}

class Reducer {
 public:
  Reducer(const Reduction& r, std::int64_t weight) : op_(r.op), dtype_(r.dtype), weight_(weight) {
    if (op_ == Op::Sum || op_ == Op::CumulativeSum) combine_ = scalar_function(Op::Add, dtype_, dtype_);
    if (op_ == Op::Prod || op_ == Op::CumulativeProd) combine_ = scalar_function(Op::Multiply, dtype_, dtype_);
    if (op_ == Op::Min || op_ == Op::CumulativeMin) combine_ = scalar_function(Op::Minimum, dtype_, dtype_);
    if (op_ == Op::Max || op_ == Op::CumulativeMax) combine_ = scalar_function(Op::Maximum, dtype_, dtype_);
  }

  /// The result of no element. Moments of nothing give 0 / 0 later; recording refuses the others.
  [[nodiscard]] Part identity() const {
    Part p;
    if (op_ != Op::Prod) return p;
    if (dtype_ == Dtype::Float32)
      put(p.a, 1.0f);
    else if (dtype_ == Dtype::Float64)
      put(p.a, 1.0);
    else
      put<std::int64_t>(p.a, 1);
    return p;
  }

  /// The lane state after its first element, k: y, or mean and m2.
  [[nodiscard]] Part first(const Cell& y, const Cell& m2, std::int64_t k) const {
    Part p;
    p.a = y;
    p.count = 1;
    if (graph::is_arg_reduce(op_)) put<std::int64_t>(p.b, k);
    if (op_ == Op::MomentsMerge) {
      p.b = m2;
      p.count = weight_;
    }
    return p;
  }
  [[nodiscard]] Part step(const Part& lane, const Cell& y, const Cell& m2, std::int64_t k) const {
    if (op_ == Op::Moments)
      return dtype_ == Dtype::Float32 ? step_moments<float>(lane, y) : step_moments<double>(lane, y);
    return combine(lane, first(y, m2, k));
  }
  [[nodiscard]] Part combine(const Part& a, const Part& b) const {
    if (graph::is_arg_reduce(op_)) return better(op_, dtype_, a, b);
    if (!combine_) return dtype_ == Dtype::Float32 ? merge_moments<float>(a, b) : merge_moments<double>(a, b);
    Part out;
    combine_(out.a.bytes, a.a.bytes, b.a.bytes, nullptr);
    out.count = a.count + b.count;
    return out;
  }
  /// Output number `output` of the reduction.
  [[nodiscard]] const Cell& result(const Part& p, std::uint32_t output) const {
    return output == 1 || graph::is_arg_reduce(op_) ? p.b : p.a;
  }

 private:
  Op op_;
  Dtype dtype_;
  std::int64_t weight_;
  ScalarFunction combine_ = nullptr;
};

/// The blocks of tree R as they arrive: a binary counter of aligned subtrees, folded from the right at the end.
class Tree {
 public:
  explicit Tree(const Reducer& r) : r_(r) {}
  void push(Part block) {
    std::int64_t n = ++blocks_;
    for (; n % 2 == 0; n /= 2) {
      block = r_.combine(stack_.back(), block);
      stack_.pop_back();
    }
    stack_.push_back(block);
  }
  [[nodiscard]] Part fold() const {
    Part out = stack_.back();
    for (std::size_t i = stack_.size() - 1; i-- > 0;) out = r_.combine(stack_[i], out);
    return out;
  }

 private:
  const Reducer& r_;
  std::int64_t blocks_ = 0;
  std::vector<Part> stack_;
};

/// The first `present` lanes of a block.
inline Part combine_lanes(const Reducer& r, Part (&lanes)[kLanes], std::int64_t present) {
  for (std::int64_t d = kLanes / 2; d > 0; d /= 2) {
    for (std::int64_t l = 0; l < d && l + d < present; ++l) lanes[l] = r.combine(lanes[l], lanes[l + d]);
    present = std::min(present, d);
  }
  return lanes[0];
}

/// A column of more than 32 elements that come one by one.
class Column {
 public:
  explicit Column(const Reducer& r) : r_(r), blocks_(r) {}
  void take(const Cell& y, const Cell& m2) {
    const std::int64_t in_block = k_ % kBlock;
    Part& lane = lanes_[in_block % kLanes];
    lane = in_block < kLanes ? r_.first(y, m2, k_) : r_.step(lane, y, m2, k_);
    if (++k_ % kBlock == 0) blocks_.push(combine_lanes(r_, lanes_, kLanes));
  }
  [[nodiscard]] Part fold() {
    if (const std::int64_t rest = k_ % kBlock; rest != 0)
      blocks_.push(combine_lanes(r_, lanes_, std::min<std::int64_t>(rest, kLanes)));
    k_ += kBlock - 1 - (k_ + kBlock - 1) % kBlock;  // the last block is done
    return blocks_.fold();
  }

 private:
  const Reducer& r_;
  Tree blocks_;
  Part lanes_[kLanes];
  std::int64_t k_ = 0;
};

}  // namespace tarry::codegen
