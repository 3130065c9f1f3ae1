// Union-find of dimensions, and graphs with other extents.
#include "runtime/warm/extents.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "codegen/ir/kernel_ir.h"
#include "graph/fusion/fusion.h"

namespace tarry::runtime {
namespace {

using graph::AxisMap;
using graph::Dims;
using graph::Graph;
using graph::GraphNode;
using graph::IndexMap;
using graph::NodeId;
using graph::OpClass;

/// A dimension of a node's shape.
using Dimension = std::uint32_t;
using Values = std::map<Dimension, std::int64_t>;

bool is_flip(const AxisMap& m, std::int64_t extent) { return m.step == -1 && m.start == extent - 1; }
bool is_whole(const AxisMap& m) { return m.start == 0 && m.step == 1; }

/// The dimensions of a graph in sets that must have equal extents. A set is named by one of its members.
class Symbols {
 public:
  explicit Symbols(const Graph& g) : g_(g) {
    Dimension count = 0;
    for (NodeId id = 0; id < g.nodes.size(); ++id) {
      first_.push_back(count);
      count += static_cast<Dimension>(g.shape(id).size());
    }
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), Dimension{0});
    pinned_.resize(count);
    reduced_.resize(count);
    for (NodeId id = 0; id < g.nodes.size(); ++id) constrain(id);
    spread(pinned_);
    spread(reduced_);
  }

  [[nodiscard]] Dimension find(NodeId node, int d) const { return find(first_[node] + static_cast<Dimension>(d)); }
  /// The sets that may have another extent, with the present one.
  [[nodiscard]] Values free() const {
    Values values;
    for (NodeId id = 0; id < g_.nodes.size(); ++id)
      for (int d = 0; d < g_.shape(id).size(); ++d)
        if (const Dimension s = find(id, d); !pinned_[s] && g_.shape(id)[d] > 1) values[s] = g_.shape(id)[d];
    return values;
  }
  /// True if a reduction or a scan goes along it: then what the program records may change where it is 1.
  [[nodiscard]] bool reduced(Dimension symbol) const { return reduced_[symbol]; }

 private:
  [[nodiscard]] Dimension find(Dimension d) const {
    while (parent_[d] != d) d = parent_[d];
    return d;
  }
  void unite(NodeId a, int da, NodeId b, int db) {
    const Dimension x = find(a, da), y = find(b, db);
    parent_[std::max(x, y)] = std::min(x, y);
  }
  void pin(NodeId node, int d) { pinned_[first_[node] + static_cast<Dimension>(d)] = true; }
  void pin(NodeId node) {
    for (int d = 0; d < g_.shape(node).size(); ++d) pin(node, d);
  }
  /// From members to the names of their sets.
  void spread(std::vector<bool>& marks) {
    for (Dimension d = 0; d < marks.size(); ++d)
      if (marks[d]) marks[find(d)] = true;
  }

  void constrain(NodeId id) {
    const GraphNode& n = g_.nodes[id];
    switch (graph::info(n.op).op_class) {
      case OpClass::Leaf:
        if (!g_.leaves[n.payload].contiguous) pin(id);
        break;
      case OpClass::Map:
        for (int i = 0; i < n.n_inputs; ++i) broadcast(id, n.inputs[i].node);
        break;
      case OpClass::View: view(id, n.inputs[0].node, g_.views[n.payload]); break;
      case OpClass::Reshape: reshape(id, n.inputs[0].node); break;
      case OpClass::Gather:
        broadcast(id, n.inputs[1].node);
        gather(id, n.inputs[0].node, static_cast<int>(n.payload));
        break;
      case OpClass::Update: update(id, n.inputs[0].node, n.inputs[1].node, g_.updates[n.payload]); break;
      case OpClass::Reduce:
        for (int i = 0; i < n.n_inputs; ++i) reduce(id, n.inputs[i].node, g_.reduces[n.payload].axis);
        break;
      case OpClass::Library: multiply(id, n.inputs[0].node, n.inputs[1].node); break;
      case OpClass::Loop:
      case OpClass::Routine:  // its kernels are chosen by extents
        pin(id);
        for (int i = 0; i < n.n_inputs; ++i) pin(n.inputs[i].node);
        break;
      case OpClass::Scan: scan(id, n.inputs[0].node, g_.reduces[n.payload].axis); break;
      case OpClass::Scalar:
      case OpClass::Iota:
      case OpClass::Composite: break;
    }
  }

