// KernelModel: demand-driven, as select() in codegen; places are interned so that a request is two numbers.
#include "graph/fusion/model.h"

#include <algorithm>

namespace tarry::graph {
namespace {

enum Region : std::uint8_t { kRow, kOuter, kPoint };
constexpr int kLoopAxis = 30;           // beyond those of a space
constexpr double kPartLaunches = 1.01;  // launches that a kernel of unrelated parts counts for each of them

}  // namespace

KernelModel::KernelModel(const FusionGraph& f, const CostModel& cost, const Limits& limits)
    : f_(f), g_(f.g), cost_(cost), limits_(limits) {
  root_.assign(g_.nodes.size() * 2, false);
  for (const GraphEdge& r : g_.roots) root_[slot(r)] = true;
  places_of_.resize(g_.nodes.size());
  met_by_.resize(g_.nodes.size());
  home_.resize(g_.shapes.size() * 2);
  home_kernel_.resize(home_.size());
  same_place_.assign(g_.nodes.size() * Node::kMaxInputs, false);
  for (NodeId id = 0; id < g_.nodes.size(); ++id) {
    const GraphNode& n = g_.nodes[id];
    for (int i = 0; f_.op_class(id) == OpClass::Map && i < n.n_inputs; ++i) {
      const GraphNode& in = g_.nodes[n.inputs[i].node];
      same_place_[id * Node::kMaxInputs + static_cast<std::size_t>(i)] =
          in.shape == n.shape && in.op != Op::View && in.op != Op::Reshape;
    }
  }
}

// --- Places ---------------------------------------------------------------------------------------------------------

std::uint32_t KernelModel::intern(Place place) {
  for (const AxisMap& m : place.dims) {
    if (m.axis >= kGatheredAxis)
      place.axes |= gathered_axes_[static_cast<std::size_t>(m.axis - kGatheredAxis)], place.gathered = true;
    else if (m.axis >= 0)
      place.axes |= 1u << m.axis;
  }
  if (key_ == kNoId) trim(place);  // only maps have slots, of which boxes tell where they end
  if (is_everywhere(place.box)) place.box.clear();
  std::string key(reinterpret_cast<const char*>(place.box.data()), place.box.size() * sizeof(std::int64_t));
  key.push_back('|');
  if (place.loop != kNoId) key.append(reinterpret_cast<const char*>(&place.loop), sizeof place.loop);
  for (const AxisMap& m : place.dims) {
    const std::int64_t part[3] = {m.axis, m.start, m.step};
    key.append(reinterpret_cast<const char*>(part), sizeof part);
  }
  const auto [it, fresh] = place_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(places_.size()));
  if (fresh) places_.push_back(std::move(place));
  return it->second;
}

/// The coordinates of the kernel's space, but the reduced one if `outer`, as those of a value that lives there.
std::uint32_t KernelModel::home(ShapeId shape, bool outer) {
  const std::size_t at = std::size_t{shape} * 2 + outer;
  if (home_kernel_[at] == kernel_number_) return home_[at];
  home_kernel_[at] = kernel_number_;
  return home_[at] = find_home(shape, outer);
}

std::uint32_t KernelModel::find_home(ShapeId shape, bool outer) {
  const std::uint64_t space = key_ == kNoId ? std::uint64_t{point_} * 2 : std::uint64_t{key_} * 2 + 1;
  const std::uint64_t id = (space << 33) | std::uint64_t{outer} << 32 | shape;
  const auto [it, fresh] = homes_.try_emplace(id, 0);
  if (!fresh) return it->second;
  Place p;
  int axis = -1;
  for (std::int64_t extent : g_.shapes[shape]) {
    if (extent == 1) {
      p.dims.push_back({-1, 0, 0});
      continue;
    }
    do ++axis;
    while (axis < space_.size() && ((outer && axis == axis_) || space_[axis] == 1));
    p.dims.push_back({axis, 0, 1});
  }
  return it->second = intern(std::move(p));
}

std::uint32_t KernelModel::home_of(NodeId id) {
  const bool outer = key_ != kNoId && f_.space(id) != point_;
  return home(g_.nodes[id].shape, outer);
}

