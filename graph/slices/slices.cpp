// Boxes backwards through the graph, then nodes forwards.
#include "graph/slices/slices.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "graph/slices/chunking.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr std::int64_t kPage = 4096;      // of memory, at least
constexpr std::int64_t kScanBlock = 128;  // elements of a block of a scan

/// A part of a buffer, which it keeps alive. Nothing writes it.
class PartBuffer final : public Buffer {
 public:
  PartBuffer(std::shared_ptr<Buffer> whole, std::size_t from, std::size_t size)
      : Buffer(whole->device, Owner::Borrowed, static_cast<std::byte*>(whole->data) + from, size),
        whole_(std::move(whole)),
        from_(from) {
    last_write = whole_->last_write;
  }
  void read(std::size_t at, std::size_t count, void* to) const override { whole_->read(from_ + at, count, to); }

 private:
  const std::shared_ptr<Buffer> whole_;
  const std::size_t from_;
};

double volume(const Box& b) {
  double v = 1;
  for (const std::int64_t e : b.extent) v *= static_cast<double>(e);
  return v;
}

Box hull(const Box& a, const Box& b) {
  Box h = a;
  for (int d = 0; d < h.lo.size(); ++d) {
    const std::int64_t end = std::max(a.lo[d] + a.extent[d], b.lo[d] + b.extent[d]);
    h.lo[d] = std::min(a.lo[d], b.lo[d]);
    h.extent[d] = end - h.lo[d];
  }
  return h;
}

/// Adds a box; those that (nearly) fill a box together become that.
void add(std::vector<Box>& boxes, Box box) {
  constexpr double kWaste = 1.25;
  for (std::size_t i = 0; i < boxes.size();) {
    if (boxes[i].contains(box)) return;
    const Box both = hull(boxes[i], box);
    if (volume(both) > kWaste * (volume(boxes[i]) + volume(box))) {
      ++i;
      continue;
    }
    box = both;
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  boxes.push_back(std::move(box));
}

/// The elements of one value of the leading axis.
std::int64_t row_elements(const Dims& shape) {
  std::int64_t count = 1;
  for (int d = leading_axis(shape) + 1; d < shape.size(); ++d) count *= shape[d];
  return count;
}

struct NumberRange {
  std::int64_t from = 0, to = 0;
};

/// Numbers, in row-major order, of the first element of a box and behind its last one.
NumberRange numbers(const Dims& shape, const Box& box) {
  const Dims strides = row_major_strides(shape.span());
  NumberRange r{0, 1};
  for (int d = 0; d < shape.size(); ++d) {
    r.from += box.lo[d] * strides[d];
    r.to += (box.lo[d] + box.extent[d] - 1) * strides[d];
  }
  return r;
}

/// Whole rows of the leading axis that hold these elements.
Box rows_of(const Dims& shape, NumberRange r) {
  const std::int64_t row = row_elements(shape);
  if (shape.empty()) return Box::whole(shape);
  return Box::whole(shape).along(leading_axis(shape), r.from / row, (r.to + row - 1) / row);
}

/// Elements i of an update's value along one axis whose places lo <= start + i * step < hi.
NumberRange written(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t lo, std::int64_t hi) {
  const auto at_least = [](std::int64_t a, std::int64_t b) {
    return a <= 0 ? 0 : (a + b - 1) / b;
  };  // ceil(a / b), b > 0
  if (step > 0) return {at_least(lo - start, step), std::min(count, at_least(hi - start, step))};
  return {at_least(start - hi + 1, -step), std::min(count, at_least(start - lo + 1, -step))};
}

}  // namespace

std::vector<SliceRequest> whole_roots(const Graph& g) {
  std::vector<SliceRequest> all;
  for (const GraphEdge& r : g.roots) all.push_back({r, Box::whole(g.shape(r.node))});
  return all;
}

int leading_axis(const Dims& shape) {
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) return d;
  return 0;
}

Box Box::along(int axis, std::int64_t from, std::int64_t to) const {
  Box b = *this;
  b.lo[axis] = from;
  b.extent[axis] = to - from;
  return b;
}

bool Box::contains(const Box& other) const {
  for (int d = 0; d < lo.size(); ++d)
    if (other.lo[d] < lo[d] || other.lo[d] + other.extent[d] > lo[d] + extent[d]) return false;
  return true;
}

