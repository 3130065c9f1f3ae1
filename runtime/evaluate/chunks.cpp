// How large chunks are, the passes over them, and where their results go.
#include "runtime/evaluate/chunks.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <future>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <tarry/progress.h>

#include "graph/fusion/trace.h"
#include "graph/passes/passes.h"
#include "graph/passes/unsorted.h"
#include "graph/slices/chunking.h"
#include "graph/slices/slices.h"
#include "runtime/device/file_buffer.h"
#include "runtime/device/memory.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/fold_of_cut.h"
#include "runtime/evaluate/result_collector.h"
#include "runtime/evaluate/scan_carry.h"
#include "runtime/evaluate/targets.h"
#include "runtime/evaluate/transfer.h"
#include "runtime/observe/report.h"
#include "runtime/plan/room.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

using graph::Box;
using graph::Edge;
using graph::GraphEdge;
using graph::NodeId;
using graph::SliceRequest;

/// The most that a chunk reads and stores: enough to be worth its launches, and a part of what there is.
constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

std::string amount(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < (std::size_t{1} << 20)) return fmt::format("{:.1f} KiB", value / 1024);
  if (bytes < (std::size_t{1} << 30)) return fmt::format("{:.1f} MiB", value / 1024 / 1024);
  return fmt::format("{:.2f} GiB", value / 1024 / 1024 / 1024);
}

/// The CPU reads host memory where it is, but pages of files count.
graph::LeafAccess access_of(const ChunkedWork& work) {
  const auto mapped = [](const auto& leaf) { return leaf->buffer->owner == graph::Owner::Mapped; };
  const bool direct = work.backend.device().kind == DeviceKind::Cpu && std::ranges::none_of(work.leaves, mapped);
  return direct ? graph::LeafAccess::Direct : graph::LeafAccess::Copied;
}

/// Bytes of the smallest value.
constexpr std::size_t kLeastBlock = 256;

/// Operands of so many pieces arrive on a GPU while one is computed: the memory of one may be written again only once
/// the kernels that read it are done, and meanwhile another arrives.
constexpr std::size_t kPiecesArriving = 2;

void add(Counters& to, const Counters& c) {
  add_work(to, c);
  add_transfers(to, c);
  to.allocations += c.allocations;
  to.kernels = std::max(to.kernels, c.kernels);
  to.bytes_temporary = std::max(to.bytes_temporary, c.bytes_temporary);
  to.peak_bytes = std::max(to.peak_bytes, c.peak_bytes);
}

/// The work in chunks along one axis of its leaves.
class Chunks {
 public:
  Chunks(const ChunkedWork& work, const graph::Graph& g, int number)
      : work_(work),
        g_(g),
        b_(work.backend),
        chunking_(graph::find_chunking(g_, number, access_of(work))),
        slicer_(g_, work.leaves, work.cells, b_.device()) {
    for (const graph::Cut& cut : chunking_.cuts) targets_of(cut.node).push_back(cut_target(cut));
    const std::size_t large = b_.room() / 4;  // what no leaf gives an axis may be too much all the same
    for (const GraphEdge& r : g_.roots) {
      const graph::Dims& shape = g_.shape(r.node);
      int axis = chunking_.axis[r.node];
      if (axis < 0 && static_cast<std::size_t>(g_.bytes(r.node)) > large) axis = graph::leading_axis(shape);
      if (shape.empty() || g_.count(r.node) == 0) axis = -1;
      auto& targets = targets_of(r.node);
      const auto there = [&](const Target& t) { return t.edge == r; };
      if (axis < 0) {
        if (std::none_of(rest_.begin(), rest_.end(), [&](const SliceRequest& q) { return q.edge == r; }))
          rest_.push_back({r, Box::whole(shape)});
      } else if (std::none_of(targets.begin(), targets.end(), there)) {
        targets.push_back(result_target(g_, r, axis));
      }
    }
    for (auto& targets : passes_)
      for (const NodeId scan : scans_below(targets)) targets.push_back(carry_target(g_, scan));
  }

  [[nodiscard]] const graph::Chunking& chunking() const { return chunking_; }