KernelModel::Step KernelModel::step(NodeId reader, int input, std::uint32_t place) {
  const std::uint64_t slot = std::uint64_t{reader} * Node::kMaxInputs + static_cast<std::uint64_t>(input);
  if (same_place_[slot]) {
    const GraphEdge e = g_.nodes[reader].inputs[input];
    return {e, place, false};
  }
  const OpClass c = f_.op_class(reader);
  const bool depends_on_space = c == OpClass::Update || (c == OpClass::Gather && input == 0);
  const std::optional<std::uint64_t> key = depends_on_space ? key_in_space(slot, place) : slot << 32 | place;
  if (!key) return make_step(reader, input, place);
  NumberTable& numbers = depends_on_space ? space_numbers_ : step_numbers_;
  if (const std::optional<std::uint32_t> known = numbers.find(*key)) return steps_[*known];
  const Step made = make_step(reader, input, place);  // asks for others
  numbers.insert(*key, static_cast<std::uint32_t>(steps_.size()));
  steps_.push_back(made);
  return made;
}

/// One number for three, where they are small enough.
std::optional<std::uint64_t> KernelModel::key_in_space(std::uint64_t slot, std::uint32_t place) const {
  constexpr int kSlotBits = 22, kPlaceBits = 22, kSpaceBits = 20;
  const std::uint64_t space = key_ == kNoId ? std::uint64_t{point_} * 2 : std::uint64_t{key_} * 2 + 1;
  if (slot >> kSlotBits != 0 || place >> kPlaceBits != 0 || space >> kSpaceBits != 0) return std::nullopt;
  return (slot << kPlaceBits | place) << kSpaceBits | space;
}

KernelModel::Step KernelModel::make_step(NodeId reader, int input, std::uint32_t place) {
  const Source s = f_.source(reader, input);
  const bool gathers = input == 0 && f_.op_class(reader) == OpClass::Gather;
  const AxisMap computed = gathers ? gathered(reader, place) : AxisMap{};
  const Place& from = places_[place];
  Place p;
  p.box = from.box;
  if (input == 1 && f_.op_class(reader) == OpClass::Update && !f_.scatter(reader))
    p.box = update_box(reader, from).value();
  for (int d = 0; d < s.map.size; ++d) {
    AxisMap m = s.map[d];
    if (m.axis == kGatheredAxis) {
      m.axis = computed.axis;
      if (from.loop != kNoId) p.loop = from.loop;
    } else if (m.axis >= 0) {
      const AxisMap& at = from.dims[static_cast<std::size_t>(m.axis)];
      m = {at.axis, m.start + m.step * at.start, at.axis < 0 ? 0 : m.step * at.step};
    }
    if (s.shape[d] == 1 || m.step == 0 || m.axis < 0) m = {-1, s.shape[d] == 1 ? 0 : m.start, 0};
    if (m.axis == kLoopAxis) p.loop = from.loop;
    p.dims.push_back(m);
  }
  const bool memory = g_.nodes[reader].n_inputs > 0 && f_.from_memory(reader, input);
  return {s.edge, intern(std::move(p)), memory};
}

// --- Demand ---------------------------------------------------------------------------------------------------------

bool KernelModel::fail(Reason reason) {
  out_.reason = reason;
  return false;
}

KernelCost KernelModel::evaluate(KernelId id, const Kernel& kernel, const std::vector<KernelId>& kernel_of,
                                 const std::vector<std::uint32_t>& readers) {
  ++visits_;
  ++kernel_number_;
  id_ = id;
  kernel_of_ = &kernel_of;
  readers_ = &readers;
  again_ = &kernel.again;
  out_ = {};
  requests_.clear();
  buffers_.clear();
  reduced_.clear();
  member_inputs_.clear();
  live_.clear();
  met_.clear();
  seen_.clear();
  seen_loads_.clear();
  seen_buffers_.clear();
  loaded_.clear();
  readings_.clear();
  stored_bytes_ = 0;
  apart_bytes_ = 0;
  row_kernel_ = ambiguous_ = nests_ = gathers_ = false;
  if (kernel.members.empty()) {
    out_.legal = true;
    return std::move(out_);
  }
  if (start(kernel) && want_outputs(kernel) && want_inputs() && find_regions() && check_reductions() && holds_all()) {
    count();
    out_.legal = true;
  }
  return std::move(out_);
}

