// Slices of the graph of a partial upload: reductions on the host, leaves in part, and the rest over them.
#include "runtime/evaluate/uploaded_parts.h"

#include <functional>
#include <mutex>
#include <optional>

#include "graph/fusion/trace.h"
#include "graph/record/record.h"
#include "graph/slices/slices.h"
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

/// The graph of an evaluation in two: what the host does, and the rest over what it was brought.
class Uploader {
 public:
  Uploader(const UploadWork& work, const PartialUpload& upload)
      : work_(work),
        upload_(upload),
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

  /// Leaves to upload in part. `convert` brings a leaf in its narrower dtype, where it is not there yet.
  void know_leaves(const std::function<std::shared_ptr<Storage>(const UploadedLeaf& h, const GraphNode& n,
                                                                const graph::Dims& shape)>& convert) {
    for (const UploadedLeaf& h : upload_.leaves) {
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
    graph::Slicer::Slices slices = slicer_.slice_leaves(graph::whole_roots(work_.graph), std::move(in_part_));
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
    for (const HostReduction& r : upload_.reductions)
      for (int o = 0; o < graph::output_count(work_.graph.nodes[r.node].op); ++o)
        visit(graph::GraphEdge{r.node, static_cast<std::uint32_t>(o)});
  }

  const UploadWork& work_;
  const PartialUpload& upload_;
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

UploadedValues evaluate_partial_upload(const UploadWork& work, const PartialUpload& upload) {
  UploadedValues done;
  std::optional<Uploader> uploader(std::in_place, work, upload);
  const std::vector<Edge> reductions = uploader->record_reductions();
  const Counters on_host = evaluate_whole(reductions, work.where).counters();
  Counters crossed;
  Crossings crossings{crossed, nullptr, {}};
  const auto bring_all = [&] {
    std::vector<Wanted> results;
    for (const Edge& e : reductions) results.push_back({value_of(e), graph::Dims(e.node()->shape()), e.node()->dtype});
    bring_small(results, work.backend, crossings);
    uploader->know_reductions([&](std::size_t i, const graph::Dims& shape, Dtype dtype) {
      const std::shared_ptr<Storage> value = value_of(reductions[i]);
      std::shared_ptr<graph::Buffer> there = bring(value, shape, dtype, work.backend, crossings);
      value->replica.reset();  // the rest may go on in that memory
      done.transfers.push_back({cpu, there->device,
                                graph::element_count(shape.span()) * static_cast<std::int64_t>(itemsize(dtype)),
                                "computed on the host"});
      return row_major_value(std::move(there), shape);
    });
    crossings.transfers = &done.transfers;
    uploader->know_leaves([&](const UploadedLeaf& h, const GraphNode& n, const graph::Dims& shape) {
      Storage& leaf = *work.leaves[h.leaf];
      std::shared_ptr<Storage> value = bring_converted(leaf, shape, n.dtype, h.dtype, work.backend, crossings);
      const std::lock_guard lock(leaf.replica_mutex);
      leaf.parts.push_back({h.dtype, h.boxes.front().lo, shape, value});
      return value;
    });
  };
  work.backend.within(bring_all);
  const std::vector<Edge> rest = uploader->record_rest();
  uploader.reset();  // nothing but `rest` holds what it knew
  const Report report = evaluate_whole(rest, work.where);
  done.counters = report.counters();
  add_work(done.counters, on_host);
  done.counters.kernels += on_host.kernels;
  add_transfers(done.counters, crossed);
  done.counters.peak_bytes += crossed.bytes_uploaded;
  for (const Transfer& t : report.transfers()) done.transfers.push_back(t);
  for (const Edge& e : rest) done.roots.push_back(value_of(e));
  for (const HostReduction& r : upload.reductions)
    for (const std::uint32_t leaf : r.leaves) {
      const std::lock_guard lock(work.leaves[leaf]->replica_mutex);
      work.leaves[leaf]->reduced = true;
    }
  return done;
}

UploadGraphs plan_partial_upload(const UploadWork& work, const PartialUpload& upload) {
  UploadGraphs graphs;
  Uploader uploader(work, upload);
  const auto placeholder = [&](const graph::Dims& shape, Dtype dtype) {
    const std::size_t bytes = static_cast<std::size_t>(graph::element_count(shape.span())) * itemsize(dtype);
    ++graphs.counters.uploads;
    graphs.counters.bytes_uploaded += static_cast<std::int64_t>(bytes);
    return row_major_value(std::make_shared<graph::Buffer>(work.backend.device(), graph::Owner::Pool, nullptr, bytes),
                           shape);
  };
  graphs.on_host = uploader.record_reductions();
  uploader.know_reductions(
      [&](std::size_t, const graph::Dims& shape, Dtype dtype) { return placeholder(shape, dtype); });
  uploader.know_leaves([&](const UploadedLeaf& h, const GraphNode&, const graph::Dims& shape) {
    return graphs.kept.emplace_back(placeholder(shape, h.dtype));
  });
  graphs.rest = uploader.record_rest();
  return graphs;
}

}  // namespace tarry::runtime
