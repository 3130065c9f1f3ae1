// Which leaves are read in part or in a narrower dtype, and evaluation from those.
#include "runtime/plan/hoisting.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>

#include "graph/record/record.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "runtime/observe/report.h"

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

bool is_on(const Storage& s, Device device) {
  return s.buffer->device == device || (s.replica && s.replica->device == device);
}

/// Whether a device has that part of a leaf. The caller holds the leaf's replica_mutex.
bool has_part(const Storage& s, Dtype dtype, const Box& box, Device device) {
  const std::shared_ptr<Storage> part = s.part(dtype, box.lo, box.extent);
  return part && is_on(*part, device);
}

/// By node of a leaf: the boxes of it that are read where these reductions are known.
std::vector<std::vector<Box>> boxes_of(const graph::Snapshot& s, Device device,
                                       const std::vector<HostReduction>& reductions) {
  graph::Slicer slicer(s.graph, s.leaves, {}, device);
  for (const HostReduction& r : reductions) slicer.know({r.node, 0}, Edge());
  std::vector<std::vector<Box>> boxes(s.graph.nodes.size());
  for (SliceRequest& r : slicer.boxes_read_by(whole_roots(s.graph))) boxes[r.edge.node].push_back(std::move(r.box));
  return boxes;
}

std::vector<HoistedLeaf> find_leaves(const graph::Snapshot& s, Device device,
                                     const std::vector<HostReduction>& reductions, std::int64_t least) {
  const graph::Graph& g = s.graph;
  const auto crosses = [&](const Storage& leaf) {
    return leaf.buffer->device.kind == DeviceKind::Cpu && device.kind != DeviceKind::Cpu;
  };
  std::vector<bool> reduced(s.leaves.size());
  for (const HostReduction& r : reductions)
    for (const std::uint32_t leaf : r.leaves) reduced[leaf] = true;
  std::vector<HoistedLeaf> found;
  std::vector<std::vector<Box>> boxes;  // by node, made for the first leaf that may be worth it
  std::vector<std::vector<NodeId>> all_casts;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    const GraphNode& n = g.nodes[id];
    if (n.op != Op::Input || !crosses(*s.leaves[n.payload]) || g.bytes(id) <= least) continue;
    if (boxes.empty()) {
      boxes = boxes_of(s, device, reductions);
      all_casts = narrowing_casts(g);
    }
    HoistedLeaf h{id, n.payload, n.dtype, boxes[id], {}, 0, g.bytes(id)};
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

Hoisting find_hoisting(const graph::Snapshot& s, Device device, std::vector<HostReduction> reductions,
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
    Hoisting found{find_leaves(s, device, reductions, least), {}, {}};
    const auto saved = [&](std::uint32_t leaf) {
      return std::any_of(found.leaves.begin(), found.leaves.end(),
                         [&](const HoistedLeaf& h) { return h.leaf == leaf; });
    };
    // Of no use where an operand crosses for something else all the same: none of those that share it.
    const auto useless = [&](const HostReduction& r) { return !std::all_of(r.leaves.begin(), r.leaves.end(), saved); };
    if (!leave(useless)) {
      found.placements = std::move(elsewhere);
      for (const HostReduction& r : reductions) found.placements.push_back(r.placement);
      found.reductions = std::move(reductions);
      return found;
    }
  }
}

std::vector<Hoisting> find_hoistings(const graph::Snapshot& s, Device device, std::vector<HostReduction> reductions) {
  std::vector<Hoisting> all{find_hoisting(s, device, std::move(reductions))};
  if (!all.front().reductions.empty()) all.push_back(find_hoisting(s, device, {}));
  return all;
}