/// The one space and key of all members.
bool KernelModel::start(const Kernel& kernel) {
  key_ = kNoId;
  scatter_ = kNoId;
  axis_ = -1;
  scans_ = false;
  reductions_ = 0;
  mode_ = g_.nodes[kernel.members.front()].mode;
  for (NodeId m : kernel.members) {
    if (f_.library(m) && kernel.members.size() > 1) return fail(Reason::Library);
    if (g_.nodes[m].mode != mode_) return fail(Reason::Mode);
    if (f_.scatter(m)) {
      if (scatter_ != kNoId) return fail(Reason::OtherSpace);
      scatter_ = m;
    }
    if (!f_.walks(m)) continue;
    if (key_ != kNoId && f_.key(m) != key_) return fail(Reason::ReductionChain);
    key_ = f_.key(m);
    if (++reductions_ > (f_.scans(m) ? limits_.scans : limits_.reductions)) return fail(Reason::Limit);
  }
  if (key_ != kNoId) {
    if (scatter_ != kNoId) return fail(Reason::OtherSpace);
    const ReduceSpace& r = f_.reduce_space(key_);
    point_ = r.point;
    outer_ = r.outer;
    space_ = r.space;
    axis_ = r.position;
    scans_ = r.scans;
    ambiguous_ = r.extent == 1 && !scans_;
  } else {
    point_ = outer_ =
        scatter_ == kNoId ? f_.space(kernel.members.front()) : f_.space(g_.nodes[scatter_].inputs[1].node);
    space_ = f_.extents(point_);
  }
  points_ = rows_ = 1;
  for (int a = 0; a < space_.size(); ++a) {
    points_ *= static_cast<double>(space_[a]);
    if (a != axis_) rows_ *= static_cast<double>(space_[a]);
  }
  return std::all_of(kernel.members.begin(), kernel.members.end(), [&](NodeId m) { return place_member(m); });
}

bool KernelModel::place_member(NodeId m) {
  if (m == scatter_) return true;
  const SpaceId s = f_.space(m);
  if (f_.walks(m) || s == point_ || (key_ != kNoId && s == outer_)) return true;
  return fail(Reason::OtherSpace);
}

bool KernelModel::want_outputs(const Kernel& kernel) {
  for (NodeId m : kernel.members) {
    const GraphNode& n = g_.nodes[m];
    const OpClass c = f_.op_class(m);
    bool any = false;
    for (std::uint32_t o = 0; o < static_cast<std::uint32_t>(output_count(n.op)); ++o) {
      if (!stored({m, o})) continue;
      any = true;
      stored_bytes_ +=
          m == scatter_ ? g_.count(n.inputs[1].node) * static_cast<std::int64_t>(itemsize(n.dtype)) : g_.bytes(m);
    }
    if (f_.walks(m)) {
      if (any) reduce(m);
    } else if (f_.library(m)) {
      load_operands(m);
    } else if (m == scatter_) {
      want_for(m, 1, home(g_.nodes[n.inputs[1].node].shape, false));
      const GraphEdge base = f_.base(m);
      if (f_.computed(base.node)) {
        const KernelId owner = owner_of(base.node);
        if (owner == id_ || owner == kNoId) return fail(Reason::OtherSpace);
        if (seen_buffers_.insert(slot(base), static_cast<std::uint32_t>(buffers_.size())).second) {
          buffers_.push_back({base, false, 0});
          out_.loads.push_back(base);
        }
      }
    } else if (any && (c == OpClass::Map || c == OpClass::Update || c == OpClass::Gather)) {
      const std::uint32_t r = request(m, home_of(m));
      demand_everywhere(r, m);
    } else if (any && c != OpClass::Iota && c != OpClass::Scalar) {  // a copy
      const std::uint32_t v = want_for(m, 0, home_of(m));
      if (v == kResult && f_.space(m) == point_ && !ambiguous_) return fail(Reason::WholeReduction);
      if (v < kLoad) {
        reduced_.push_back(v | kCopy);
        demand_everywhere(v, m);
      }
    }
    if (out_.reason != Reason::Fused) return false;
  }
  return true;
}

