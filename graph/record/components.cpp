// Components: which axes of each value are lanes, then the operations of single elements.
#include "graph/record/components.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/record/join.h"
#include "graph/record/parts.h"
#include "graph/record/reductions.h"
#include "graph/record/small_matrices.h"
#include "graph/record/small_rows.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr std::size_t kMostElements = 64;      // of a value
constexpr std::size_t kMostOperations = 4096;  // of a level
constexpr std::int64_t kMostSummed = 32;       // terms of a sum, and places of which one is read
constexpr std::size_t kOfConversion = 8;       // operations that one of a 16-bit float takes
constexpr int kNone = -1, kSmall = ElementForm::kSmall;

bool is_few(std::size_t elements) { return elements > 0 && elements <= kMostElements; }

std::int64_t extent(const Node& n, int axis) { return n.shape()[static_cast<std::size_t>(axis)]; }

}  // namespace

Components::Components(const Body& body, std::span<const Edge> given, int lanes, Where where)
    : body_(body), given_(given), lanes_(lanes), where_(where) {
  for (int d = 0; d < lanes; ++d) extents_.push_back(given.empty() ? 0 : extent(*given.front().node(), d));
  for (const Edge& e : given) {
    const std::span<const std::int64_t> shape = e.node()->shape();
    Form form = Form::of(shape);
    for (int d = 0; d < lanes; ++d) {
      if (d >= form.rank() || shape[static_cast<std::size_t>(d)] != extents_[d]) return;
      form[d] = {{extents_[d], d}};
    }
    if (!is_few(form.count())) return;
    forms_.emplace(e.node(), form);
  }
  for (const Node* n : body.order())
    if (body.varies(n) && !body.is_given(*n) && !add(*n)) return;
  fits_ = std::ranges::all_of(body.results(), [&](const Edge& e) { return form_of(*e.node()) != nullptr; });
}

bool Components::leads(const Edge& result) const {
  const Form& form = *form_of(*result.node());
  for (int d = 0; d < lanes_; ++d)
    if (form[d] != Form::Parts{{extents_[d], d}}) return false;
  return true;
}

const Components::Form* Components::form_of(const Node& n) const {
  const auto found = forms_.find(&n);
  return found == forms_.end() ? nullptr : &found->second;
}

bool Components::add(const Node& n) {
  Form form = Form::of(n.shape());
  if (!find_form(n, form) || !form.fits(n.shape(), lanes_)) return false;
  operations_ += info(n.op).op_class == OpClass::Map ? form.count() : 0;
  if (!is_few(form.count()) || operations_ > kMostOperations) return false;
  forms_.emplace(&n, std::move(form));
  return true;
}

/// Puts lanes into the form of a result, whose axes are small.
bool Components::find_form(const Node& n, Form& form) {
  switch (info(n.op).op_class) {
    case OpClass::Map: return is_pure(n.op) && find_map(n, form);
    case OpClass::View: return find_view(n, form);
    case OpClass::Update: return find_update(n, form);
    case OpClass::Gather: return find_gather(n, form);
    case OpClass::Reshape: {
      std::optional<Form> other = form_of(*n.input(0))->reshaped(n.shape());
      if (other) form = *std::move(other);
      return other.has_value();
    }
    default:
      if (has_row_form(n)) return find_row(n, form);
      return n.op == Op::Matmul ? find_matmul(n, form) : has_matrix_form(n.op) && find_matrices(n, form);
  }
}

/// Takes over the lanes of inputs, axis by axis.
bool Components::take_lanes(const Node& n, Form& form) const {
  for (int i = 0; i < n.n_inputs; ++i) {
    const Form* const from = form_of(*n.input(i));
    for (int d = 0; from != nullptr && d < form.rank(); ++d) {
      if (!from->has_lane(d)) continue;
      if (form.has_lane(d) && form[d] != (*from)[d]) return false;
      form[d] = (*from)[d];
    }
  }
  return true;
}

bool Components::find_map(const Node& n, Form& form) const {
  for (int i = 0; i < n.n_inputs; ++i) {
    const Form* const from = form_of(*n.input(i));
    for (int d = 0; from != nullptr && d < from->rank(); ++d) {
      Form::Parts& parts = form[d + n.rank - from->rank()];
      if (!from->has_lane(d)) continue;
      if (form.has_lane(d + n.rank - from->rank()) && parts != (*from)[d]) return false;
      parts = (*from)[d];
    }
  }
  return true;
}