/// State of one call of slice().
struct Slicer::Pass {
  std::vector<std::vector<Box>> boxes;  ///< by node
  std::vector<std::vector<Made>> made;  ///< by node, in the order of its boxes
  std::vector<LeafPart> parts;
  std::vector<Edge> inputs;
};

Slicer::Slicer(const Graph& g, std::vector<std::shared_ptr<Storage>> leaves, std::vector<ScalarCell> cells,
               Device device)
    : g_(g), leaves_(std::move(leaves)), cells_(std::move(cells)), device_(device), whole_(g.nodes.size()) {}

void Slicer::know(GraphEdge edge, Edge value) { known_[{edge.node, edge.output}] = std::move(value); }

/// Nothing is asked of its inputs.
bool Slicer::is_source(NodeId id) const {
  if (g_.nodes[id].op == Op::LoopLevel) return false;  // it is recorded again, not read
  return g_.nodes[id].n_inputs == 0 || known_.contains({id, 0});
}

/// The box that is computed where `box` is asked for.
Box Slicer::normalised(NodeId id, Box box) const {
  const GraphNode& n = g_.nodes[id];
  const Dims& shape = g_.shape(id);
  if (is_source(id)) {  // rows of memory stay whole unless few of their elements are read
    for (int d = 0; d < shape.size(); ++d)
      if (2 * box.extent[d] >= shape[d]) box = box.along(d, 0, shape[d]);
    return box;
  }
  switch (info(n.op).op_class) {
    case OpClass::Reshape: return g_.count(id) == 0 ? Box::whole(shape) : rows_of(shape, numbers(shape, box));
    case OpClass::Scan: {
      const int axis = g_.reduces[n.payload].axis;
      const auto carried = carried_.find(id);
      if (carried == carried_.end()) return box.along(axis, 0, shape[axis]);
      return box.along(axis, carried->second.from, box.lo[axis] + box.extent[axis]);
    }
    case OpClass::Library:
    case OpClass::Loop: return Box::whole(shape);
    case OpClass::Routine: {
      const int last = shape.size() - 1;
      if (is_sort(n.op)) return box.along(last, 0, shape[last]);
      if (n.op == Op::Searchsorted) return box;
      // Parts that are apart from each other: matrices, rows that are folded, columns of rows that are written.
      const int apart = is_matrices(n.op) || is_segments(n.op) ? 0 : is_scatter(n.op) ? 1 : -1;
      if (apart < 0) return Box::whole(shape);
      return Box::whole(shape).along(apart, box.lo[apart], box.lo[apart] + box.extent[apart]);
    }
    default: return box;
  }
}

/// The box of an input that a box of node `id` is computed from; false where it needs none.
bool Slicer::needs(NodeId id, const Box& box, int input, Box& needed) const {
  const GraphNode& n = g_.nodes[id];
  const Dims& source = g_.shape(n.inputs[input].node);
  needed = Box::whole(source);
  switch (info(n.op).op_class) {
    case OpClass::Map:
      for (int d = 0, lead = box.lo.size() - source.size(); d < source.size(); ++d)
        if (source[d] != 1) needed = needed.along(d, box.lo[d + lead], box.lo[d + lead] + box.extent[d + lead]);
      return true;
    case OpClass::View: {
      const IndexMap& map = g_.views[n.payload];
      for (int d = 0; d < source.size(); ++d) {
        const AxisMap& m = map[d];
        if (m.axis >= 0 && box.extent[m.axis] == 0) {
          needed = needed.along(d, 0, 0);
          continue;
        }
        const std::int64_t first = m.start + (m.axis < 0 ? 0 : m.step * box.lo[m.axis]);
        const std::int64_t last = m.axis < 0 ? first : first + m.step * (box.extent[m.axis] - 1);
        needed = needed.along(d, std::min(first, last), std::max(first, last) + 1);
      }
      return true;
    }
    case OpClass::Reshape:
      if (g_.count(id) > 0) needed = rows_of(source, numbers(g_.shape(id), box));
      return true;
    case OpClass::Update: {
      if (input == 0) {
        needed = box;
        return true;
      }
      const UpdateAttributes& u = g_.updates[n.payload];
      for (int d = 0; d < source.size(); ++d) {
        const NumberRange r = written(u.start[d], u.step[d], source[d], box.lo[d], box.lo[d] + box.extent[d]);
        if (r.from >= r.to) return false;
        needed = needed.along(d, r.from, r.to);
      }
      return true;
    }
    case OpClass::Reduce: {
      const int axis = g_.reduces[n.payload].axis;
      for (int d = 0; d < box.lo.size(); ++d)
        needed = needed.along(d < axis ? d : d + 1, box.lo[d], box.lo[d] + box.extent[d]);
      return true;
    }
    case OpClass::Scan: needed = box; return true;
    case OpClass::Gather: {  // any place along the axis
      const auto axis = static_cast<int>(n.payload);
      needed = input == 1 ? box : box.along(axis, 0, source[axis]);
      return true;
    }
    case OpClass::Routine:
      if (is_sort(n.op) || (n.op == Op::Searchsorted && input == 1)) needed = box;
      if (is_matrices(n.op) || (is_segments(n.op) && input == 0))
        needed = needed.along(0, box.lo[0], box.lo[0] + box.extent[0]);
      if (is_scatter(n.op) && input != 1) needed = needed.along(1, box.lo[1], box.lo[1] + box.extent[1]);
      return true;
    default: return true;  // of a library's operands everything
  }
}