/// A request that `output` is made of, where that is stored at every point; another output may be one of the outer
/// space.
void KernelModel::demand_everywhere(std::uint32_t request, NodeId output) {
  if (f_.space(output) != point_ || ambiguous_) return;
  requests_[request].early = requests_[request].spread = true;
}

/// All of what a call takes.
void KernelModel::load_operands(NodeId id) {
  for (int i = 0; i < g_.nodes[id].n_inputs; ++i) {
    const GraphEdge operand = f_.source(id, i).edge;
    const bool leaf = f_.op_class(operand.node) == OpClass::Leaf;
    const KernelId owner = owner_of(operand.node);
    if (!leaf && (owner == id_ || owner == kNoId)) fail(Reason::Library);
    const auto slot_of = static_cast<std::uint64_t>(slot(operand));
    if (seen_buffers_.insert(slot_of, static_cast<std::uint32_t>(buffers_.size())).second) {
      buffers_.push_back({operand, leaf, g_.bytes(operand.node)});
      if (!leaf) out_.loads.push_back(operand);
    }
    member_inputs_.push_back({id, i, kLoad});
  }
}

/// A reduction of the kernel that something needs.
void KernelModel::reduce(NodeId id) {
  if (std::find(live_.begin(), live_.end(), id) != live_.end()) return;
  live_.push_back(id);
  const GraphNode& n = g_.nodes[id];
  for (int i = 0; i < n.n_inputs; ++i)
    reduced_.push_back(want_for(id, i, home(g_.nodes[n.inputs[0].node].shape, false)));
}

std::uint32_t KernelModel::want_for(NodeId member, int input, std::uint32_t place) {
  const std::uint32_t found = want(step(member, input, place));
  member_inputs_.push_back({member, input, found});
  return found;
}

std::uint32_t KernelModel::request(NodeId node, std::uint32_t place) {
  const auto [number, fresh] =
      seen_.insert(std::uint64_t{node} << 32 | place, static_cast<std::uint32_t>(requests_.size()));
  if (fresh) {
    ++visits_;
    Places& places = places_of_[node];
    if (places.kernel != kernel_number_) places = {kernel_number_, 0};
    if (++places.count > kMostPlaces || (scans_ && f_.places(node))) fail(Reason::Limit);
    Computed c{node, place};
    const SpaceId s = f_.space(node);
    if (places_[place].loop != kNoId) c.loop = loop_requests_[places_[place].loop];
    c.home = f_.op_class(node) != OpClass::Reduce && c.loop == kNoId;
    c.home &= (s == point_ && place == home(g_.nodes[node].shape, false)) ||
              (key_ != kNoId && s == outer_ && place == home(g_.nodes[node].shape, true));
    requests_.push_back(c);
  }
  return number;
}

std::uint32_t KernelModel::want(const Step& s) {
  const NodeId z = s.edge.node;
  if (f_.op_class(z) == OpClass::Scalar) return kFree;
  if (f_.free(z)) return axis_ >= 0 && (places_[s.place].axes >> axis_ & 1) ? kVaryingLoad : kLoad;
  if (f_.op_class(z) == OpClass::Leaf) return load(s);
  const KernelId owner = owner_of(z);
  if (s.memory) {
    if (owner == id_ || owner == kNoId) fail(Reason::OtherSpace);
    return load(s);
  }
  const bool repeat = owner == kNoId || owner == id_ || std::find(again_->begin(), again_->end(), z) != again_->end();
  if (!repeat) return load(s);
  if (f_.walks(z)) {
    if (owner != id_ && !f_.scans(z)) return nest(z, s.place);
    if (s.place != home(g_.nodes[z].shape, !f_.scans(z)) || owner != id_) return fail(Reason::WholeReduction), kResult;
    reduce(z);
    return kResult;
  }
  if (!f_.repeatable(z)) fail(Reason::OtherSpace);
  if (f_.op_class(z) == OpClass::Update && places_[s.place].gathered) return fail(Reason::BroadcastCost), kFree;
  gathers_ |= f_.op_class(z) == OpClass::Gather;
  if (g_.nodes[z].mode != mode_) fail(Reason::Mode);
  return request(z, s.place);
}

