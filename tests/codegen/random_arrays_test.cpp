// Random graphs over arrays as people have them (images, tables, series, cubes, long rows; of any widths, lying
// anyhow): what each kernel of their plans stores has the bits of the interpreter, in C, and for a GPU on the
// emulation.
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "codegen/render/common.h"
#include "graph/fusion/fusion.h"
#include "graph/passes/passes.h"
#include "graph/record/reductions.h"
#include "tests/kernels/lowered.h"
#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::test;

namespace {

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {
    shape_ = some_shape();
    for (int i = pick(1, 3); i > 0; --i) pool_.push_back(leaf());
    for (int i = pick(1, 7); i > 0; --i) pool_.push_back(draw());
    m.g.roots.push_back(pool_.back());
    for (int i = pick(0, 2); i > 0; --i) m.g.roots.push_back(any());
    if (chance(10)) m.g.roots.push_back(pairs());
    if (chance(10) && shape_.size() <= 2) m.g.roots.push_back(steps());
    if (chance(10)) written_out();
    if (chance(10) && shape_.size() == 2)
      for (const int axis : {0, 1}) m.g.roots.push_back(reduce(pool_.back(), axis));
    if (pick(0, 2) == 0) m.g.roots.push_back(reduced(any()));
    for (GraphEdge& r : m.g.roots)
      if (const Op op = m.g.nodes[r.node].op; op == Op::Input || op == Op::View)
        r = m.map(Op::Cast, {r}, m.dtype(r) == float32 ? float64 : float32);
    m.g = graph::dce(graph::empty_arrays(m.g));
    graph::verify(m.g);
  }

  Maker m;

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  GraphEdge any() { return pool_[static_cast<std::size_t>(pick(0, static_cast<int>(pool_.size()) - 1))]; }
  Dtype dtype() {
    return std::array{
        Dtype::UInt8, Dtype::Float16, float32, float32, float64, Dtype::Int32, Dtype::Int64}[static_cast<std::size_t>(
        pick(0, 6))];
  }

  static Dtype computed(Dtype d) { return is_floating(d) ? graph::float_for_computing(d) : d; }

  Dims some_shape() {
    Dims shape;
    switch (pick(0, 5)) {
      case 0: shape = {pick(33, 130), pick(33, 130), pick(2, 8)}; break;
      case 1: shape = {pick(33, 200), pick(33, 200)}; break;
      case 2: shape = {pick(1, 12), pick(200, 3000)}; break;
      case 3: shape = {pick(200, 3000), pick(1, 12)}; break;
      case 4: shape = {pick(2, 40), pick(2, 40), pick(2, 40)}; break;
      default: shape = {pick(1, 20000)};
    }
    std::vector<std::int64_t> order(shape.begin(), shape.end());
    if (order.size() == 3) std::shuffle(order.begin(), order.end(), random_);
    return Dims(std::span<const std::int64_t>(order));
  }

  /// An input of shape_: in another order of axes, part of a larger one, backwards, repeated, or as it is.
  GraphEdge leaf() {
    const int rank = shape_.size();
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    if (chance(40)) std::shuffle(order.begin(), order.end(), random_);
    Dims extents, whole, start;  // axis i of the leaf is axis order[i] of the value
    const bool part = chance(40);
    const int repeated = chance(25) ? pick(0, rank - 1) : -1;
    for (const int d : order) {
      extents.push_back(d == repeated ? 1 : shape_[d]);
      start.push_back(part ? pick(0, 3) : 0);
      whole.push_back(extents.back() + start.back() + (part ? pick(0, 3) : 0));
    }
    GraphEdge x = m.leaf(whole, dtype());
    if (part) x = slice(m, x, start, extents);
    std::vector<int> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    x = permuted(m, x, back);
    if (repeated >= 0) x = m.broadcast(x, shape_);
    return chance(10) ? reversed(x) : x;
  }

  GraphEdge reversed(GraphEdge x) {
    IndexMap map;
    for (int d = 0; d < shape_.size(); ++d)
      map.push_back(shape_[d] > 1 && chance(50) ? graph::AxisMap{d, shape_[d] - 1, -1} : graph::AxisMap{d, 0, 1});
    return m.view(x, map, shape_);
  }

