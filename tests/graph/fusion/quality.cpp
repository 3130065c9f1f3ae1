// The generator of graphs and the measure of fusions.
#include "tests/graph/fusion/quality.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "codegen/lower/lower.h"
#include "tests/helpers/test.h"

namespace tarry::test {
namespace {

using namespace graph;

class Generator {
 public:
  Generator(std::uint64_t seed, int nodes) : random_(seed), nodes_(nodes) {}

  Graph run() {
    for (;;) {
      g_ = {};
      readers_.clear();
      ops_ = reductions_ = moves_ = 0;
      static constexpr std::int64_t kExtents[] = {1, 7, 4096, 1'000'000};
      do space_ = {kExtents[pick(4)], kExtents[pick(4)]};
      while (space_[0] * space_[1] > 20'000'000 || space_[0] * space_[1] == 1);
      const int leaves = 1 + pick(3);
      for (int i = 0; i < leaves; ++i) leaf(i == 0 ? space_ : some_shape());
      while (ops_ < nodes_)
        if (!grow()) break;
      if (finish()) return std::move(g_);
    }
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  Dims some_shape() {
    Dims s = space_;
    const int which = pick(4);
    if (which == 1) s[0] = 1;
    if (which == 2) s[1] = 1;
    return s;
  }

  NodeId add(GraphNode n, const Dims& shape, std::initializer_list<NodeId> inputs) {
    n.dtype = Dtype::Float32;
    n.shape = g_.intern(shape);
    for (NodeId i : inputs) {
      n.inputs[n.n_inputs++] = {i, 0};
      ++readers_[i];
    }
    n.origin = static_cast<NodeId>(g_.nodes.size());
    g_.nodes.push_back(n);
    readers_.push_back(0);
    return n.origin;
  }

  NodeId leaf(const Dims& shape) {
    GraphNode n;
    n.op = Op::Input;
    n.payload = static_cast<std::uint32_t>(g_.leaves.size());
    g_.leaves.push_back({0, row_major_strides(shape.span()), true, false});
    return add(n, shape, {});
  }

  NodeId map(std::initializer_list<NodeId> inputs, const Dims& shape) {
    static constexpr Op kUnary[] = {Op::Negative, Op::Exp, Op::Sqrt, Op::Tanh, Op::Square};
    static constexpr Op kBinary[] = {Op::Add, Op::Multiply, Op::Maximum, Op::Divide, Op::Subtract};
    GraphNode n;
    n.op = inputs.size() == 1 ? kUnary[pick(5)] : kBinary[pick(5)];
    ++ops_;
    for (NodeId i : inputs) moves_ += !(g_.shape(i) == shape);
    return add(n, shape, inputs);
  }

  NodeId view(NodeId of, const IndexMap& m, const Dims& shape) {
    GraphNode n;
    n.op = Op::View;
    n.payload = static_cast<std::uint32_t>(g_.views.size());
    g_.views.push_back(m);
    ++ops_;
    ++moves_;
    return add(n, shape, {of});
  }

  NodeId value() {
    const int n = static_cast<int>(g_.nodes.size());
    return static_cast<NodeId>(pick(2) ? pick(n) : n - 1 - pick(std::min(n, 4)));
  }

  static bool broadcast(const Dims& a, const Dims& b, Dims& out) {
    if (a.size() != b.size()) return false;
    out = a;
    for (int d = 0; d < a.size(); ++d) {
      if (a[d] != b[d] && a[d] != 1 && b[d] != 1) return false;
      out[d] = std::max(a[d], b[d]);
    }
    return true;
  }

  /// One more node or two.
  bool grow() {
    const NodeId a = value();
    const Dims& s = g_.shape(a);
    switch (pick(8)) {
      case 0:
      case 1: map({a}, Dims(s)); return true;
      case 2:
      case 3:
      case 4: {
        for (int tries = 0; tries < 8; ++tries) {
          const NodeId b = value();
          Dims out;
          if (!broadcast(s, g_.shape(b), out)) continue;
          map({a, b}, out);
          return true;
        }
        return true;
      }
      case 5:
      case 6: return reduce(a);
      default: return move(a);
    }
  }

  bool reduce(NodeId a) {
    Dims shape = g_.shape(a);
    if (shape.empty()) return true;
    const int axis = pick(shape.size());
    if (shape[axis] == 1) return true;
    GraphNode n;
    n.op = pick(2) ? Op::Sum : Op::Max;
    n.payload = static_cast<std::uint32_t>(g_.reduces.size());
    g_.reduces.push_back({axis, 1});
    Dims reduced = shape;
    reduced.erase(axis);
    const NodeId r = add(n, reduced, {a});
    ++ops_;
    ++reductions_;
    if (pick(3) == 0 || ops_ >= nodes_) return true;
    IndexMap kept;  // as a row again
    for (int d = 0; d < shape.size(); ++d)
      if (d != axis) kept.push_back({d, 0, 1});
    shape[axis] = 1;
    view(r, kept, shape);
    return true;
  }

  bool move(NodeId a) {
    Dims shape = g_.shape(a);
    if (shape.empty()) return true;
    IndexMap m = identity_map(shape.size());
    const int d = pick(shape.size());
    switch (pick(3)) {
      case 0:
        if (shape.size() != 2) return true;
        std::swap(m[0].axis, m[1].axis);
        std::swap(shape[0], shape[1]);
        break;
      case 1:
        if (shape[d] == 1) return true;
        m[d] = {d, shape[d] - 1, -1};
        break;
      default:
        if (shape[d] == 1) return true;
        m[d] = {d, pick(2), 1};
        --shape[d];
    }
    view(a, m, shape);
    return true;
  }

  bool finish() {
    bool shared = false;
    for (NodeId id = 0; id < g_.nodes.size(); ++id) {
      const OpClass c = info(g_.nodes[id].op).op_class;
      if (c == OpClass::Leaf) continue;
      shared |= readers_[id] > 1;
      if (readers_[id] == 0 || (c != OpClass::View && pick(12) == 0)) g_.roots.push_back({id, 0});
    }
    return reductions_ > 0 && moves_ > 0 && shared;
  }

  std::mt19937_64 random_;
  int nodes_;
  Graph g_;
  Dims space_;
  std::vector<int> readers_;
  int ops_ = 0, reductions_ = 0, moves_ = 0;
};

bool is_counted(const codegen::Instr& in) {
  return in.kind == codegen::InstrKind::Compute || in.kind == codegen::InstrKind::Fold ||
         in.kind == codegen::InstrKind::Inside;
}

/// The bytes that loops of threads read beside each other, none of them twice, beyond those that are counted once.
double bytes_apart(const codegen::Lowered& l, const CostModel& cost) {
  double bytes = 0;
  for (const codegen::Access& a : l.ir.accesses) {
    if (a.store || a.buffer == codegen::kNone || a.loop == codegen::kNone || a.step != codegen::StrideClass::One)
      continue;
    const auto steps = static_cast<double>(l.scalars[l.ir.loops[a.loop]].constant);
    double read = steps * static_cast<double>(itemsize(l.ir.buffers[a.buffer]));
    bool everywhere = l.ir.is_map() || l.args.reduced == 1 || a.reduced != codegen::StrideClass::Zero;
    if (!l.ir.is_map()) read *= static_cast<double>(l.args.reduced);
    for (std::size_t d = 0; d < a.strides.size(); ++d) {
      const std::int64_t extent = l.args.extents[static_cast<int>(d)];
      everywhere = everywhere && (extent == 1 || a.strides[d] != codegen::StrideClass::Zero);
      read *= static_cast<double>(extent);
    }
    if (everywhere) bytes += read * (std::min(cost.apart, steps) - 1);
  }
  return bytes;
}

/// Those of a point. Its slots have the same ones, each in its own words.
double statements_of(const codegen::Lowered& l, std::size_t outputs) {
  std::set<std::pair<Op, std::uint32_t>> of_slots;
  std::size_t count = 0, stores = 0;
  for (const codegen::Instr& in : l.ir.instrs) {
    count += is_counted(in);
    stores += in.kind == codegen::InstrKind::Store;
    if (is_counted(in)) of_slots.emplace(in.op, l.notes[in.note]);
  }
  return static_cast<double>(stores > outputs ? of_slots.size() : count);
}

double instructions(const codegen::Lowered& l, double per_row) {
  const auto rows = static_cast<double>(l.args.outer_count());
  const double points = l.ir.is_map() ? rows : rows * static_cast<double>(l.args.reduced);
  double total = 0;
  const auto steps = [&](std::uint32_t loop) { return static_cast<double>(l.scalars[l.ir.loops[loop]].constant); };
  for (const codegen::Instr& in : l.ir.instrs) {
    const codegen::Region region = l.ir.home_region(in);
    double times = region == codegen::Region::Point ? points
                   : region == codegen::Region::Row ? std::max(points / per_row, rows)
                                                    : rows;
    if (in.loop != codegen::kNone) times *= steps(in.loop);
    if (in.kind == codegen::InstrKind::Fold) {
      const codegen::Fold& f = l.ir.folds[in.index];
      total += times * steps(f.loop) * info(f.op).cost;
    }
    if (in.kind == codegen::InstrKind::Compute) total += times * info(in.op).cost;
    if (in.kind == codegen::InstrKind::Inside) total += times;
  }
  return total;
}

}  // namespace

Graph quality_graph(std::uint64_t seed, int nodes) {
  Graph g = Generator(seed, nodes).run();
  verify(g);
  return g;
}

Graph grown_graph(Growth kind, int nodes) {
  Graph g;
  std::mt19937 random(1);
  const auto add = [&](Op op, std::initializer_list<NodeId> inputs) {
    GraphNode n;
    n.op = op;
    n.dtype = Dtype::Float32;
    n.shape = g.intern({4096});
    for (NodeId i : inputs) n.inputs[n.n_inputs++] = {i, 0};
    n.origin = static_cast<NodeId>(g.nodes.size());
    if (op == Op::Input) {
      n.payload = static_cast<std::uint32_t>(g.leaves.size());
      g.leaves.push_back({0, Dims{1}, true, false});
    }
    g.nodes.push_back(n);
    return n.origin;
  };
  NodeId a = add(Op::Input, {}), b = add(Op::Input, {});
  std::vector<NodeId> level;
  switch (kind) {
    case Growth::Chain:
      for (int i = 0; i < nodes; ++i) a = add(Op::Sqrt, {a});
      break;
    case Growth::Tree:
      for (int i = 0; i < nodes / 2; ++i) level.push_back(add(Op::Input, {}));
      while (level.size() > 1) {
        std::vector<NodeId> next;
        for (std::size_t i = 0; i < level.size(); i += 2)
          next.push_back(i + 1 < level.size() ? add(Op::Add, {level[i], level[i + 1]}) : level[i]);
        level.swap(next);
      }
      a = level.front();
      break;
    case Growth::Ladder:
      for (int i = 0; i < nodes / 2; ++i) {
        const NodeId sum = add(Op::Add, {a, b});
        b = add(Op::Multiply, {a, b});
        a = sum;
      }
      break;
    case Growth::Random:
      level = {a, b};
      for (int i = 0; i < nodes; ++i) {
        const auto recent = [&] {
          return level[level.size() - 1 - random() % std::min<std::size_t>(level.size(), 50)];
        };
        const NodeId x = recent(), y = recent();
        level.push_back(a = add(Op::Maximum, {x, y}));
      }
      break;
  }
  g.roots = {{a, 0}};
  if (kind == Growth::Ladder) g.roots.push_back({b, 0});
  return g;
}

Measured measure(const Graph& g, const Fusion& fusion, const Target& target) {
  const CostModel cost = cost_model(target);
  std::vector<std::vector<GraphEdge>> wanted(fusion.groups.size());
  const auto want = [&](const GraphEdge& e) {
    auto& edges = wanted[fusion.group_of[e.node]];
    if (std::find(edges.begin(), edges.end(), e) == edges.end()) edges.push_back(e);
  };
  for (const GraphEdge& r : g.roots) want(r);
  Measured m;
  double work = 0, statements = 0;
  for (auto group = static_cast<std::uint32_t>(fusion.groups.size()); group-- > 0;) {
    if (wanted[group].empty()) continue;
    std::sort(wanted[group].begin(), wanted[group].end(), [](auto& a, auto& b) { return a.node < b.node; });
    const codegen::Lowered l = codegen::lower(g, fusion, group, wanted[group], target);
    for (const GraphEdge& e : l.loads) {
      if (fusion.group_of[e.node] >= group) throw InternalError("", {}, "a kernel reads a later one");
      want(e);
    }
    ++m.launches;
    m.seconds += (static_cast<double>(l.bytes_read + l.bytes_written) + bytes_apart(l, cost)) / cost.bytes_per_second +
                 cost.seconds_per_launch;
    work += instructions(l, cost.points_per_row_value);
    statements += statements_of(l, wanted[group].size());
  }
  m.seconds += work / cost.instructions_per_second + statements * cost.seconds_per_statement;
  return m;
}

}  // namespace tarry::test