  /// Along the axis the two have nothing to do with each other.
  void gather(NodeId to, NodeId from, int axis) {
    for (int d = 0; d < g_.shape(to).size(); ++d)
      if (d != axis) unite(from, d, to, d);
  }

  void broadcast(NodeId to, NodeId from) {
    const int new_axes = g_.shape(to).size() - g_.shape(from).size();
    for (int d = 0; d < g_.shape(from).size(); ++d) {
      if (g_.shape(from)[d] == g_.shape(to)[d + new_axes])
        unite(from, d, to, d + new_axes);
      else
        pin(from, d);  // 1
    }
  }

  void view(NodeId to, NodeId from, const IndexMap& map) {
    for (int d = 0; d < map.size; ++d) {
      const AxisMap& m = map[d];
      const std::int64_t extent = g_.shape(from)[d];
      if (m.axis >= 0 && extent == g_.shape(to)[m.axis] && (is_whole(m) || is_flip(m, extent))) {
        unite(from, d, to, m.axis);
        continue;
      }
      const bool first = m.start == 0 && (m.axis < 0 || g_.shape(to)[m.axis] == 1);  // every extent has one
      if (!first) pin(from, d);
      if (m.axis >= 0) pin(to, m.axis);
    }
  }

  /// Outer and inner axes that both shapes have in common are as free as they would be without it.
  void reshape(NodeId to, NodeId from) {
    const Dims &a = g_.shape(from), &b = g_.shape(to);
    const int shorter = std::min(a.size(), b.size());
    int outer = 0, inner = 0;
    while (outer < shorter && a[outer] == b[outer]) unite(from, outer, to, outer), ++outer;
    while (inner < shorter - outer && a[a.size() - 1 - inner] == b[b.size() - 1 - inner]) {
      unite(from, a.size() - 1 - inner, to, b.size() - 1 - inner);
      ++inner;
    }
    for (int d = outer; d < a.size() - inner; ++d) pin(from, d);
    for (int d = outer; d < b.size() - inner; ++d) pin(to, d);
  }

  void update(NodeId to, NodeId base, NodeId value, const graph::UpdateAttributes& u) {
    for (int d = 0; d < u.start.size(); ++d) {
      unite(base, d, to, d);
      if (u.start[d] == 0 && u.step[d] == 1 && g_.shape(value)[d] == g_.shape(to)[d]) {
        unite(value, d, to, d);
      } else {
        pin(to, d);
        pin(value, d);
      }
    }
  }

  void reduce(NodeId to, NodeId from, int axis) {
    reduced_[first_[from] + static_cast<Dimension>(axis)] = true;
    for (int d = 0; d < g_.shape(to).size(); ++d) unite(from, d < axis ? d : d + 1, to, d);
  }

  /// Where an extent of a product is 1, a program records something else.
  void multiply(NodeId to, NodeId a, NodeId b) {
    unite(a, 1, to, 1);
    unite(a, 2, b, 1);
    unite(b, 2, to, 2);
    for (const NodeId factor : {a, b}) {
      if (g_.shape(factor)[0] == g_.shape(to)[0])
        unite(factor, 0, to, 0);
      else
        pin(factor, 0);  // 1
      for (int d = 0; d < 3; ++d) reduced_[first_[factor] + static_cast<Dimension>(d)] = true;
    }
  }