/// A reduction at every point of a place: short, in a loop of its own, which holds no other.
std::uint32_t KernelModel::nest(NodeId reduce, std::uint32_t place) {
  const bool chain = (*kernel_of_)[reduce] == kNoId;
  if (const std::uint32_t loop = places_[place].loop; loop != kNoId && f_.key(loops_[loop].first) == key_)
    out_.obstacle = loops_[loop].first;  // as a reduction of the kernel it may hold one
  else if (loop != kNoId && chain)
    out_.inner = reduce;
  if (scans_ || !f_.nestable(reduce) || places_[place].loop != kNoId || !places_[place].box.empty() ||
      scatter_ != kNoId)
    return fail(chain ? Reason::ReductionChain : Reason::WholeReduction), kResult;
  if (g_.nodes[reduce].mode != mode_) fail(Reason::Mode);
  nests_ = true;
  return request(reduce, place);
}

/// Where a nested reduction reads its input.
std::uint32_t KernelModel::loop_place(const Computed& c) {
  const auto [loop, fresh] =
      loop_ids_.try_emplace(std::uint64_t{c.node} << 32 | c.place, static_cast<std::uint32_t>(loops_.size()));
  if (fresh) loops_.emplace_back(c.node, c.place);
  loop_requests_.resize(loops_.size());
  loop_requests_[loop->second] =
      static_cast<std::uint32_t>(seen_.insert(std::uint64_t{c.node} << 32 | c.place, 0).first);
  Place p;
  p.loop = loop->second;
  p.dims = places_[c.place].dims;
  p.dims.insert(p.dims.begin() + g_.reduces[g_.nodes[c.node].payload].axis, AxisMap{kLoopAxis, 0, 1});
  return intern(std::move(p));
}

std::uint32_t KernelModel::load(const Step& s) {
  ++visits_;
  const bool leaf = f_.op_class(s.edge.node) == OpClass::Leaf;
  const auto slot_of = static_cast<std::uint64_t>(slot(s.edge));
  const auto [buffer, fresh_buffer] = seen_buffers_.insert(slot_of, static_cast<std::uint32_t>(buffers_.size()));
  if (fresh_buffer) {
    buffers_.push_back({s.edge, leaf, 0});
    if (!leaf) out_.loads.push_back(s.edge);
  }
  const Place& p = places_[s.place];
  bool varies = false;
  if (axis_ >= 0) varies = p.axes >> axis_ & 1;
  const auto [number, fresh_load] = seen_loads_.insert(slot_of << 32 | s.place | std::uint64_t{s.memory} << 63,
                                                       static_cast<std::uint32_t>(loaded_.size()));
  last_load_ = number;
  if (fresh_load) {
    loaded_.push_back({buffer, s});
    std::int64_t elements = 1;
    for (int a = 0; a < space_.size(); ++a) {
      if (!(p.axes >> a & 1)) continue;
      const auto i = static_cast<std::size_t>(a) * 2;
      elements *= p.box.empty() ? space_[a] : std::min(p.box[i + 1], space_[a]) - p.box[i];
    }
    if (p.loop != kNoId) elements *= static_cast<std::int64_t>(loop_extent(p.loop));
    const std::int64_t bytes = elements * static_cast<std::int64_t>(itemsize(g_.nodes[s.edge.node].dtype));
    buffers_[buffer].bytes += bytes;
    if (p.loop != kNoId && moves_everywhere(p) && stride_along(s, kLoopAxis) == 1)
      apart_bytes_ += static_cast<double>(bytes) * (std::min(cost_.apart, loop_extent(p.loop)) - 1);
  }
  return varies ? kVaryingLoad : kLoad;
}

bool KernelModel::want_inputs() {
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    const int most = key_ == kNoId ? limits_.statements : limits_.walking;
    if (requests_.size() > static_cast<std::size_t>(most)) return fail(Reason::Limit);
    const Computed c = requests_[at];
    const GraphNode& n = g_.nodes[c.node];
    std::uint32_t found[Node::kMaxInputs] = {kFree, kFree, kFree};
    if (n.op == Op::Update && c.loop != kNoId) return fail(Reason::ReductionChain);
    const int only = n.op == Op::Update ? decide(c.node, c.place) : -1;
    const std::uint32_t place = f_.op_class(c.node) == OpClass::Reduce ? loop_place(c) : c.place;
    for (int i = 0; i < n.n_inputs; ++i) {
      if (only >= 0 && only != i) continue;
      last_load_ = kNoId;
      found[i] = want(step(c.node, i, place));
      if (key_ == kNoId && last_load_ != kNoId) readings_.emplace_back(static_cast<std::uint32_t>(at), last_load_);
    }
    if (out_.reason != Reason::Fused) return false;
    std::copy(found, found + Node::kMaxInputs, requests_[at].inputs);
    requests_[at].decided = only >= 0;
  }
  if (static_cast<int>(buffers_.size()) > limits_.buffers) return fail(Reason::Limit);
  return true;
}

