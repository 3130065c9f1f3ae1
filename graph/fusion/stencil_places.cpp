// StencilPlaces: from the result to the base, each node where its readers want it.
#include "graph/fusion/stencil_places.h"

#include <algorithm>
#include <cstdlib>

namespace tarry::graph {

NodeId updated_value(const Graph& g, NodeId update) {
  const GraphNode& n = g.nodes[update];
  if (n.op != Op::Update || !g.updates[n.payload].dense()) return kNoId;
  const NodeId value = n.inputs[1].node;
  const OpClass c = info(g.nodes[value].op).op_class;
  return c == OpClass::Map || c == OpClass::Update ? value : kNoId;
}

bool same_box(const Graph& g, NodeId update, NodeId other) {
  const GraphNode &a = g.nodes[update], &b = g.nodes[other];
  if (a.op != Op::Update || b.op != Op::Update || !(a.inputs[0] == b.inputs[0])) return false;
  const UpdateAttributes &x = g.updates[a.payload], &y = g.updates[b.payload];
  return x.dense() && y.dense() && x.start == y.start &&
         g.nodes[a.inputs[1].node].shape == g.nodes[b.inputs[1].node].shape;
}

StencilPlaces::StencilPlaces(const Graph& g, std::span<const NodeId> nodes, GraphEdge base)
    : g_(g), nodes_(nodes), from_(base) {
  rank_ = squeeze(g.shape(nodes.back())).size();
  for (std::size_t i = 0; i < nodes.size(); ++i) index_.emplace(nodes[i], i);
  at_.resize(nodes.size());
  find_updates();
  operands_ = {base};
  operand_places_.resize(1);
  valid_ = rank_ >= 1 && rank_ <= 3 && find_places();
}

void StencilPlaces::find_updates() {
  for (const NodeId id : nodes_)
    if (const NodeId value = updated_value(g_, id); value != kNoId && contains(value)) updated_.try_emplace(value, id);
  if (const NodeId value = updated_value(g_, from_.node); value != kNoId) updated_.try_emplace(value, from_.node);
  NodeId last = from_.node;
  for (const NodeId id : nodes_) {
    if (g_.nodes[id].op != Op::Update) continue;
    if (same_box(g_, id, last)) before_.emplace(id, last);
    last = id;
  }
}

Source StencilPlaces::read(NodeId id, int input) const {
  const GraphNode& n = g_.nodes[id];
  IndexMap map = place(id);
  if (n.op == Op::Update) {
    for (int d = 0; d < map.size && input == 1; ++d) map[d].start -= g_.updates[n.payload].start[d];
  } else {
    map = compose(broadcast_map(g_.shape(n.inputs[input].node).span(), g_.shape(id).span()), map);
  }
  const auto before = input == 0 ? before_.find(id) : before_.end();
  Source s = trace(g_, before == before_.end() ? n.inputs[input] : GraphEdge{before->second, 0}, map);
  const auto updated = updated_.find(s.edge.node);
  if (updated != updated_.end() && updated->second < id && s.shape == g_.shape(s.edge.node)) {
    s.edge = {updated->second, 0};
    s.shape = g_.shape(updated->second);
    for (int d = 0; d < s.map.size; ++d) s.map[d].start += g_.updates[g_.nodes[updated->second].payload].start[d];
  }
  for (int d = 0; d < s.map.size; ++d)
    if (s.shape[d] == 1 || s.map[d].step == 0 || s.map[d].axis < 0)
      s.map[d] = {-1, s.shape[d] == 1 ? 0 : s.map[d].start, 0};
  return s;
}

bool StencilPlaces::lies_along(const IndexMap& map, const Dims& shape) const {
  int axis = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (map[d].axis != axis || map[d].step != 1 || (axis + 2 < rank_ && map[d].start != 0)) return false;
    ++axis;
  }
  return axis == rank_;
}

/// The last axis (1), or the one before it (2).
std::int64_t StencilPlaces::start(const IndexMap& map, int from_last) const {
  for (int d = 0; d < map.size; ++d)
    if (map[d].axis >= 0 && map[d].axis == rank_ - from_last) return map[d].start;
  return 0;
}

bool StencilPlaces::find_places() {
  IndexMap home;
  int axis = 0;
  for (const std::int64_t extent : g_.shape(nodes_.back()))
    home.push_back(extent == 1 ? AxisMap{-1, 0, 0} : AxisMap{axis++, 0, 1});
  at_.back().wanted.push_back(home);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const NodeId id = nodes_[i];
    const GraphNode& n = g_.nodes[id];
    const OpClass c = info(n.op).op_class;
    if (n.mode != g_.nodes[nodes_.back()].mode) return false;
    if (!is_pure(n.op)) return false;
    if (c != OpClass::Map && (c != OpClass::Update || !g_.updates[n.payload].dense())) return false;
    if (!settle(at_[i], g_.shape(id))) return false;
    at_[i].kept |= i + 1 == nodes_.size();
    if (at_[i].kept) at_[i].owner = i;
    for (int k = 0; k < n.n_inputs; ++k)
      if (!want(id, k)) return false;
  }
  if (!settle(base_, g_.shape(from_.node))) return false;
  operand_places_.front() = base_.place;
  return true;
}