bool Components::find_view(const Node& n, Form& form) const {
  const IndexMap map = decode_view(n.attributes());
  const Form& from = *form_of(*n.input(0));
  for (int d = 0; d < from.rank(); ++d) {
    if (!from.has_lane(d)) continue;
    if (map[d].axis < 0 || map[d].start != 0 || map[d].step != 1) return false;
    form[map[d].axis] = from[d];
  }
  for (int d = 0; d < from.rank(); ++d)
    if (!from.has_lane(d) && map[d].axis >= 0 && form.has_lane(map[d].axis)) return false;
  return true;
}

bool Components::find_update(const Node& n, Form& form) const {
  const UpdateAttributes place = decode_update(n.attributes());
  if (!take_lanes(n, form)) return false;
  for (int d = 0; d < n.rank; ++d)
    if (form.has_lane(d) && (place.start[d] != 0 || place.step[d] != 1 || extent(*n.input(1), d) != extent(n, d)))
      return false;
  return true;
}

bool Components::find_gather(const Node& n, Form& form) {
  const int axis = decode_iota(n.attributes()).axis;
  const std::int64_t places = extent(*n.input(0), axis);
  if (!take_lanes(n, form) || form.has_lane(axis) || places > kMostSummed) return false;
  operations_ += 2 * static_cast<std::size_t>(places - 1) * form.count();
  return true;
}

bool Components::find_row(const Node& n, Form& form) {
  const int axis = row_axis(n);
  const auto length = static_cast<std::size_t>(extent(*n.input(0), axis));
  Form from = Form::of(n.input(0)->shape());
  if (!take_lanes(n, from) || from.has_lane(axis)) return false;
  const std::size_t rows = from.count() / length;
  if (info(n.op).op_class == OpClass::Reduce) from.axes.erase(from.axes.begin() + axis);
  form = std::move(from);
  ElementOps counted(given_.front());
  (void)row_elements(counted, n, std::vector(n.n_inputs, Elements(length, given_.front())));
  operations_ += rows * counted.count();
  return true;
}

bool Components::find_matmul(const Node& n, Form& form) {
  const std::int64_t sum = extent(*n.input(0), 2);
  for (int i = 0; i < 2; ++i) {
    const Form* const from = form_of(*n.input(i));
    const int kept = i + 1, summed = 2 - i;
    if (from == nullptr) continue;
    if (from->has_lane(summed) || (form.has_lane(0) && from->has_lane(0) && form[0] != (*from)[0])) return false;
    for (const int d : {0, kept})
      if (from->has_lane(d)) form[d] = (*from)[d];
  }
  if (sum < 1 || sum > kMostSummed) return false;
  const std::size_t of_term = itemsize(n.dtype) < 4 ? 2 + 2 * kOfConversion : 2;
  operations_ += of_term * static_cast<std::size_t>(sum) * form.count();
  return true;
}

bool Components::find_matrices(const Node& n, Form& form) {
  const auto size = [&](int i) { return static_cast<std::size_t>(extent(*n.input(i), 1) * extent(*n.input(i), 2)); };
  if (!take_lanes(n, form)) return false;
  for (int d = 1; d < n.rank; ++d)
    if (form.has_lane(d)) return false;
  const std::size_t right = n.op == Op::Solve ? size(1) : 0;
  if (!is_few(size(0)) || right > kMostElements) return false;
  ElementOps counted(given_.front());
  (void)matrix_elements(counted, n, Elements(size(0), given_.front()), Elements(right, given_.front()));
  operations_ += static_cast<std::size_t>(form.extent(0)) * counted.count();
  return true;
}

/// x at a place, over the lanes that it has.
Edge Components::outside(const Edge& x, const Dims& at, const Form& form, int lanes) const {
  if (form.rank() == 0) return x;
  IndexMap map;
  Dims split, shape = Dims::filled(lanes, 1);
  bool none = true;
  for (int d = 0; d < form.rank(); ++d) {
    std::int64_t behind = form.extent(d);
    if (form[d].empty()) {
      split.push_back(1);
      map.push_back({kNone, 0, 0});
    }
    for (const Form::Part& p : form[d]) {
      split.push_back(p.extent);
      if (p.lane == kSmall) {
        behind /= p.extent;
        map.push_back({kNone, at[d] / behind % p.extent, 0});
      } else {
        map.push_back({p.lane, 0, 1});
        shape[p.lane] = p.extent;
        none = false;
      }
    }
  }
  const Edge parts = record_reshape(x, split.span(), where_);
  return record_view(parts, map, none ? std::span<const std::int64_t>() : shape.span(), where_);
}