  GraphEdge reduce(GraphEdge x, int axis) {
    const Op op = std::array{
        Op::Sum, Op::Sum, Op::Max, Op::Min, Op::ArgMax, Op::ArgMin, Op::Prod}[static_cast<std::size_t>(pick(0, 6))];
    return m.reduce(op, cast(x, graph::accumulator(op, m.dtype(x))), axis);
  }
  GraphEdge cast(GraphEdge x, Dtype to) { return m.dtype(x) == to ? x : m.map(Op::Cast, {x}, to); }

  /// Every value of the pool has the shape `shape_`, so that all of them meet.
  GraphEdge draw() {
    switch (pick(0, 12)) {
      case 10: return of_nothing();
      case 11:
      case 12: return gathered();
      case 0: return cast(any(), dtype());
      case 1: return reversed(any());
      case 2:
      case 3: return row();
      case 4: return shifted();
      case 5: {
        const Dtype d = computed(dtype());
        return m.map(
            Op::Where,
            {m.map(Op::Less, {cast(any(), float64), cast(any(), float64)}, bool_), cast(any(), d), cast(any(), d)}, d);
      }
      case 6: return leaf();
      case 7: return scanned();
      default: {
        const Dtype d = computed(dtype());
        return m.map(std::array{Op::Maximum, Op::Subtract, Op::Add, Op::Minimum}[static_cast<std::size_t>(pick(0, 3))],
                     {cast(any(), d), cast(any(), d)}, d);
      }
    }
  }

  /// Elements along an axis at places that are computed, some of them out of range: by one index for each element, or
  /// for all that share its place.
  GraphEdge gathered() {
    const int axis = pick(0, shape_.size() - 1);
    const bool each = chance(50);
    Dims extents = Dims::filled(shape_.size(), 1);
    extents[axis] = shape_[axis];
    GraphEdge at = cast(each ? any() : m.leaf(extents, Dtype::Int32), int64);
    if (chance(70)) at = m.map(Op::Add, {at, m.iota(m.shape(at), axis)});
    at = m.index(at, shape_[axis]);
    return m.gather(any(), m.shape(at) == shape_ ? at : m.broadcast(at, shape_), axis);
  }

  GraphEdge scanned() {
    const GraphEdge x = any();
    const int axis = pick(0, shape_.size() - 1);
    return shape_[axis] > 1
               ? m.scan(Op::CumulativeSum, cast(x, graph::accumulator(Op::CumulativeSum, m.dtype(x))), axis)
               : x;
  }

  /// The values beside each one, and zeros at the end.
  GraphEdge shifted() {
    GraphEdge x = any();
    x = m.map(Op::Negative, {cast(x, computed(m.dtype(x)))});
    Dims start, extents;
    for (int d = 0; d < shape_.size(); ++d) {
      start.push_back(shape_[d] > 2 ? pick(0, 2) : 0);
      extents.push_back(shape_[d] - start.back());
    }
    const int rank = shape_.size();
    const GraphEdge zero = m.broadcast(m.leaf(Dims::filled(rank, 1), m.dtype(x)), shape_);
    return m.update(m.map(Op::Subtract, {zero, zero}), slice(m, x, start, extents), Dims::filled(rank, 0));
  }

  /// A sum or a product of no elements.
  GraphEdge of_nothing() {
    Dims none = shape_;
    const int axis = pick(0, shape_.size());
    none.insert(axis, 0);
    const Dtype d = computed(dtype());
    GraphEdge x = cast(m.leaf(none, d), d);
    if (chance(50)) x = m.map(Op::Subtract, {x, cast(m.keep(any(), axis), d)}, d);
    return m.reduce(chance(50) ? Op::Sum : Op::Prod, cast(x, graph::accumulator(Op::Sum, d)), axis);
  }

  /// A reduction along an axis, or along two of them.
  GraphEdge reduced(GraphEdge x) {
    GraphEdge r = reduce(x, pick(0, shape_.size() - 1));
    if (chance(40) && m.shape(r).size() > 0) r = reduce(r, pick(0, m.shape(r).size() - 1));
    return r;
  }

