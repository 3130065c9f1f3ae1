// Bodies of loops that mix the elements of small axes, element by element: what they compute is elementwise then over
// the other axes, the lanes, so that the loop is one kernel.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/record/body.h"
#include "graph/record/element_form.h"
#include "graph/record/element_ops.h"

namespace tarry::graph {

class Components {
 public:
  /// The lanes are the first `lanes` axes of what a body was given.
  Components(const Body& body, std::span<const Edge> given, int lanes, Where where);

  /// False where lanes are mixed, there are too many elements, or an operation has no such form.
  [[nodiscard]] bool fits() const { return fits_; }
  /// True if the lanes of a result are its first axes, as those of what the body was given are.
  [[nodiscard]] bool leads(const Edge& result) const;
  /// How many elements a result has.
  [[nodiscard]] std::size_t count(const Edge& result) const { return form_of(*result.node())->count(); }
  /// The elements of x, each over the lanes. Axis `levels` of x, if there is one, comes before the lanes.
  [[nodiscard]] std::vector<Edge> cut(const Edge& x, int levels = -1) const;
  /// The elements of each result where `values[i]` are those of `given[i]`.
  [[nodiscard]] std::vector<std::vector<Edge>> with(std::span<const std::vector<Edge>> values) const;
  /// The array of which these are the elements of a result. An axis of levels in front of theirs goes to `levels`.
  [[nodiscard]] Edge joined(const Edge& result, std::span<const Edge> elements, int levels = -1) const;

 private:
  using Form = ElementForm;
  using Made = std::unordered_map<const Node*, Elements>;  ///< one output after the other

  [[nodiscard]] const Form* form_of(const Node& n) const;
  bool add(const Node& n);
  bool find_form(const Node& n, Form& form);
  bool find_map(const Node& n, Form& form) const;
  bool find_view(const Node& n, Form& form) const;
  bool find_update(const Node& n, Form& form) const;
  bool find_gather(const Node& n, Form& form);
  bool find_row(const Node& n, Form& form);
  bool find_matmul(const Node& n, Form& form);
  bool find_matrices(const Node& n, Form& form);
  [[nodiscard]] bool take_lanes(const Node& n, Form& form) const;

  [[nodiscard]] Elements make(const Node& n, const Made& made) const;
  [[nodiscard]] Edge element(const Node& n, int input, const Dims& at, const Form& form, const Made& made) const;
  [[nodiscard]] Edge outside(const Edge& x, const Dims& at, const Form& form, int lanes) const;
  [[nodiscard]] Edge mapped_at(const Node& n, const Dims& at, const Form& form, const Made& made) const;
  [[nodiscard]] Edge viewed_at(const Node& n, const Dims& at, const Made& made) const;
  [[nodiscard]] Edge updated_at(const Node& n, const Dims& at, const Form& form, const Made& made) const;
  [[nodiscard]] Edge gathered_at(const Node& n, const Dims& at, const Form& form, const Made& made) const;
  [[nodiscard]] Edge multiplied_at(const Node& n, const Dims& at, const Form& form, const Made& made) const;
  [[nodiscard]] Elements rows(const Node& n, const Form& form, const Made& made) const;
  [[nodiscard]] Elements matrices(const Node& n, const Form& form, const Made& made) const;

  const Body& body_;
  const std::span<const Edge> given_;
  const int lanes_;
  const Where where_;
  Dims extents_;  // of the lanes
  std::unordered_map<const Node*, Form> forms_;
  std::size_t operations_ = 0;  // of elements
  bool fits_ = false;
};

}  // namespace tarry::graph
