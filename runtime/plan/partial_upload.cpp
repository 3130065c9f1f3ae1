// Which leaves are read in part or in a narrower dtype, and whether that is the way to go now.
#include "runtime/plan/partial_upload.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>

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

/// By node of a leaf: the boxes of it that are read where these reductions are known.
std::vector<std::vector<Box>> boxes_of(const graph::Snapshot& s, Device device,
                                       const std::vector<HostReduction>& reductions) {
  graph::Slicer slicer(s.graph, s.leaves, {}, device);
  for (const HostReduction& r : reductions) slicer.know({r.node, 0}, Edge());
  std::vector<std::vector<Box>> boxes(s.graph.nodes.size());
  for (SliceRequest& r : slicer.boxes_read_by(graph::whole_roots(s.graph)))
    boxes[r.edge.node].push_back(std::move(r.box));
  return boxes;
}

std::vector<UploadedLeaf> find_leaves(const graph::Snapshot& s, Device device,
                                      const std::vector<HostReduction>& reductions, std::int64_t least) {
  const graph::Graph& g = s.graph;
  const auto crosses = [&](const Storage& leaf) {
    return leaf.buffer->device.kind == DeviceKind::Cpu && device.kind != DeviceKind::Cpu;
  };
  std::vector<bool> reduced(s.leaves.size());
  for (const HostReduction& r : reductions)
    for (const std::uint32_t leaf : r.leaves) reduced[leaf] = true;
  std::vector<UploadedLeaf> found;
  std::vector<std::vector<Box>> boxes;  // by node, made for the first leaf that may be worth it
  std::vector<std::vector<NodeId>> all_casts;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (n.op != Op::Input || !crosses(*s.leaves[n.payload]) || g.bytes(id) <= least) continue;
    if (boxes.empty()) {
      boxes = boxes_of(s, device, reductions);
      all_casts = narrowing_casts(g);
    }
    UploadedLeaf h{id, n.payload, n.dtype, boxes[id], {}, 0, g.bytes(id)};
    h.bytes = bytes_of(h.boxes, h.dtype);
    const std::vector<NodeId>& casts = all_casts[id];
    if (!casts.empty() && !reduced[n.payload] && s.leaves[n.payload]->contiguous) {
      const std::int64_t narrow = g.bytes(casts.front());
      if (narrow < h.bytes)
        h = {id, n.payload, g.nodes[casts.front()].dtype, {Box::whole(g.shape(id))}, casts, narrow, h.whole};
    }
    const bool some = !h.boxes.empty() || reduced[n.payload];
    if (some && h.whole - h.bytes >= std::max<std::int64_t>(least, 1)) found.push_back(std::move(h));
  }
  return found;
}

}  // namespace

PartialUpload find_partial_upload(const graph::Snapshot& s, Device device, std::vector<HostReduction> reductions,
                                  std::int64_t least) {
  std::vector<Placement> elsewhere;
  const auto leave = [&](const auto& which) {
    const auto kept =
        std::stable_partition(reductions.begin(), reductions.end(), [&](const HostReduction& r) { return !which(r); });
    std::transform(kept, reductions.end(), std::back_inserter(elsewhere),
                   [&](HostReduction& r) { return r.placement.device = device, std::move(r.placement); });
    const bool some = kept != reductions.end();
    return reductions.erase(kept, reductions.end()), some;
  };
  leave([](const HostReduction& r) { return !r.on_host(); });
  for (;;) {
    PartialUpload found{find_leaves(s, device, reductions, least), {}, {}};
    const auto saved = [&](std::uint32_t leaf) {
      return std::any_of(found.leaves.begin(), found.leaves.end(),
                         [&](const UploadedLeaf& h) { return h.leaf == leaf; });
    };
    // An operand that crosses for something else all the same spoils it for all that share the operand.
    const auto useless = [&](const HostReduction& r) { return !std::all_of(r.leaves.begin(), r.leaves.end(), saved); };
    if (!leave(useless)) {
      found.placements = std::move(elsewhere);
      for (const HostReduction& r : reductions) found.placements.push_back(r.placement);
      found.reductions = std::move(reductions);
      return found;
    }
  }
}

std::vector<PartialUpload> find_partial_uploads(const graph::Snapshot& s, Device device,
                                                std::vector<HostReduction> reductions) {
  std::vector<PartialUpload> all{find_partial_upload(s, device, std::move(reductions))};
  if (!all.front().reductions.empty()) all.push_back(find_partial_upload(s, device, {}));
  return all;
}

bool is_on(const Storage& s, Device device) {
  return s.buffer->device == device || (s.replica && s.replica->device == device);
}

bool has_part(const Storage& s, Dtype dtype, const Box& box, Device device) {
  const std::shared_ptr<Storage> part = s.part(dtype, box.lo, box.extent);
  return part && is_on(*part, device);
}

namespace {

bool pays(const PartialUpload& upload, const std::vector<std::shared_ptr<Storage>>& leaves, Device device) {
  for (const HostReduction& r : upload.reductions)
    for (const std::uint32_t leaf : r.leaves) {
      const std::lock_guard lock(leaves[leaf]->replica_mutex);
      if (is_on(*leaves[leaf], device) || leaves[leaf]->reduced) return false;
    }
  bool any = false;
  for (const UploadedLeaf& h : upload.leaves) {
    Storage& s = *leaves[h.leaf];
    const std::lock_guard lock(s.replica_mutex);
    if (is_on(s, device)) continue;
    const bool converts = h.casts.empty() || s.contiguous;  // plans are shared by arrays of any layout in memory
    if (!converts || s.buffer->device.kind != DeviceKind::Cpu) return false;
    std::int64_t there = 0;
    for (const Box& b : h.boxes)
      if (!has_part(s, h.dtype, b, device)) there += bytes_of({b}, h.dtype);
    for (const Storage::Part& p : s.parts)
      if (is_on(*p.storage, device)) there += bytes_of({{p.lo, p.extent}}, p.dtype);
    if (there > h.whole) return false;
    any = true;
  }
  return any;
}

}  // namespace

const PartialUpload* that_pays(const std::vector<PartialUpload>& partial_uploads,
                               const std::vector<std::shared_ptr<Storage>>& leaves, Device device) {
  for (const PartialUpload& h : partial_uploads)
    if (!h.empty() && pays(h, leaves, device)) return &h;
  return nullptr;
}

}  // namespace tarry::runtime
