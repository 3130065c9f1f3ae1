// Selections: x(mask) before anybody asks how many elements that is.
//
// Elementwise operations of selections by one mask are selections. A selection that goes back through its mask, and a
// reduction whose order changes no bit, use all elements beside the mask, so nothing waits. Everything else settles a
// selection: the mask is evaluated, and the array of the true elements takes its place, once for all handles. The bits
// are the same either way (docs/reference/numerics.md, "Masks").
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <span>

#include <tarry/reduce.h>

#include "graph/record/record.h"

namespace tarry::graph {

/// All elements, and over their first axes the mask of those that are selected.
struct Masked {
  Edge all;
  Edge mask;
};

/// How the elements are made once their number is wanted.
class Selection {
 public:
  /// The elements of `masked`. Otherwise those of an op, or of a cast to `dtype`, of arguments with selections among
  /// them.
  explicit Selection(Masked masked) : masked_(std::move(masked)) {}
  Selection(Masked masked, Op op, Dtype dtype, std::span<const Argument> arguments);

  /// Nothing once it is settled.
  std::optional<Masked> masked();
  /// The array of the elements, for the node that stands for them. Waits the first time.
  Edge elements(const Node& of);
  [[nodiscard]] bool is_settled() { return !masked(); }
  /// Operations one after the other that it consists of.
  [[nodiscard]] int steps() const { return steps_; }

 private:
  [[nodiscard]] Edge made(const Node& of, const Masked& masked, std::span<const Argument> arguments) const;

  Op op_ = Op::Selection;
  Dtype dtype_{};
  int count_ = 0, steps_ = 0;
  Context context_ = context();
  std::mutex mutex_;
  Masked masked_;                      // guarded by mutex_, and dropped once it is settled
  std::array<Argument, 3> arguments_;  // so are these
  Edge elements_;                      // guarded by mutex_
};

/// The elements and the mask that a node of this kind stands for, unless it is settled.
std::optional<Masked> masked_of(const Edge& x);
/// The elements of x where `mask`, over its first axes, is true.
Edge record_selection(const Edge& x, const Edge& mask, Where where);
/// An elementwise op, or a cast, of arguments with a selection among them.
Edge record_selected(Op op, std::span<Argument> arguments, Where where);
Edge record_selected_cast(const Edge& x, Dtype dtype, Where where);
/// All elements that go into an array of `shape` where v is a selection of them by the same mask; else nothing.
std::optional<Edge> all_for(const Operand& v, const Edge& mask, std::span<const std::int64_t> shape);
/// True if both are selections by the same mask, with the same axes behind it.
bool select_alike(const Edge& a, const Edge& b);
/// A selection whose first axis a reduction goes over, with the axes that this means among all elements.
struct MaskedAxes {
  Masked masked;
  Axes axes;
  /// The elements, in `dtype`, where the mask is true, `otherwise` elsewhere.
  [[nodiscard]] Edge filled(Edge elements, Scalar otherwise, Where where) const;
};
std::optional<MaskedAxes> masked_axes(const Array& x, const Axes& axes, const ReduceOptions& options);

}  // namespace tarry::graph