  /// Chooses how long chunks are. False where there are none, or even the shortest do not fit.
  bool fit() {
    graph::Slicer pretending(g_, work_.leaves, work_.cells, b_.device());
    std::size_t kept = 0;  // by results in host memory
    if (b_.device().kind == DeviceKind::Cpu && !work_.sink)
      for (const auto& targets : passes_)
        for (const Target& t : targets)
          kept += is_result(t) ? with_blocks(static_cast<std::size_t>(g_.bytes(t.edge.node))) : 0;
    const std::size_t room = b_.room();
    if (kept >= room) return false;
    for (auto& targets : passes_) {
      if (!fit(targets, pretending, room - kept)) return false;
      for (const Target& t : targets)
        if (t.kind == Target::Kind::Cut) pretend(pretending, t.edge.node);
    }
    return rest_.empty() || bytes_of(pretending.slice(rest_)) <= room - kept;
  }

  ChunkedValues run() {
    for (const auto& targets : passes_) progress_.chunks += static_cast<std::int64_t>(pieces_of(targets));
    for (auto& targets : passes_) run(targets);
    if (!rest_.empty()) run_rest();
    ChunkedValues result;
    for (const GraphEdge& r : g_.roots) {
      const auto at = std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.first == r; });
      result.roots.push_back(at == values_.end() ? nullptr : at->second);
    }
    counters_.chunks = progress_.chunks_done;
    result.counters = counters_;
    result.interpreted = interpreted_;
    return result;
  }

 private:
  static bool is_result(const Target& t) { return t.kind == Target::Kind::Result; }
  [[nodiscard]] bool on_cpu() const { return b_.device().kind == DeviceKind::Cpu; }

  /// Scans along the axis that the targets of one pass are computed from.
  std::vector<NodeId> scans_below(const std::vector<Target>& targets) const {
    if (chunking_.carried.empty()) return {};
    std::vector<bool> needed(g_.nodes.size(), false);
    for (const Target& t : targets) {
      if (is_result(t)) needed[t.edge.node] = true;
      for (const graph::CutOperand& o : t.cut.operands) needed[o.edge.node] = true;
    }
    const auto is_cut = [&](NodeId id) {
      return std::ranges::binary_search(chunking_.cuts, id, {}, &graph::Cut::node);
    };
    for (auto id = static_cast<NodeId>(g_.nodes.size()); id-- > 0;) {
      const graph::GraphNode& n = g_.nodes[id];
      if (!needed[id] || is_cut(id)) continue;
      for (int i = 0; i < n.n_inputs; ++i) needed[n.inputs[i].node] = true;
    }
    std::vector<NodeId> scans;
    std::ranges::copy_if(chunking_.carried, std::back_inserter(scans), [&](NodeId id) { return needed[id]; });
    return scans;
  }

  /// The number of the pass that computes a node.
  std::vector<Target>& targets_of(NodeId id) {
    const std::size_t pass = chunking_.pass[id];
    if (passes_.size() <= pass) passes_.resize(pass + 1);
    return passes_[pass];
  }

  // --- How long a chunk is
  // --------------------------------------------------------------------------------------------

  /// A value stands for that of a cut while sizes are worked out.
  void pretend(graph::Slicer& slicer, NodeId cut) const {
    for (int o = 0; o < graph::output_count(g_.nodes[cut].op); ++o)
      slicer.know({cut, static_cast<std::uint32_t>(o)}, stand_in(g_.nodes[cut].dtype, g_.shape(cut), b_.device()));
  }

  /// Folds of the targets that are no results.
  std::vector<std::unique_ptr<PieceFold>> folds_of(const std::vector<Target>& targets, graph::Slicer& slicer,
                                                   const EvaluateEdges& evaluate) const {
    std::vector<std::unique_ptr<PieceFold>> folds;
    for (const Target& t : targets) {
      auto& fold = folds.emplace_back();
      if (t.kind == Target::Kind::Cut) fold = make_fold(slicer, t.cut, t.chunk, evaluate);
      if (t.kind == Target::Kind::Carry) fold = std::make_unique<ScanCarry>(slicer, t.edge.node, evaluate);
    }
    return folds;
  }

  bool fit(std::vector<Target>& targets, graph::Slicer& slicer, std::size_t room) const {
    if (targets.empty()) return true;
    const Target& main = main_of(targets);
    std::int64_t bytes = 0;  // of everything that has the axis
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      if (g_.nodes[id].op == graph::Op::Input && chunking_.axis[id] >= 0) bytes += g_.bytes(id);
    for (const Target& t : targets) bytes += is_result(t) ? g_.bytes(t.edge.node) : 0;
    const double part =
        std::min(1.0, static_cast<double>(kMostBytes) / static_cast<double>(std::max<std::int64_t>(bytes, 1)));
    auto rows = std::max(shortest_chunk(main), static_cast<std::int64_t>(part * static_cast<double>(main.n)));
    for (;;) {
      divide(targets, rows);
      const std::size_t needed = needed_by_piece(targets, slicer);
      if (needed <= room) return true;
      if (rows <= shortest_chunk(main)) return false;
      const double ratio = std::min(0.75, 0.95 * static_cast<double>(room) / static_cast<double>(needed));
      rows = std::max(shortest_chunk(main), static_cast<std::int64_t>(ratio * static_cast<double>(rows)));
    }
  }

  /// New memory for a piece that every target is part of, in the middle of the one that ends first. On a GPU the next
  /// one arrives meanwhile, and the results of the last leave.
  std::size_t needed_by_piece(const std::vector<Target>& targets, graph::Slicer& slicer) const {
    std::int64_t full = std::numeric_limits<std::int64_t>::max();  // pieces; behind them may be single elements
    for (const Target& t : targets)
      full = std::min(full, std::max<std::int64_t>(t.n / std::max<std::int64_t>(t.chunk, 1), 1));
    std::size_t states = 0;
    for (const Target& t : targets) states += bytes_of_states(t);
    const auto folds = folds_of(targets, slicer, nullptr);
    Piece piece = record(targets, folds, slicer, static_cast<std::size_t>(full - 1) / 2);
    start(targets, folds, piece);
    piece.slices.values = piece.roots;
    return bytes_of(piece.slices, on_cpu() ? 1 : kPiecesArriving + 1, on_cpu() ? 1 : 2) + states;
  }

  /// Subtrees of every size, and the elements of an end that is no block; of others what was folded so far. Each has a
  /// block of its own.
  std::size_t bytes_of_states(const Target& t) const {
    if (is_result(t)) return 0;
    if (!t.is_tree()) return 2 * std::max(with_blocks(bytes_of_state(g_, t.cut)), kLeastBlock);
    const std::int64_t rest = t.chunk > 0 && t.n > t.chunk ? t.n % t.chunk : 0;
    const auto most = static_cast<std::size_t>(std::bit_width(t.ends.size()) + 3 + (rest <= graph::kUncut ? rest : 0));
    return 2 * most * std::max(with_blocks(bytes_of_state(g_, t.cut)), kLeastBlock);
  }

  /// New memory that evaluating slices takes, with as many sets of operands that arrive and of results.
  std::size_t bytes_of(const graph::Slicer::Slices& slices, std::size_t arriving = 1, std::size_t leaving = 1) const {
    const Counters c = plan(slices.values, {}, work_.where).counters();
    const auto arrived = static_cast<std::size_t>(c.bytes_uploaded),
               made = static_cast<std::size_t>(c.peak_bytes) - arrived;
    return with_blocks(leaving * made + arriving * arrived) + (on_cpu() ? pages_of(slices.parts) : 0);
  }

  // --- Pieces
  // -----------------------------------------------------------------------------------------------------------

  /// Piece number `number` of every target that has one, recorded.
  struct Piece {
    std::size_t number = 0;
    graph::Slicer::Slices slices;
    std::vector<Edge> roots;           ///< to be evaluated
    std::vector<Edge> results;         ///< by target, where it is one
    std::vector<PartialState> states;  ///< by target, where it is none
    std::int64_t bytes = 0;            ///< of operands and results
  };
  Piece record(const std::vector<Target>& targets, const std::vector<std::unique_ptr<PieceFold>>& folds,
               graph::Slicer& slicer, std::size_t number) const {
    Piece piece;
    piece.number = number;
    std::vector<SliceRequest> requests;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Target& t = targets[i];
      if (folds[i]) folds[i]->expect(t.begin(std::min(number, t.ends.size())));
      if (t.has(number)) t.request(g_, number, requests);
    }
    piece.slices = slicer.slice(requests);
    piece.results.resize(targets.size());
    piece.states.resize(targets.size());
    std::span<const Edge> rest(piece.slices.values);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Target& t = targets[i];
      if (!t.has(number)) continue;
      const std::size_t taken = is_result(t) ? 1 : t.cut.operands.size();
      if (is_result(t)) {
        piece.results[i] = rest.front();
        piece.bytes += g_.bytes(t.edge.node) / t.n * (t.ends[number] - t.begin(number));
      } else {
        piece.states[i] = folds[i]->record(rest.first(taken), t.begin(number), t.ends[number] - t.begin(number));
      }
      rest = rest.subspan(taken);
    }
    for (const graph::LeafPart& p : piece.slices.parts) piece.bytes += static_cast<std::int64_t>(p.touched);
    return piece;
  }

  /// The pieces before are evaluated: completes the states, and lists what is to be evaluated.
  static void start(const std::vector<Target>& targets, const std::vector<std::unique_ptr<PieceFold>>& folds,
                    Piece& piece) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (piece.results[i]) piece.roots.push_back(piece.results[i]);
      if (!folds[i]) continue;
      PartialState& state = piece.states[i];
      state.at = targets[i].begin(std::min(piece.number, targets[i].ends.size()));
      if (!targets[i].has(piece.number) && targets[i].kind != Target::Kind::Carry) continue;
      folds[i]->start(state);
      if (state.first) piece.roots.push_back(state.first);
      if (state.second) piece.roots.push_back(state.second);
    }
  }

  /// Recorded, and on a GPU what it reads sent on its way.
  Piece prepare(const std::vector<Target>& targets, const std::vector<std::unique_ptr<PieceFold>>& folds,
                std::size_t number) {
    Piece piece = record(targets, folds, slicer_, number);
    Crossings crossings{counters_, nullptr, {}};
    for (const Edge& input : piece.slices.inputs) {
      const std::shared_ptr<graph::Storage>& storage = input.node()->extra->results.front();
      if (storage->buffer->device != b_.device())
        (void)bring(storage, graph::Dims(input.node()->shape()), input.node()->dtype, b_, crossings);
    }
    return piece;
  }

  void evaluate(std::span<const Edge> roots) {
    const Report report = evaluate_whole(roots, work_.where);
    add(counters_, report.counters());
    if (!report.interpreted().empty()) interpreted_ = report.interpreted();
  }

  /// Pages of files that were read are given back.
  static void drop(const std::vector<graph::LeafPart>& parts) {
    for (const graph::LeafPart& p : parts)
      if (p.buffer->owner == graph::Owner::Mapped) static_cast<const FileBuffer&>(*p.buffer).drop(p.from, p.to);
  }

  void run(std::vector<Target>& targets) {
    const auto folds = folds_of(targets, slicer_, [this](std::span<const Edge> roots) { evaluate(roots); });
    std::vector<std::optional<ResultCollector>> collectors(targets.size());
    const std::size_t pieces = pieces_of(targets);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Target& t = targets[i];
      if (is_result(t))
        collectors[i].emplace(g_.shape(t.edge.node), t.axis, itemsize(g_.nodes[t.edge.node].dtype), work_.sink);
    }
    std::deque<Piece> ahead;  // the next to be evaluated; on a GPU two more whose operands are on their way
    std::size_t prepared = 0;
    const auto prepare_to = [&](std::size_t end) {
      for (; prepared < std::min(end, pieces); ++prepared) ahead.push_back(prepare(targets, folds, prepared));
    };
    std::future<void> leaving;  // results of the last piece
    for (std::size_t number = 0; number < pieces; ++number) {
      prepare_to(number + (on_cpu() ? 1 : kPiecesArriving));
      Piece piece = std::move(ahead.front());
      ahead.pop_front();
      start(targets, folds, piece);
      evaluate(piece.roots);
      piece.roots.clear();
      piece.slices.values.clear();  // the memory of operands may be used again once what was enqueued is done
      piece.slices.inputs.clear();
      if (!on_cpu()) prepare_to(number + 1 + kPiecesArriving);
      for (std::size_t i = 0; i < targets.size(); ++i)
        if (folds[i] && targets[i].has(number)) folds[i]->take(std::move(piece.states[i]));
      const auto collect = [this, &targets, &collectors, number, results = std::move(piece.results)] {
        for (std::size_t i = 0; i < targets.size(); ++i)
          if (results[i])
            collectors[i]->take(results[i], targets[i].begin(number), targets[i].ends[number], work_.where);
      };
      progress_.bytes += piece.bytes;
      if (on_cpu()) {
        collect();
      } else {
        if (leaving.valid()) leaving.get();
        leaving =
            std::async(std::launch::async | std::launch::deferred, collect);  // later where no thread is to be had
      }
      drop(piece.slices.parts);
      ++progress_.chunks_done;
      OnProgress::report(progress_);
    }
    if (leaving.valid()) leaving.get();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Target& t = targets[i];
      if (is_result(t)) {
        if (!work_.sink) values_.emplace_back(t.edge, collectors[i]->storage());
        continue;
      }
      if (t.kind == Target::Kind::Carry) continue;
      const PartialState total = folds[i]->total();
      slicer_.know(t.edge, total.first);
      if (graph::output_count(g_.nodes[t.edge.node].op) == 2) slicer_.know({t.edge.node, 1}, total.second);
    }
  }

  /// Values without the axis, once everything along it is done.
  void run_rest() {
    graph::Slicer::Slices slices = slicer_.slice(rest_);
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      Edge& e = slices.values[i];
      if (slicer_.knows(rest_[i].edge) || e.node()->state.load(std::memory_order_acquire) != graph::State::Ready)
        continue;
      e = slicer_.node(g_.nodes[rest_[i].edge.node], graph::Op::View, e.node()->dtype, rest_[i].box.extent, {&e, 1},
                       encode(graph::identity_map(e.node()->rank)));  // memory of somebody else is copied
    }
    evaluate(slices.values);
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const Edge& e = slices.values[i];
      values_.emplace_back(rest_[i].edge, e.node()->extra->results.at(e.output()));
    }
    drop(slices.parts);
  }

  const ChunkedWork& work_;
  const graph::Graph& g_;
  Backend& b_;
  const graph::Chunking chunking_;
  graph::Slicer slicer_;
  std::vector<std::vector<Target>> passes_;
  std::vector<SliceRequest> rest_;  ///< roots without the axis
  std::vector<std::pair<GraphEdge, std::shared_ptr<graph::Storage>>> values_;
  Progress progress_;
  Counters counters_;
  std::string interpreted_;
};

