// Which leaves are read in part or in a narrower dtype, and evaluation from those.
#include "runtime/hoisting.h"

#include <algorithm>
#include <mutex>

#include "graph/record.h"
#include "runtime/engine.h"
#include "runtime/report.h"
#include "runtime/transfer.h"

namespace tarry::runtime {
namespace {

using graph::Box;
using graph::Edge;
using graph::GraphNode;
using graph::NodeId;
using graph::Op;
using graph::SliceRequest;
using graph::Storage;

std::int64_t bytes_of(const std::vector<Box>& boxes, Dtype dtype) {
  std::int64_t count = 0;
  for (const Box& b : boxes) count += graph::element_count(b.extent.span());
  return count * static_cast<std::int64_t>(itemsize(dtype));
}

std::vector<SliceRequest> whole_roots(const graph::Graph& g) {
  std::vector<SliceRequest> all;
  for (const graph::GraphEdge& r : g.roots) all.push_back({r, Box::whole(g.shape(r.node))});
  return all;
}

/// By node: every reader of a leaf, where all convert it to one narrower dtype; none otherwise.
std::vector<std::vector<NodeId>> narrowing_casts(const graph::Graph& g) {
  std::vector<std::vector<NodeId>> casts(g.nodes.size());
  std::vector<bool> otherwise(g.nodes.size());
  for (const graph::GraphEdge& r : g.roots) otherwise[r.node] = true;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    for (int i = 0; i < n.n_inputs; ++i) {
      const NodeId from = n.inputs[i].node;
      if (g.nodes[from].op != Op::Input) continue;
      const bool narrower = n.op == Op::Cast && itemsize(n.dtype) < itemsize(g.nodes[from].dtype);
      if (!narrower || (!casts[from].empty() && g.nodes[casts[from].front()].dtype != n.dtype)) otherwise[from] = true;
      casts[from].push_back(id);
    }
  }
  for (NodeId id = 0; id < g.nodes.size(); ++id)
    if (otherwise[id]) casts[id].clear();
  return casts;
}

bool is_on(const Storage& s, Device device) { return s.buffer->device == device || (s.replica && s.replica->device == device); }

}  // namespace

Hoisting find_hoisting(const graph::Graph& g, const std::vector<std::shared_ptr<Storage>>& leaves, Device device, std::int64_t least) {
  Hoisting found;
  const auto crosses = [&](const Storage& s) { return s.buffer->device.kind == DeviceKind::Cpu && device.kind != DeviceKind::Cpu; };
  std::vector<std::vector<Box>> boxes;          // by node, made for the first leaf that may be worth it
  std::vector<std::vector<NodeId>> all_casts;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (n.op != Op::Input || !crosses(*leaves[n.payload]) || g.bytes(id) <= least) continue;
    if (boxes.empty()) {
      boxes.resize(g.nodes.size());
      for (SliceRequest& r : graph::Slicer(g, leaves, {}, device).boxes_read_by(whole_roots(g)))
        boxes[r.edge.node].push_back(std::move(r.box));
      all_casts = narrowing_casts(g);
    }
    HoistedLeaf h{id, n.payload, n.dtype, boxes[id], {}, 0, g.bytes(id)};
    h.bytes = bytes_of(h.boxes, h.dtype);
    if (const std::vector<NodeId>& casts = all_casts[id]; !casts.empty() && leaves[n.payload]->contiguous) {
      const std::int64_t narrow = g.bytes(casts.front());
      if (narrow < h.bytes) h = {id, n.payload, g.nodes[casts.front()].dtype, {Box::whole(g.shape(id))}, casts, narrow, h.whole};
    }
    if (!h.boxes.empty() && h.whole - h.bytes >= std::max<std::int64_t>(least, 1)) found.push_back(std::move(h));
  }
  return found;
}

Missing missing(const HoistedLeaf& leaf, Storage& s, Device device) {
  const std::lock_guard lock(s.replica_mutex);
  Missing m;
  if (is_on(s, device)) return m;
  for (const Box& b : leaf.boxes)
    if (!s.part(leaf.dtype, b.lo, b.extent)) m.bytes += bytes_of({b}, leaf.dtype), ++m.copies;
  return m;
}

bool pays(const Hoisting& hoisting, const std::vector<std::shared_ptr<Storage>>& leaves, Device device) {
  bool any = false;
  for (const HoistedLeaf& h : hoisting) {
    Storage& s = *leaves[h.leaf];
    const std::int64_t more = missing(h, s, device).bytes;
    const std::lock_guard lock(s.replica_mutex);
    if (is_on(s, device)) continue;
    const bool converts = h.casts.empty() || s.contiguous;  // plans are shared by arrays of any layout in memory
    if (!converts || s.buffer->device.kind != DeviceKind::Cpu) return false;
    std::int64_t there = 0;
    for (const Storage::Part& p : s.parts) there += bytes_of({{p.lo, p.extent}}, p.dtype);
    if (there + more > h.whole) return false;
    any = true;
  }
  return any;
}

HoistedValues evaluate_hoisted(const HoistedWork& work, const Hoisting& hoisting) {
  const graph::Graph& g = work.graph;
  const Device device = work.backend.device();
  HoistedValues done;
  graph::Slicer slicer(g, work.leaves, work.cells, device);
  std::vector<NodeId> in_part;
  Counters converted;
  for (const HoistedLeaf& h : hoisting) {
    Storage& leaf = *work.leaves[h.leaf];
    const Box& box = h.boxes.front();
    std::shared_ptr<Storage> value;
    {
      const std::lock_guard lock(leaf.replica_mutex);
      if (is_on(leaf, device)) continue;
      value = h.casts.empty() ? nullptr : leaf.part(h.dtype, box.lo, box.extent);
    }
    in_part.push_back(h.node);
    if (h.casts.empty()) continue;
    if (!value) {
      const auto body = [&] {
        value = bring_converted(leaf, box.extent, g.nodes[h.node].dtype, h.dtype, work.backend, converted, done.transfers);
      };
      work.backend.within(std::ref(body));
      const std::lock_guard lock(leaf.replica_mutex);
      leaf.parts.push_back({h.dtype, box.lo, box.extent, value});
    }
    for (const NodeId id : h.casts)
      slicer.know({id, 0}, graph::make_input(h.dtype, box.extent.span(), value, device, g.nodes[id].where()));
  }
  graph::Slicer::Slices slices = slicer.slice_leaves(whole_roots(g), std::move(in_part));
  for (std::size_t i = 0; i < g.roots.size(); ++i) {
    Edge& e = slices.values[i];
    if (e.node()->state.load(std::memory_order_acquire) != graph::State::Ready) continue;
    e = slicer.node(g.nodes[g.roots[i].node], Op::View, e.node()->dtype, graph::Dims(e.node()->shape()), {&e, 1},
                    encode(graph::identity_map(e.node()->rank)));  // a part of a leaf is copied
  }
  const Report report = evaluate_whole(slices.values, work.where);
  done.counters = report.counters();
  done.counters.uploads += converted.uploads;
  done.counters.bytes_uploaded += converted.bytes_uploaded;
  done.counters.peak_bytes += converted.bytes_uploaded;
  for (const Transfer& t : report.transfers()) done.transfers.push_back(t);
  for (const Edge& e : slices.values) done.roots.push_back(e.node()->extra->results.at(e.output()));
  return done;
}

}  // namespace tarry::runtime