  void scan(NodeId to, NodeId from, int axis) {
    reduced_[first_[from] + static_cast<Dimension>(axis)] = true;
    for (int d = 0; d < g_.shape(to).size(); ++d) unite(from, d, to, d);
  }

  const Graph& g_;
  std::vector<Dimension> first_;   // by node
  std::vector<Dimension> parent_;  // by dimension
  std::vector<bool> pinned_, reduced_;
};

/// `g` with the given extents; nullopt where a shape is more than any memory holds.
std::optional<Graph> with_extents(const Graph& g, const Symbols& symbols, const Values& values) {
  Graph out;
  out.roots = g.roots;
  out.views = g.views;
  out.updates = g.updates;
  out.reduces = g.reduces;
  out.scalars = g.scalars;
  out.leaves = g.leaves;
  for (NodeId id = 0; id < g.nodes.size(); ++id) {
    Dims shape = g.shape(id);
    std::int64_t bytes = static_cast<std::int64_t>(itemsize(g.nodes[id].dtype));
    for (int d = 0; d < shape.size(); ++d) {
      if (const auto value = values.find(symbols.find(id, d)); value != values.end()) shape[d] = value->second;
      if (__builtin_mul_overflow(bytes, shape[d], &bytes) || bytes >= Graph::kUnaddressable) return std::nullopt;
    }
    GraphNode n = g.nodes[id];
    n.shape = out.intern(shape);
    if (n.op == graph::Op::Input && out.leaves[n.payload].contiguous)
      out.leaves[n.payload].strides = graph::row_major_strides(shape.span());
    if (n.op == graph::Op::View) {
      IndexMap& map = out.views[n.payload];
      for (int d = 0; d < map.size; ++d)
        if (is_flip(map[d], g.shape(n.inputs[0].node)[d])) map[d].start = out.shape(n.inputs[0].node)[d] - 1;
    }
    out.nodes.push_back(n);
  }
  return out;
}

constexpr std::int64_t kFewElements = 64;  // of one of two reduced axes
constexpr std::int64_t kFewTerms = 8;      // of an axis of which a CPU's kernel has as many copies of its text
constexpr std::int64_t kFewColumns = 64,
                       kTall = std::int64_t{1} << 17;  // a GPU has a kernel for as many, of as many rows
constexpr std::int64_t kWide = std::int64_t{1} << 31;  // elements from which an index has 64 bits

/// One extent of every class that kernels for `target` distinguish, where the others are as recorded.
std::vector<std::int64_t> representatives(const graph::Target& target, bool reduced) {
  constexpr std::int64_t kSerial = 32, kBlock = 128, kLarge = std::int64_t{1} << 22;
  constexpr std::int64_t kFewBytes =
      640;  // more than a part of a warp has, and for most operands fewer than a block is best for
  std::vector<std::int64_t> tops{kSerial};
  for (std::int64_t row = kBlock; row <= kLarge; row *= 2)
    tops.push_back(row);  // beyond rows: what fusion gains changes
  if (reduced) tops.push_back(kFewBytes);
  if (reduced && target.max_cluster > 1)
    for (int blocks = codegen::kRowBlocks; blocks < codegen::kRowBlocks * target.max_cluster;)
      tops.push_back(std::int64_t{kBlock} * (blocks = codegen::row_class(std::int64_t{kBlock} * blocks + 1)));
  tops.push_back(kWide + kSerial);
  // A GPU's vectors need multiples of 2, 4, 8 or 16.
  const std::vector<std::int64_t> below =
      target.is_cuda() ? std::vector<std::int64_t>{0, 8, 4, 2, 1} : std::vector<std::int64_t>{0};
  std::vector<std::int64_t> extents;
  for (std::int64_t values = 1; !reduced && values <= 8; ++values) extents.push_back(values);  // of a pixel
  for (const std::int64_t columns : {std::int64_t{15}, std::int64_t{16}, std::int64_t{kFewColumns}})
    if (!reduced && target.is_cuda()) extents.push_back(columns);
  // Short rows, loops of contractions, and whether vectors of 4 fit; half a tree block.
  if (reduced && target.is_cuda()) extents = {2, 3, 4, 5, 6, 7, 8, 15, 16, 56, 60, 62, 63, 64};
  if (reduced && !target.is_cuda()) extents = {2, 3, 4, 5, 6, 7, 8};  // terms
  for (std::int64_t top : tops)
    for (std::int64_t less : below) extents.push_back(top - less);
  return extents;
}