  /// A sum over pairs of points, and of those.
  GraphEdge pairs() {
    const std::int64_t rows = pick(1, 150), columns = pick(1, 150), values = pick(2, 40);
    const Dtype d = chance(70) ? float32 : float64;
    const Dims all{rows, columns, values};
    const GraphEdge a = m.broadcast(m.leaf({rows, 1, values}, d), all),
                    b = m.broadcast(m.leaf({columns, values}, d), all);
    const GraphEdge apart = m.map(Op::Subtract, {a, b});
    GraphEdge r = m.reduce(Op::Sum, chance(50) ? m.map(Op::Multiply, {a, b}) : m.map(Op::Multiply, {apart, apart}), 2);
    if (chance(50)) r = m.map(Op::Negative, {r});
    return chance(50) ? m.reduce(chance(50) ? Op::Sum : Op::Max, r, pick(0, 1)) : r;
  }

  /// Steps of inner points, each from those beside them.
  GraphEdge steps() {
    const Dtype d = chance(70) ? float32 : float64;
    GraphEdge x = cast(any(), d);
    Dims inner, one;
    for (const std::int64_t extent : shape_) {
      if (extent < 8) return x;
      inner.push_back(extent - 2);
      one.push_back(1);
    }
    for (int i = pick(2, 5); i > 0; --i) {
      GraphEdge sum = slice(m, x, one, inner);
      for (int axis = 0; axis < shape_.size(); ++axis)
        for (const int by : {0, 2}) {
          Dims from = one;
          from[axis] = by;
          sum = m.map(by == 0 ? Op::Add : Op::Subtract, {sum, slice(m, x, from, inner)});
        }
      x = m.update(x, sum, one);
    }
    return x;
  }

  /// Steps of states that depend on each other, on an array and on numbers, as a loop of a program records them.
  void written_out() {
    const Dtype d = chance(50) ? float32 : float64;
    std::vector<GraphEdge> states;
    for (int i = pick(1, 3); i > 0; --i) states.push_back(cast(any(), d));
    const GraphEdge fixed = cast(any(), d);
    struct Part {
      Op op;
      std::size_t to, from;
      int other;
    };
    std::vector<Part> parts;
    for (int i = pick(2, 5); i > 0; --i) {
      const auto state = [&] { return static_cast<std::size_t>(pick(0, static_cast<int>(states.size()) - 1)); };
      parts.push_back({std::array{Op::Maximum, Op::Minimum, Op::Remainder, Op::Remainder,
                                  Op::Subtract}[static_cast<std::size_t>(pick(0, 4))],
                       state(), state(), pick(0, 2)});
    }
    const int count = pick(8, 14);
    for (int i = 0; i < count; ++i)
      for (const Part& p : parts) {
        const GraphEdge number = m.broadcast(m.scalar(p.op == Op::Remainder ? 3 + i : i % 4, d), shape_);
        states[p.to] = m.map(p.op, {states[p.from], p.op == Op::Remainder || p.other == 0 ? number
                                                    : p.other == 1                        ? fixed
                                                                                          : states[p.to]});
      }
    for (const GraphEdge s : states)
      if (chance(70)) m.g.roots.push_back(s);
    m.g.roots.push_back(states.front());
  }

  GraphEdge row() {
    const int axis = pick(0, shape_.size() - 1);
    const GraphEdge x = any();
    const GraphEdge r = m.keep(reduce(x, axis), axis);
    const Dtype d = computed(m.dtype(x));
    return m.map(Op::Subtract, {cast(r, d), cast(any(), d)}, d);
  }

  std::mt19937 random_;
  Dims shape_;
  std::vector<GraphEdge> pool_;
};

/// A kernel of a plan, with its memory before it runs and what the interpreter makes of it.
struct Ran {
  std::uint64_t seed = 0;
  Lowered kernel;
  std::vector<std::uint64_t> scalars;
  std::vector<Memory> before, after;
};