Edge Slicer::node(const GraphNode& like, Op op, Dtype dtype, const Dims& shape, std::span<const Edge> inputs,
                  const AttributeBytes& attributes) const {
  return make_node({.op = op,
                    .dtype = dtype,
                    .mode = like.mode,
                    .device = device_,
                    .shape = shape.span(),
                    .attributes = attributes.empty() ? nullptr : &attributes,
                    .cell = {},
                    .where = like.where()},
                   inputs);
}

Edge Slicer::number(const GraphNode& like, Dtype dtype, const ScalarCell& cell) const {
  const AttributeBytes opaque = kOpaque;
  return make_node({.op = Op::Scalar,
                    .dtype = dtype,
                    .mode = like.mode,
                    .device = device_,
                    .shape = {},
                    .attributes = &opaque,
                    .cell = cell,
                    .where = like.where()},
                   {});
}

Edge Slicer::view(const GraphNode& like, const Edge& x, const IndexMap& map, const Dims& shape) const {
  return node(like, Op::View, like.dtype, shape, {&x, 1}, encode(map));
}

Edge Slicer::reshaped(const GraphNode& like, const Edge& x, const Dims& shape) const {
  return Dims(x.node()->shape()) == shape ? x : node(like, Op::Reshape, like.dtype, shape, {&x, 1});
}

/// The bytes that hold a box of a leaf, from an address that is aligned relative to the buffer's.
LeafPart Slicer::bytes_of(const GraphNode& n, const Storage& storage, const Box& box) {
  const auto size = static_cast<std::int64_t>(itemsize(n.dtype));
  const std::int64_t count = element_count(box.extent.span());
  if (count == 0) return {storage.buffer, 0, 0, 0};
  std::int64_t low = storage.offset, high = storage.offset;
  for (int d = 0; d < box.lo.size(); ++d) {
    const std::int64_t first = box.lo[d] * storage.strides[d], reach = (box.extent[d] - 1) * storage.strides[d];
    low += first + std::min<std::int64_t>(reach, 0);
    high += first + std::max<std::int64_t>(reach, 0);
  }
  std::int64_t run = 1;  // elements in a row
  for (int d = box.lo.size(); d-- > 0 && (storage.strides[d] == run || box.extent[d] == 1);) run *= box.extent[d];
  constexpr std::int64_t kAlignment{kBufferAlignment};
  const auto from = static_cast<std::size_t>(low * size / kAlignment * kAlignment),
             to = static_cast<std::size_t>((high + 1) * size);
  const double touched = static_cast<double>(count / run) * static_cast<double>(run * size + kPage);
  return {storage.buffer, from, to,
          touched < static_cast<double>(to - from) ? static_cast<std::size_t>(touched) : to - from};
}