std::vector<Edge> Components::cut(const Edge& x, int levels) const {
  Form form = Form::of(x.node()->shape());
  const int lead = levels < 0 ? 0 : 1;
  if (levels >= 0) form[levels] = {{extent(*x.node(), levels), 0}};
  for (int j = 0; j < lanes_; ++j) {
    const int axis = levels >= 0 && j >= levels ? j + 1 : j;
    form[axis] = {{extent(*x.node(), axis), j + lead}};
  }
  std::vector<Edge> all;
  for (const Dims& at : form.places()) all.push_back(outside(x, at, form, lanes_ + lead));
  return all;
}

/// An input at a place; one from outside is aligned to the last axes of `form`.
Edge Components::element(const Node& n, int input, const Dims& at, const Form& form, const Made& made) const {
  const Node& from = *n.input(input);
  if (const Form* const own = form_of(from))
    return made.at(&from)[n.input_output(input) * own->count() + own->number(at)];
  Form own = Form::of(from.shape());
  for (int d = 0; d < from.rank; ++d) {
    const int axis = d + form.rank() - from.rank;
    if (extent(from, d) != 1 && form.has_lane(axis)) own[d] = form[axis];
  }
  retain(n.input(input));
  return outside(Edge(n.input(input), n.input_output(input)), at, own, lanes_);
}

Edge Components::mapped_at(const Node& n, const Dims& at, const Form& form, const Made& made) const {
  std::vector<Edge> inputs;
  for (int i = 0; i < n.n_inputs; ++i) {
    const Node& from = *n.input(i);
    Dims own;
    for (int d = 0; d < from.rank; ++d) own.push_back(extent(from, d) == 1 ? 0 : at[d + n.rank - from.rank]);
    inputs.push_back(element(n, i, own, form, made));
  }
  return ElementOps(n, where_).same(inputs);
}

Edge Components::viewed_at(const Node& n, const Dims& at, const Made& made) const {
  const IndexMap map = decode_view(n.attributes());
  Dims own;
  for (int d = 0; d < n.input(0)->rank; ++d)
    own.push_back(map[d].start + (map[d].axis < 0 ? 0 : map[d].step * at[map[d].axis]));
  return element(n, 0, own, {}, made);
}

Edge Components::updated_at(const Node& n, const Dims& at, const Form& form, const Made& made) const {
  const UpdateAttributes place = decode_update(n.attributes());
  Dims inside;
  for (int d = 0; d < n.rank; ++d) {
    const std::int64_t offset = at[d] - place.start[d], number = offset / place.step[d];
    if (offset % place.step[d] != 0 || number < 0 || number >= extent(*n.input(1), d)) {
      return element(n, 0, at, form, made);
    }
    inside.push_back(number);
  }
  return element(n, 1, inside, form, made);
}

Edge Components::gathered_at(const Node& n, const Dims& at, const Form& form, const Made& made) const {
  const int axis = decode_iota(n.attributes()).axis;
  ElementOps ops(n, where_);
  const Edge place = element(n, 1, at, form, made);
  Edge result;
  for (std::int64_t k = 0; k < extent(*n.input(0), axis); ++k) {
    Dims own = at;
    own[axis] = k;
    const Edge next = element(n, 0, own, form, made);
    result = result ? ops.chosen(ops(Op::Equal, {place, ops.number(k, int64)}), next, result) : next;
  }
  return result;
}

Edge Components::multiplied_at(const Node& n, const Dims& at, const Form& form, const Made& made) const {
  const Node &a = *n.input(0), &b = *n.input(1);
  const Form left_form{{form[0], form[1], {}}}, right_form{{form[0], {}, form[2]}};
  ElementOps ops(n, where_);
  const Dtype wide = float_for_computing(n.dtype);
  Edge result;
  for (std::int64_t k = 0; k < extent(a, 2); ++k) {
    const Edge left = element(n, 0, Dims{extent(a, 0) == 1 ? 0 : at[0], at[1], k}, left_form, made);
    const Edge right = element(n, 1, Dims{extent(b, 0) == 1 ? 0 : at[0], k, at[2]}, right_form, made);
    const Edge product = ops(Op::Multiply, {ops.cast(left, wide), ops.cast(right, wide)});
    result = result ? ops(Op::Add, {result, product}) : product;
  }
  return ops.cast(result, n.dtype);
}