/// Extents of an axis that may be a loop at every point of a longer reduction, and of that one.
std::vector<std::int64_t> short_extents(const graph::Target& target) {
  if (!target.is_cuda()) return {2, 32};
  return {2, 3, 4, 7, 8, 15, 16, 24, 28, 30, 31, 32};
}
std::vector<std::int64_t> long_extents(const graph::Target& target) {
  std::vector<std::int64_t> extents;
  for (std::int64_t top : {std::int64_t{128}, std::int64_t{4096}, std::int64_t{1} << 20})
    for (std::int64_t less : target.is_cuda() ? std::vector<std::int64_t>{0, 8, 4, 2, 1} : std::vector<std::int64_t>{0})
      extents.push_back(top - less);
  return extents;
}

}  // namespace

void for_other_extents(const Graph& g, const graph::Target& target, const std::function<void(const Graph&)>& visit) {
  const Symbols symbols(g);
  const Values free = symbols.free();
  const auto visit_with = [&](const Values& values) {
    if (values == free) return;
    if (const std::optional<Graph> other = with_extents(g, symbols, values)) visit(*other);
  };
  for (const auto& [symbol, recorded] : free) {
    for (std::int64_t extent : representatives(target, symbols.reduced(symbol))) {
      Values values = free;
      values[symbol] = extent;
      visit_with(values);
      const auto other = std::ranges::find_if(values, [s = symbol](const auto& v) { return v.first != s; });
      if (other == values.end()) continue;
      // The same class in the largest plans, where a launch costs nothing beside the bytes, and with wide indices; of
      // rows that no cluster holds in the smallest too, of few columns in tall ones. Of both, where both are reduced,
      // the fewest.
      const std::int64_t below = (kWide - 1) / extent / 32 * 32;
      const bool longest = target.max_cluster > 1 && extent > std::int64_t{128} * codegen::kClusterBlocks;
      const bool fewest =
          target.is_cuda() && extent <= kFewElements && symbols.reduced(symbol) && symbols.reduced(other->first);
      std::vector<std::int64_t> others{below + 32};
      if (below > 0) others.push_back(below);
      if (longest || fewest) others.push_back(2);
      if (fewest) others.insert(others.end(), {3, 4});
      // Terms of both axes, or slots of both.
      for (std::int64_t few = 2; !target.is_cuda() && extent <= kFewTerms && few <= kFewTerms; ++few)
        others.push_back(few);
      for (const std::int64_t more : others) {
        other->second = more;
        visit_with(values);
      }
      if (!target.is_cuda() || symbols.reduced(symbol) || extent > kFewColumns) continue;
      other->second = kTall;
      visit_with(values);
    }
  }
  for (const auto& [inner, a] : free) {
    for (const auto& [outer, b] : free) {
      if (inner == outer || !symbols.reduced(inner) || !symbols.reduced(outer)) continue;
      for (std::int64_t loop : short_extents(target)) {
        for (std::int64_t extent : long_extents(target)) {
          Values values = free;
          values[inner] = loop;
          values[outer] = extent;
          visit_with(values);
        }
      }
    }
  }
  constexpr std::int64_t kSmall = 16, kLarge = 32768;
  for (std::int64_t extent : {kSmall, kSmall - 1, kLarge, kLarge - 1}) {
    Values values = free;
    for (auto& [symbol, value] : values) value = extent;
    visit_with(values);
  }
}

}  // namespace tarry::runtime