/// A box of memory as an array of its own.
Edge Slicer::part(const GraphNode& n, const Dims& shape, const std::shared_ptr<Storage>& storage, const Box& box,
                  Pass& pass) const {
  const LeafPart bytes = bytes_of(n, *storage, box);
  pass.parts.push_back(bytes);
  if (box == Box::whole(shape))
    return pass.inputs.emplace_back(make_input(n.dtype, shape.span(), storage, device_, n.where()));
  const bool kept = !kept_.empty() && storage->buffer->device != device_;
  if (kept) {
    const std::lock_guard lock(storage->replica_mutex);
    if (const std::shared_ptr<Storage> known = storage->part(n.dtype, box.lo, box.extent))
      return pass.inputs.emplace_back(make_input(n.dtype, box.extent.span(), known, device_, n.where()));
  }
  auto of_box = std::make_shared<Storage>();
  of_box->buffer = std::make_shared<PartBuffer>(storage->buffer, bytes.from, bytes.to - bytes.from);
  if (bytes.to > bytes.from) {
    of_box->offset = storage->offset - static_cast<std::int64_t>(bytes.from / itemsize(n.dtype));
    for (int d = 0; d < shape.size(); ++d) of_box->offset += box.lo[d] * storage->strides[d];
  }
  of_box->strides = storage->strides;
  const Dims row_major = row_major_strides(box.extent.span());
  for (int d = 0; d < shape.size(); ++d)
    if (box.extent[d] == 1) of_box->strides[d] = row_major[d];
  of_box->contiguous = of_box->strides == row_major;
  of_box->any_byte = storage->any_byte;
  if (kept) {
    const std::lock_guard lock(storage->replica_mutex);
    storage->parts.push_back({n.dtype, box.lo, box.extent, of_box});
  }
  return pass.inputs.emplace_back(make_input(n.dtype, box.extent.span(), std::move(of_box), device_, n.where()));
}

Edge Slicer::make_source(NodeId id, const Box& box, Pass& pass) {
  const GraphNode& n = g_.nodes[id];
  const Dims& shape = g_.shape(id);
  if (const auto known = known_.find({id, 0}); known != known_.end())
    return part(n, shape, known->second.node()->extra->results.at(known->second.output()), box, pass);
  switch (info(n.op).op_class) {
    case OpClass::Leaf: return part(n, shape, leaves_[n.payload], box, pass);
    case OpClass::Scalar: {
      if (whole_[id]) return whole_[id];
      const ScalarSource& source = g_.scalars[n.payload];
      TARRY_ASSERT(source.kind != ScalarSource::Kind::Compute);
      const ScalarCell& cell = source.kind == ScalarSource::Kind::Cell ? cells_[source.cell] : source.constant;
      const bool opaque = source.known == ScalarClass::Other && classify(n.dtype, cell) != ScalarClass::Other;
      const AttributeBytes attributes = kOpaque;
      whole_[id] = make_node({.op = Op::Scalar,
                              .dtype = n.dtype,
                              .mode = n.mode,
                              .device = device_,
                              .shape = {},
                              .attributes = opaque ? &attributes : nullptr,
                              .cell = cell,
                              .where = n.where()},
                             {});
      return whole_[id];
    }
    default: {
      TARRY_ASSERT(n.op == Op::Iota);
      if (!whole_[id])
        whole_[id] =
            node(n, Op::Iota, n.dtype, shape, {}, encode(IotaAttributes{static_cast<std::int32_t>(n.payload)}));
      if (box == Box::whole(shape)) return whole_[id];
      IndexMap map;
      for (int d = 0; d < shape.size(); ++d) map.push_back({d, box.lo[d], 1});
      return view(n, whole_[id], map, box.extent);
    }
  }
}

/// The box of an input, of the box that was made of it.
Edge Slicer::find(GraphEdge edge, const Box& box, Pass& pass) const {
  const auto& made = pass.made[edge.node];
  const auto at = std::find_if(made.begin(), made.end(), [&](const Made& m) { return m.first.contains(box); });
  TARRY_ASSERT(at != made.end());
  Edge x = at->second;
  if (edge.output != 0) {
    if (const auto known = known_.find({edge.node, edge.output}); known != known_.end()) {
      const GraphNode& n = g_.nodes[edge.node];
      x = part(n, g_.shape(edge.node), known->second.node()->extra->results.at(known->second.output()), at->first,
               pass);
    } else {
      retain(x.node());
      x = Edge(x.node(), edge.output);
    }
  }
  if (at->first == box) return x;
  IndexMap map;
  for (int d = 0; d < box.lo.size(); ++d) map.push_back({d, box.lo[d] - at->first.lo[d], 1});
  return view(g_.nodes[edge.node], x, map, box.extent);
}