Elements Components::rows(const Node& n, const Form& form, const Made& made) const {
  const int axis = row_axis(n);
  const bool reduces = info(n.op).op_class == OpClass::Reduce;
  ElementOps ops(n, where_);
  Elements all(static_cast<std::size_t>(output_count(n.op)) * form.count());
  for (Dims at : form.places()) {
    if (!reduces && at[axis] != 0) continue;
    std::vector<Elements> inputs(n.n_inputs);
    for (int i = 0; i < n.n_inputs; ++i) {
      Dims own = at;
      if (reduces) own.insert(axis, 0);
      for (; own[axis] < extent(*n.input(i), axis); ++own[axis])
        inputs[static_cast<std::size_t>(i)].push_back(element(n, i, own, {}, made));
    }
    const Elements results = row_elements(ops, n, inputs);
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!reduces) at[axis] = static_cast<std::int64_t>(k);
      all[(reduces ? k * form.count() : 0) + form.number(at)] = results[k];
    }
  }
  return all;
}

/// One matrix after the other.
Elements Components::matrices(const Node& n, const Form& form, const Made& made) const {
  ElementOps ops(n, where_);
  Elements all;
  for (std::int64_t p = 0; p < form.extent(0); ++p) {
    Elements inputs[2];
    for (int i = 0; i < n.n_inputs; ++i)
      for (std::int64_t r = 0; r < extent(*n.input(i), 1); ++r)
        for (std::int64_t c = 0; c < extent(*n.input(i), 2); ++c)
          inputs[i].push_back(element(n, i, Dims{p, r, c}, form, made));
    for (const Edge& e : matrix_elements(ops, n, inputs[0], inputs[1])) all.push_back(e);
  }
  return all;
}

Elements Components::make(const Node& n, const Made& made) const {
  const Form& form = *form_of(n);
  if (info(n.op).op_class == OpClass::Reshape) {  // in the same order, though lanes may stand elsewhere
    const Elements& from = made.at(n.input(0));
    TARRY_ASSERT(form_of(*n.input(0))->count() == form.count());
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(n.input_output(0) * form.count());
    return {first, first + static_cast<std::ptrdiff_t>(form.count())};
  }
  if (has_row_form(n)) return rows(n, form, made);
  if (has_matrix_form(n.op)) return matrices(n, form, made);
  Elements all;
  for (const Dims& at : form.places()) {
    switch (info(n.op).op_class) {
      case OpClass::Map: all.push_back(mapped_at(n, at, form, made)); break;
      case OpClass::View: all.push_back(viewed_at(n, at, made)); break;
      case OpClass::Update: all.push_back(updated_at(n, at, form, made)); break;
      case OpClass::Gather: all.push_back(gathered_at(n, at, form, made)); break;
      default: all.push_back(multiplied_at(n, at, form, made));
    }
  }
  return all;
}

std::vector<std::vector<Edge>> Components::with(std::span<const std::vector<Edge>> values) const {
  Made made;
  for (std::size_t i = 0; i < given_.size(); ++i) made.emplace(given_[i].node(), values[i]);
  for (const Node* n : body_.order())
    if (body_.varies(n) && !body_.is_given(*n)) made.emplace(n, make(*n, made));
  std::vector<std::vector<Edge>> results;
  for (const Edge& e : body_.results()) {
    const Elements& all = made.at(e.node());
    const std::size_t size = count(e), first = e.output() * size;
    Elements elements;
    for (std::size_t k = first; k < first + size; ++k) elements.push_back(to_shape(all[k], extents_.span(), where_));
    results.push_back(std::move(elements));
  }
  return results;
}

Edge Components::joined(const Edge& result, std::span<const Edge> elements, int levels) const {
  const Form& form = *form_of(*result.node());
  const int lead = levels < 0 ? 0 : 1, first = lanes_ + lead;
  std::vector<Edge> parts;
  for (const Edge& e : elements) parts.push_back(with_axis(e, first, where_));
  Edge whole = concatenated("stack", parts, first, where_);
  // Small parts behind the lanes, then all parts in order, then axes.
  Dims small(whole.node()->shape()), shape(result.node()->shape());
  small.erase(first);
  std::vector<int> order;
  int levels_at = 0;
  for (int d = 0; d < form.rank(); ++d) {
    if (d == levels) levels_at = static_cast<int>(order.size());
    for (const Form::Part& p : form[d]) {
      order.push_back(p.lane == kSmall ? small.size() : lead + p.lane);
      if (p.lane == kSmall) small.push_back(p.extent);
    }
  }
  if (levels == form.rank()) levels_at = static_cast<int>(order.size());
  if (levels >= 0) {
    order.insert(order.begin() + levels_at, 0);
    shape.insert(levels, whole.node()->shape()[0]);
  }
  whole = arranged(record_reshape(whole, small.span(), where_), order, where_);
  return record_reshape(whole, shape.span(), where_);
}

}  // namespace tarry::graph