/// Why the work has no chunks that fit.
std::string why_not(const ChunkedWork& work, const graph::Graph& g) {
  const graph::Chunking c = graph::find_chunking(g, 0, access_of(work));
  if (c.whole == graph::kNoId && c.beside == graph::kNoId) return "even its smallest chunks do not fit";
  const graph::NodeId id = c.whole == graph::kNoId ? c.beside : c.whole;
  const graph::GraphNode& n = g.nodes[id];
  return fmt::format("{} {} {} at {} {}", graph::name(n.op), name(n.dtype), graph::to_string(g.shape(id)),
                     n.where().str(),
                     c.whole == graph::kNoId ? "reads any place of its operand, and no chunk fits beside that"
                                             : "needs all of its operand at once");
}

}  // namespace

ChunkedValues evaluate_in_chunks(const ChunkedWork& work) {
  constexpr std::int64_t kAnyColumns = std::numeric_limits<std::int64_t>::max();  // a sort has no pieces
  const graph::Graph g = graph::dce(graph::fold_unsorted(work.graph, graph::Ascending::ByOffsets, kAnyColumns));
  int rank = 0;
  for (const graph::Dims& shape : g.shapes) rank = std::max(rank, shape.size());
  for (int number = 0; number < rank; ++number) {
    Chunks chunks(work, g, number);
    if (chunks.fit()) return chunks.run();
  }
  const PoolStats memory = work.backend.memory();
  work.backend.trim();
  TARRY_THROW(OutOfMemory, "", Where{},
              fmt::format("{} needs {} and has room for {}; it could not be worked off in chunks: {}\n{}",
                          work.backend.device().str(), amount(work.needed), amount(work.backend.room()),
                          why_not(work, g), memory_table(memory, work.needed, "system")));
}

}  // namespace tarry::runtime