/// The scan of a box of x, which goes on from what the elements before it combine to. Where order shows in the bits
/// that value stands in front of x, as the subtree of tree R that it is: one element, and others that leave it as it
/// is.
Edge Slicer::scan(NodeId id, const Box& box, const Edge& x) const {
  const GraphNode& n = g_.nodes[id];
  const ReduceAttributes attributes = g_.reduces[n.payload];
  const int axis = attributes.axis;
  const auto carried = carried_.find(id);
  const auto scanned = [&] {
    return box.extent[axis] == 1 ? x : node(n, n.op, n.dtype, box.extent, {&x, 1}, encode(attributes));
  };
  if (carried == carried_.end() || !carried->second.before) return scanned();
  IndexMap of_box;
  for (int d = 0; d < box.lo.size(); ++d)
    if (d != axis) of_box.push_back({d, box.lo[d], 1});
  Dims one = box.extent, longer = box.extent;
  one[axis] = 1;
  const Edge before = view(n, carried->second.before, of_box, one);
  if (!is_floating(n.dtype) || n.op == Op::CumulativeMin || n.op == Op::CumulativeMax) {
    const Edge both[] = {before, scanned()};
    return node(n, join_of_scan(n.op), n.dtype, box.extent, both);
  }
  const std::int64_t blocks = (box.extent[axis] + kScanBlock - 1) / kScanBlock;
  const std::int64_t front = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks))) * kScanBlock;
  longer[axis] += front;
  const double neutral = n.op == Op::CumulativeSum ? -0.0 : 1.0;
  const ScalarCell cell = n.dtype == float32 ? ScalarCell::of(static_cast<float>(neutral)) : ScalarCell::of(neutral);
  UpdateAttributes at{Dims::filled(longer.size(), 0), Dims::filled(longer.size(), 1)};
  const Edge with_before[] = {view(n, number(n, n.dtype, cell), IndexMap(), longer), before};
  Edge all[] = {node(n, Op::Update, n.dtype, longer, with_before, encode(at)), x};
  at.start[axis] = front;
  all[0] = node(n, Op::Update, n.dtype, longer, all, encode(at));
  IndexMap behind;
  for (int d = 0; d < longer.size(); ++d) behind.push_back({d, d == axis ? front : 0, 1});
  return view(n, node(n, n.op, n.dtype, longer, {all, 1}, encode(attributes)), behind, box.extent);
}