namespace {

bool pays(const Hoisting& hoisting, const std::vector<std::shared_ptr<Storage>>& leaves, Device device) {
  for (const HostReduction& r : hoisting.reductions)
    for (const std::uint32_t leaf : r.leaves) {
      const std::lock_guard lock(leaves[leaf]->replica_mutex);
      if (is_on(*leaves[leaf], device) || leaves[leaf]->reduced) return false;
    }
  bool any = false;
  for (const HoistedLeaf& h : hoisting.leaves) {
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

const Hoisting* that_pays(const std::vector<Hoisting>& hoistings, const std::vector<std::shared_ptr<Storage>>& leaves,
                          Device device) {
  for (const Hoisting& h : hoistings)
    if (!h.empty() && pays(h, leaves, device)) return &h;
  return nullptr;
}

namespace {

/// The graph of an evaluation in two: what the host does, and the rest over what it was brought.
class Hoister {
 public:
  Hoister(const HoistedWork& work, const Hoisting& hoisting)
      : work_(work),
        hoisting_(hoisting),
        device_(work.backend.device()),
        slicer_(work.graph, work.leaves, work.cells, device_) {}

  /// The reductions that the host does, lazy.
  [[nodiscard]] std::vector<Edge> record_reductions() const {
    std::vector<SliceRequest> requests;
    for_results([&](graph::GraphEdge e) { requests.push_back({e, Box::whole(work_.graph.shape(e.node))}); });
    if (requests.empty()) return {};
    graph::Slicer slicer(work_.graph, work_.leaves, work_.cells, cpu);
    std::vector<Edge> values = slicer.slice(requests).values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const GraphNode& n = work_.graph.nodes[requests[i].edge.node];
      if (graph::output_count(n.op) > 1) values[i] = copied(slicer, n, values[i]);  // a root has one value
    }
    return values;
  }

  /// Their values on the device, in that order.
  void know_reductions(
      const std::function<std::shared_ptr<Storage>(std::size_t i, const graph::Dims& shape, Dtype dtype)>& bring) {
    std::size_t i = 0;
    for_results([&](graph::GraphEdge e) {
      const GraphNode& n = work_.graph.nodes[e.node];
      const graph::Dims& shape = work_.graph.shape(e.node);
      slicer_.know(e, graph::make_input(n.dtype, shape.span(), bring(i++, shape, n.dtype), device_, n.where()));
    });
  }

  /// What is to cross in part. `convert` brings a leaf in its narrower dtype, where it is not there yet.
  void know_leaves(const std::function<std::shared_ptr<Storage>(const HoistedLeaf& h, const GraphNode& n,
                                                                const graph::Dims& shape)>& convert) {
    for (const HoistedLeaf& h : hoisting_.leaves) {
      Storage& leaf = *work_.leaves[h.leaf];
      std::shared_ptr<Storage> value;
      {
        const std::lock_guard lock(leaf.replica_mutex);
        if (is_on(leaf, device_)) continue;
        if (!h.casts.empty() && has_part(leaf, h.dtype, h.boxes.front(), device_))
          value = leaf.part(h.dtype, h.boxes.front().lo, h.boxes.front().extent);
      }
      in_part_.push_back(h.node);
      if (h.casts.empty()) continue;
      const graph::Dims& shape = h.boxes.front().extent;
      if (!value) value = convert(h, work_.graph.nodes[h.node], shape);
      for (const NodeId id : h.casts)
        slicer_.know({id, 0}, graph::make_input(h.dtype, shape.span(), value, device_, work_.graph.nodes[id].where()));
    }
  }

  /// The roots over that, lazy but where they are known.
  [[nodiscard]] std::vector<Edge> record_rest() {
    graph::Slicer::Slices slices = slicer_.slice_leaves(whole_roots(work_.graph), std::move(in_part_));
    for (std::size_t i = 0; i < work_.graph.roots.size(); ++i) {
      Edge& e = slices.values[i];
      const bool ready = e.node()->state.load(std::memory_order_acquire) == graph::State::Ready;
      if (!ready || slicer_.knows(work_.graph.roots[i])) continue;
      e = copied(slicer_, work_.graph.nodes[work_.graph.roots[i].node], e);  // a part of a leaf
    }
    return std::move(slices.values);
  }

 private:
  static Edge copied(const graph::Slicer& slicer, const GraphNode& like, const Edge& e) {
    return slicer.node(like, Op::View, e.node()->dtype, graph::Dims(e.node()->shape()), {&e, 1},
                       encode(graph::identity_map(e.node()->rank)));
  }

  template <class Visit>
  void for_results(const Visit& visit) const {
    for (const HostReduction& r : hoisting_.reductions)
      for (int o = 0; o < graph::output_count(work_.graph.nodes[r.node].op); ++o)
        visit(graph::GraphEdge{r.node, static_cast<std::uint32_t>(o)});
  }

  const HoistedWork& work_;
  const Hoisting& hoisting_;
  const Device device_;
  graph::Slicer slicer_;
  std::vector<NodeId> in_part_;
};

std::shared_ptr<Storage> row_major_value(std::shared_ptr<graph::Buffer> buffer, const graph::Dims& shape) {
  auto value = std::make_shared<Storage>();
  value->buffer = std::move(buffer);
  value->strides = graph::row_major_strides(shape.span());
  return value;
}

std::shared_ptr<Storage> value_of(const Edge& e) { return e.node()->extra->results.at(e.output()); }

}  // namespace

HoistedValues evaluate_hoisted(const HoistedWork& work, const Hoisting& hoisting) {
  HoistedValues done;
  std::optional<Hoister> hoister(std::in_place, work, hoisting);
  const std::vector<Edge> reductions = hoister->record_reductions();
  const Counters on_host = evaluate_whole(reductions, work.where).counters();
  Counters crossed;
  Crossings crossings{crossed, nullptr, {}};
  const auto bring_all = [&] {
    std::vector<Wanted> results;
    for (const Edge& e : reductions) results.push_back({value_of(e), graph::Dims(e.node()->shape()), e.node()->dtype});
    bring_small(results, work.backend, crossings);
    hoister->know_reductions([&](std::size_t i, const graph::Dims& shape, Dtype dtype) {
      const std::shared_ptr<Storage> value = value_of(reductions[i]);
      std::shared_ptr<graph::Buffer> there = bring(value, shape, dtype, work.backend, crossings);
      value->replica.reset();  // the rest may go on in that memory
      done.transfers.push_back({cpu, there->device,
                                graph::element_count(shape.span()) * static_cast<std::int64_t>(itemsize(dtype)),
                                "computed on the host"});
      return row_major_value(std::move(there), shape);
    });
    crossings.transfers = &done.transfers;
    hoister->know_leaves([&](const HoistedLeaf& h, const GraphNode& n, const graph::Dims& shape) {
      Storage& leaf = *work.leaves[h.leaf];
      std::shared_ptr<Storage> value = bring_converted(leaf, shape, n.dtype, h.dtype, work.backend, crossings);
      const std::lock_guard lock(leaf.replica_mutex);
      leaf.parts.push_back({h.dtype, h.boxes.front().lo, shape, value});
      return value;
    });
  };
  work.backend.within(bring_all);
  const std::vector<Edge> rest = hoister->record_rest();
  hoister.reset();  // nothing but `rest` holds what it knew
  const Report report = evaluate_whole(rest, work.where);
  done.counters = report.counters();
  add_work(done.counters, on_host);
  done.counters.kernels += on_host.kernels;
  add_transfers(done.counters, crossed);
  done.counters.peak_bytes += crossed.bytes_uploaded;
  for (const Transfer& t : report.transfers()) done.transfers.push_back(t);
  for (const Edge& e : rest) done.roots.push_back(value_of(e));
  for (const HostReduction& r : hoisting.reductions)
    for (const std::uint32_t leaf : r.leaves) {
      const std::lock_guard lock(work.leaves[leaf]->replica_mutex);
      work.leaves[leaf]->reduced = true;
    }
  return done;
}

HoistedGraphs plan_hoisted(const HoistedWork& work, const Hoisting& hoisting) {
  HoistedGraphs graphs;
  Hoister hoister(work, hoisting);
  const auto placeholder = [&](const graph::Dims& shape, Dtype dtype) {
    const std::size_t bytes = static_cast<std::size_t>(graph::element_count(shape.span())) * itemsize(dtype);
    ++graphs.counters.uploads;
    graphs.counters.bytes_uploaded += static_cast<std::int64_t>(bytes);
    return row_major_value(std::make_shared<graph::Buffer>(work.backend.device(), graph::Owner::Pool, nullptr, bytes),
                           shape);
  };
  graphs.on_host = hoister.record_reductions();
  hoister.know_reductions(
      [&](std::size_t, const graph::Dims& shape, Dtype dtype) { return placeholder(shape, dtype); });
  hoister.know_leaves([&](const HoistedLeaf& h, const GraphNode&, const graph::Dims& shape) {
    return graphs.kept.emplace_back(placeholder(shape, h.dtype));
  });
  graphs.rest = hoister.record_rest();
  return graphs;
}

}  // namespace tarry::runtime