// --- Regions and cost -----------------------------------------------------------------------------------------------

/// How often each request is computed; inputs have smaller nodes.
bool KernelModel::find_regions() {
  if (key_ == kNoId) return true;
  order_.clear();
  for (std::size_t at = 0; at < requests_.size(); ++at) order_.push_back(std::uint64_t{requests_[at].node} << 32 | at);
  std::sort(order_.begin(), order_.end());
  for (const std::uint64_t at : order_) {
    Computed& c = requests_[static_cast<std::uint32_t>(at)];
    bool outer = false;
    if (f_.op_class(c.node) == OpClass::Update && !c.decided && (places_[c.place].axes >> axis_ & 1))
      c.region = kPoint;  // its box holds at some places of the axis
    for (std::uint32_t in : c.inputs) {
      std::uint8_t region = kRow;
      if (in == kVaryingLoad) region = kPoint;
      if (in == kResult) region = scans_ ? kPoint : kOuter;
      if (in < kLoad) region = requests_[in].region;
      c.region = std::max(c.region, region);
      outer |= region == kOuter;
      c.depends |= in == kResult || (in < kLoad && requests_[in].depends);
    }
    const KernelId owner = (*kernel_of_)[c.node];
    if (c.depends && c.home && owner != id_ && owner != kNoId) out_.obstacle = c.node;
    if (c.depends && (!c.home || out_.obstacle != kNoId)) return fail(Reason::WholeReduction);
    row_kernel_ |= c.region == kPoint && outer;
  }
  for (std::uint32_t v : reduced_)
    if (v < kLoad && !(v & kCopy)) requests_[v].early = true;
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    for (const Computed& c = requests_[static_cast<std::uint32_t>(*at)]; std::uint32_t in : c.inputs)
      if (in < kLoad) requests_[in].early |= c.early;
  for (Computed& c : requests_)
    if (c.region == kRow && !c.early) c.region = kOuter;
  for (Computed& c : requests_)
    if (c.loop != kNoId) c.region = requests_[c.loop].region;
  return true;
}

/// Reductions of reductions need rows that can be gone over again.
bool KernelModel::check_reductions() {
  for (std::uint32_t v : reduced_) {
    if (v >= kLoad) {
      if (v == kResult) return fail(Reason::ReductionChain);
      continue;
    }
    const Computed& c = requests_[v & ~kCopy];
    if (v & kCopy) {
      if (c.depends && c.region == kOuter && f_.space(c.node) == point_ && !ambiguous_)
        return fail(Reason::WholeReduction);
      row_kernel_ |= c.depends && c.region == kOuter && c.spread;
      continue;
    }
    if (!c.depends) continue;
    if (scans_) return fail(Reason::ReductionChain);
    if (c.region != kPoint) return fail(Reason::ReductionChain);
    row_kernel_ = true;
  }
  for (const Computed& c : requests_) row_kernel_ |= c.depends && c.region == kOuter && c.spread;
  return !row_kernel_ || (!nests_ && f_.reduce_space(key_).rows(limits_)) || fail(Reason::WholeReduction);
}