void interpret(std::uint64_t seed, const graph::Target& target, std::vector<Ran>& all) {
  INFO("seed " << seed);
  const Maker m = Drawn(static_cast<unsigned>(seed)).m;
  INFO(to_string(m.g));
  std::vector<std::vector<GraphEdge>> stored;
  std::vector<Lowered> kernels = test::lower_plan(m.g, graph::fuse(m.g, target), target, stored);
  test::Runner runner(m);
  for (; !kernels.empty(); kernels.pop_back()) {  // the last one runs first
    Lowered& l = kernels.back();
    codegen::verify(l.ir);
    std::vector<std::uint64_t> scalars = runner.scalars(l);
    std::vector<Memory> before = runner.memory(l), after = before;
    std::vector<void*> at;
    for (Memory& b : after) at.push_back(b.data());
    runner.run(l);
    codegen::interpret(l.ir, l.args, at, scalars);
    all.push_back({seed, std::move(l), std::move(scalars), std::move(before), std::move(after)});
  }
}

/// On the emulation, all kernels in one unit.
void emulate(const std::vector<Ran>& all) {
  std::vector<KernelSource> sources;
  for (const Ran& r : all) sources.push_back(codegen::render_cuda(r.kernel.ir, target()));
  std::map<std::string, const KernelSource*> distinct;
  for (const KernelSource& s : sources) distinct.emplace(s.text, &s);
  std::vector<const KernelSource*> unit;
  for (const auto& [text, source] : distinct) unit.push_back(source);
  const EmulatedKernels emulated(unit);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Lowered& l = all[i].kernel;
    std::vector<Memory> now = all[i].before;
    std::vector<void*> at;
    for (Memory& b : now) at.push_back(b.data());
    const codegen::Geometry g = codegen::geometry_cuda(l.ir, target(), l.args);
    std::vector<unsigned char> scratch(g.scratch_bytes, 0xa5);
    std::vector<std::uint32_t> tickets(g.ticket_count);
    emulated.run(
        sources[i], g.grid(),
        codegen::pack_parameters(l.ir, sources[i], l.args, g, {at, all[i].scalars, scratch.data(), tickets.data()}));
    INFO("seed " << all[i].seed << "\n"
                 << codegen::to_string(l.ir) << graph::to_string(l.args.extents) << " n " << l.args.reduced);
    for (std::size_t b = 0; b < now.size(); ++b) {
      const auto differs = test::first_difference(l.ir.buffers[b], all[i].after[b], now[b]);
      INFO("buffer " << b << " from element " << differs.value_or(0) << " on");
      CHECK_FALSE(differs.has_value());
    }
  }
}

#ifdef TARRY_SANITIZE_NAME
constexpr std::uint64_t kEach = 6;  // instrumented code takes several times as long
#else
constexpr std::uint64_t kEach = 1;
#endif

}  // namespace

TEST_CASE("random arrays: kernels for a GPU have the interpreter's bits", "[codegen][render_cuda]") {
  constexpr std::uint64_t kGraphs = 120 / kEach, kInUnit = 40;
  const std::uint64_t first = environment("TARRY_FUZZ_SEED", 1),
                      end = first + environment("TARRY_FUZZ_ARRAYS", kGraphs);
  std::set<Schedule> schedules;
  for (std::uint64_t from = first; from < end; from += kInUnit) {
    std::vector<Ran> all;
    for (std::uint64_t seed = from; seed < std::min(from + kInUnit, end); ++seed) interpret(seed, target(), all);
    for (const Ran& r : all) schedules.insert(r.kernel.ir.schedule());
    emulate(all);
  }
  if (end - first >= 120) CHECK(schedules.size() > 12);  // the drawing reaches what it is for
}

TEST_CASE("random arrays: kernels in C have the interpreter's bits", "[codegen][render_c]") {
  const std::uint64_t first = environment("TARRY_FUZZ_SEED", 1),
                      end = first + environment("TARRY_FUZZ_ARRAYS", 24 / kEach);
  for (std::uint64_t seed = first; seed < end; ++seed) {
    std::vector<Ran> all;
    interpret(seed, target("x86-64-v3"), all);
    for (const Ran& r : all) {
      INFO("seed " << seed << "\n" << codegen::to_string(r.kernel.ir));
      test::CpuKernels(r.kernel.ir).require_as_interpreted(r.kernel.args, r.before, r.scalars);
    }
  }
}