Edge Slicer::make(NodeId id, const Box& box, Pass& pass) {
  if (is_source(id)) return make_source(id, box, pass);
  const GraphNode& n = g_.nodes[id];
  Edge inputs[Node::kMaxInputs];
  Box boxes[Node::kMaxInputs];
  bool present[Node::kMaxInputs] = {};
  for (int i = 0; i < n.n_inputs; ++i) {
    present[i] = needs(id, box, i, boxes[i]);
    if (present[i]) inputs[i] = find(n.inputs[i], boxes[i], pass);
  }
  const std::span<const Edge> all(inputs, n.n_inputs);
  switch (info(n.op).op_class) {
    case OpClass::View: {
      IndexMap map = g_.views[n.payload];
      for (int d = 0; d < map.size; ++d) {
        AxisMap& m = map[d];
        if (m.axis >= 0) m.start += m.step * box.lo[m.axis];
        m.start -= boxes[0].lo[d];
      }
      return view(n, inputs[0], map, box.extent);
    }
    case OpClass::Reshape: {
      if (element_count(box.extent.span()) == 0) return reshaped(n, inputs[0], box.extent);
      const NumberRange wanted = numbers(g_.shape(id), box), held = numbers(g_.shape(n.inputs[0].node), boxes[0]);
      if (wanted.from == held.from && wanted.to == held.to) return reshaped(n, inputs[0], box.extent);
      IndexMap map;
      map.push_back({0, wanted.from - held.from, 1});
      const Edge flat = reshaped(n, inputs[0], {held.to - held.from});
      return reshaped(n, view(n, flat, map, {wanted.to - wanted.from}), box.extent);
    }
    case OpClass::Update: {
      if (!present[1]) return inputs[0];
      UpdateAttributes u = g_.updates[n.payload];
      for (int d = 0; d < u.start.size(); ++d) u.start[d] += boxes[1].lo[d] * u.step[d] - box.lo[d];
      return node(n, n.op, n.dtype, box.extent, all, encode(u));
    }
    case OpClass::Reduce: return node(n, n.op, n.dtype, box.extent, all, encode(g_.reduces[n.payload]));
    case OpClass::Scan: return scan(id, box, inputs[0]);
    case OpClass::Gather:
      return node(n, n.op, n.dtype, box.extent, all, encode(IotaAttributes{static_cast<std::int32_t>(n.payload)}));
    case OpClass::Loop:
      if (!has_axis(n.op)) return node(n, n.op, n.dtype, box.extent, all);
      return node(n, n.op, n.dtype, box.extent, all, encode(IotaAttributes{static_cast<std::int32_t>(n.payload)}));
    case OpClass::Routine:
      return node(n, n.op, n.dtype, box.extent, all, encode(RoutineAttributes{RoutineAttributes::Way(n.payload)}));
    default:
      if (n.op == Op::Index) {
        IndexAttributes a = IndexAttributes::of(n.payload);
        a.part = a.part || !(box == Box::whole(g_.shape(id)));
        return node(n, n.op, n.dtype, box.extent, all, encode(a));
      }
      return node(n, n.op, n.dtype, box.extent, all);
  }
}

Slicer::Pass Slicer::trace(std::span<const SliceRequest> requests) const {
  Pass pass;
  pass.boxes.resize(g_.nodes.size());
  const auto add = [&](NodeId id, const Box& box) {
    const bool whole = !kept_.empty() && is_source(id) && std::find(kept_.begin(), kept_.end(), id) == kept_.end();
    graph::add(pass.boxes[id], whole ? Box::whole(g_.shape(id)) : normalised(id, box));
  };
  for (const SliceRequest& r : requests) add(r.edge.node, r.box);
  for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
    if (is_source(id)) continue;
    const GraphNode& n = g_.nodes[id];
    for (const Box& box : pass.boxes[id]) {
      for (int i = 0; i < n.n_inputs; ++i) {
        Box needed;
        if (needs(id, box, i, needed)) add(n.inputs[i].node, needed);
      }
    }
  }
  return pass;
}

std::vector<SliceRequest> Slicer::boxes_read_by(std::span<const SliceRequest> requests) const {
  const Pass pass = trace(requests);
  std::vector<SliceRequest> read;
  for (NodeId id = 0; id < g_.nodes.size(); ++id)
    if (g_.nodes[id].op == Op::Input)
      for (const Box& box : pass.boxes[id]) read.push_back({{id, 0}, box});
  return read;
}

std::vector<LeafPart> Slicer::read_by(std::span<const SliceRequest> requests) const {
  std::vector<LeafPart> parts;
  for (const SliceRequest& r : boxes_read_by(requests)) {
    const GraphNode& n = g_.nodes[r.edge.node];
    parts.push_back(bytes_of(n, *leaves_[n.payload], r.box));
  }
  return parts;
}

Slicer::Slices Slicer::slice(std::span<const SliceRequest> requests) { return record(requests, trace(requests)); }

Slicer::Slices Slicer::slice_leaves(std::span<const SliceRequest> requests, std::vector<NodeId> leaves) {
  kept_ = std::move(leaves);
  return record(requests, trace(requests));
}

Slicer::Slices Slicer::record(std::span<const SliceRequest> requests, Pass pass) {
  pass.made.resize(g_.nodes.size());
  for (NodeId id = 0; id < g_.nodes.size(); ++id)
    for (const Box& box : pass.boxes[id]) pass.made[id].emplace_back(box, make(id, box, pass));
  Slices result;
  for (const SliceRequest& r : requests) result.values.push_back(find(r.edge, r.box, pass));
  result.parts = std::move(pass.parts);
  result.inputs = std::move(pass.inputs);
  return result;
}

}  // namespace tarry::graph