void KernelModel::count() {
  const bool empty = points_ == 0 && rows_ == 0;
  double bytes = empty ? 0 : static_cast<double>(stored_bytes_) + apart_bytes_;
  for (const Buffer& b : buffers_) bytes += static_cast<double>(std::min(b.bytes, g_.bytes(b.edge.node)));
  double instructions = 0, statements = 0;
  const double per_row = std::max(points_ / cost_.points_per_row_value, rows_);
  const std::uint32_t slots = slot_axes();
  for (const Computed& c : requests_) {
    if (c.decided) continue;
    ++statements;
    // Each slot along first axes knows whether it is in a box that ends along these alone.
    if ((slots & 1) != 0 && g_.nodes[c.node].op == Op::Update && (ending_axes(c) & ~slots) == 0) continue;
    const double points = key_ == kNoId ? points_ / slots_without(places_[c.place], slots) : points_;
    const double times = key_ == kNoId || c.region == kPoint ? points : c.region == kOuter ? rows_ : per_row;
    double steps = c.loop != kNoId ? loop_extent(places_[c.place].loop) : 1;
    if (f_.op_class(c.node) == OpClass::Reduce) steps = static_cast<double>(f_.reduce_space(f_.key(c.node)).extent);
    const bool is_walked_box = key_ != kNoId && c.region == kPoint && f_.op_class(c.node) == OpClass::Update;
    instructions += times * steps * (is_walked_box ? cost_.walked_box : info(g_.nodes[c.node].op).cost);
  }
  out_.seconds = (empty ? 0 : cost_.seconds_per_launch * (1 + kPartLaunches * unrelated())) +
                 bytes / cost_.bytes_per_second + instructions / cost_.instructions_per_second +
                 statements * cost_.seconds_per_statement;
  if (scatter_ != kNoId) out_.seconds += scatter_seconds();
}

Walk KernelModel::walk() const {
  Walk w;
  w.simple = key_ != kNoId && !scans_ && !row_kernel_ && !nests_ && !ambiguous_ && !gathers_;
  w.key = key_;
  w.mode = mode_;
  w.reductions = live_;
  w.buffers = static_cast<int>(buffers_.size());
  w.statements = static_cast<int>(requests_.size());
  for (const Loaded& l : loaded_) {
    const Buffer& b = buffers_[l.buffer];
    w.streams.push_back(
        {b.edge, std::min(b.bytes, g_.bytes(b.edge.node)), places_[l.step.place].axes, contiguous_axis(l.step)});
  }
  return w;
}

/// The axis of the space along which what is loaded lies side by side.
int KernelModel::contiguous_axis(const Step& s) const {
  for (int axis = 0; axis < space_.size(); ++axis)
    if (stride_along(s, axis) == 1) return axis;
  return -1;
}

/// True if no two points of the space read the same: caches keep what several do.
bool KernelModel::moves_everywhere(const Place& place) const {
  for (int axis = 0; axis < space_.size(); ++axis)
    if (space_[axis] > 1 && (place.axes >> axis & 1) == 0) return false;
  return true;
}

/// Elements between neighbours along an axis of what is loaded; 0 where its memory has another shape.
std::int64_t KernelModel::stride_along(const Step& s, int axis) const {
  const std::vector<AxisMap>& dims = places_[s.place].dims;
  const Dims& shape = g_.shape(s.edge.node);
  if (s.memory || static_cast<int>(dims.size()) != shape.size()) return 0;
  Dims strides = row_major_strides(shape.span());
  if (f_.op_class(s.edge.node) == OpClass::Leaf) {
    const LeafLayout& layout = g_.leaves[g_.nodes[s.edge.node].payload];
    if (!layout.contiguous) strides = layout.strides;
  }
  std::int64_t stride = 0;
  for (int d = 0; d < shape.size(); ++d)
    if (dims[static_cast<std::size_t>(d)].axis == axis) stride += dims[static_cast<std::size_t>(d)].step * strides[d];
  return stride;
}

bool KernelModel::computes_once() {
  seen_.clear();
  return scatter_ == kNoId && std::all_of(requests_.begin(), requests_.end(), [&](const Computed& c) {
           return c.home && !c.decided && (key_ == kNoId || c.region != kRow) && seen_.insert(c.node, 0).second;
         });
}

/// The copy of a base that lives on.
double KernelModel::scatter_seconds() {
  const GraphEdge base = f_.base(scatter_);
  const bool leaf = f_.op_class(base.node) == OpClass::Leaf;
  const bool dies = leaf ? g_.leaves[g_.nodes[base.node].payload].donated : !root(base) && (*readers_)[slot(base)] <= 1;
  if (dies) return 0;
  return cost_.seconds_per_launch + 2 * static_cast<double>(g_.bytes(scatter_)) / cost_.bytes_per_second;
}

}  // namespace tarry::graph