std::optional<std::array<std::int64_t, 2>> StencilPlaces::shift(const IndexMap& from, const IndexMap& to) const {
  std::array<std::int64_t, 2> by{};
  for (int d = 0; d < from.size; ++d) {
    if (from[d].axis != to[d].axis || from[d].step != to[d].step) return std::nullopt;
    const std::int64_t apart = to[d].start - from[d].start;
    if (apart == 0) continue;
    if (std::abs(apart) > kFarthest || from[d].step != 1 || from[d].axis + 2 < rank_) return std::nullopt;
    by[static_cast<std::size_t>(from[d].axis + 2 - rank_)] = apart;
  }
  return by;
}

/// The place of what is wanted, near the point itself.
bool StencilPlaces::settle(At& at, const Dims& shape) {
  if (at.wanted.empty() || !lies_along(at.wanted.front(), shape)) return false;
  at.place = at.wanted.front();
  for (int d = 0; d < at.place.size; ++d) {
    std::int64_t low = at.place[d].start, high = low;
    for (const IndexMap& m : at.wanted) {
      low = std::min(low, m[d].start);
      high = std::max(high, m[d].start);
    }
    at.kept |= high > low;
    at.place[d].start = std::clamp<std::int64_t>(0, low, high);
  }
  if (!std::all_of(at.wanted.begin(), at.wanted.end(),
                   [&](const IndexMap& m) { return shift(at.place, m).has_value(); }))
    return false;
  for (int from_last = 1; from_last <= 2; ++from_last) {
    Reach& r = at.window[static_cast<std::size_t>(2 - from_last)];
    r.before += start(at.place, from_last);
    r.behind -= start(at.place, from_last);
  }
  return true;
}

/// Notes where a node reads an input. Windows are relative to the point until settle() knows the place.
bool StencilPlaces::want(NodeId reader, int input) {
  const Source s = read(reader, input);
  const NodeId z = s.edge.node;
  const OpClass c = info(g_.nodes[z].op).op_class;
  if (c == OpClass::Scalar || c == OpClass::Iota) return true;
  if (!(s.shape == g_.shape(z)) || s.edge.output != 0) return false;  // through a reshape
  const bool is_base = s.edge == from_;
  if (!is_base && !contains(z)) {
    const auto known = std::find(operands_.begin(), operands_.end(), s.edge);
    if (known != operands_.end())
      return shift(operand_places_[static_cast<std::size_t>(known - operands_.begin())], s.map).has_value();
    operands_.push_back(s.edge);
    operand_places_.push_back(s.map);
    return true;
  }
  if (!is_base && z >= reader) return false;
  At& at = is_base ? base_ : at_[index_.at(z)];
  if (!lies_along(s.map, s.shape)) return false;
  const At& from = at_[index_.at(reader)];
  for (int from_last = 1; from_last <= 2; ++from_last) {
    const auto k = static_cast<std::size_t>(2 - from_last);
    const std::int64_t shift = start(s.map, from_last);
    const Reach r{from.window[k].before - shift, from.window[k].behind + shift};
    if (at.wanted.empty()) at.window[k] = r;
    at.window[k].before = std::max(at.window[k].before, r.before);
    at.window[k].behind = std::max(at.window[k].behind, r.behind);
  }
  at.wanted.push_back(s.map);
  at.owner = std::min(at.owner, from.owner);
  at.last = std::max(at.last, from.owner);
  return true;
}

int StencilPlaces::words() const {
  const auto of = [&](NodeId id) {
    return static_cast<int>(std::max<std::size_t>(1, itemsize(g_.nodes[id].dtype) / 4));
  };
  int held = 0, most = 0;
  for (std::size_t i = 1; i < operands_.size(); ++i) held += of(operands_[i].node);
  for (std::size_t now = 0; now < nodes_.size(); ++now) {
    if (!at_[now].kept) continue;
    int sum = base_.last >= now ? of(from_.node) : 0;
    for (std::size_t i = 0; i < now; ++i)
      if (at_[i].last >= now && (at_[i].kept || at_[i].owner < now)) sum += of(nodes_[i]);
    most = std::max({most, sum, of(nodes_[now])});
  }
  return held + most;
}

}  // namespace tarry::graph
