// Slices of random graphs: any box of any result has the bits that it has in the whole.
#include <string>
#include <vector>

#include "graph/slices/slices.h"
#include "runtime/evaluate/engine.h"
#include "support/env.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

using namespace tarry;

namespace {

test::fuzz::Tensor read(const graph::Edge& e) {
  const graph::Node& n = *e.node();
  test::fuzz::Tensor t({n.dtype, graph::Dims(n.shape()).vector()});
  if (!t.bytes.empty()) runtime::read(e, t.bytes.data(), {});
  return t;
}

/// A box of a row-major tensor.
test::fuzz::Tensor box_of(const test::fuzz::Tensor& whole, const graph::Box& box) {
  test::fuzz::Tensor part({whole.type.dtype, box.extent.vector()});
  const graph::Dims strides = graph::row_major_strides(whole.type.shape);
  const std::size_t size = itemsize(whole.type.dtype);
  for (std::int64_t i = 0, count = test::fuzz::count_of(part.type.shape); i < count; ++i) {
    std::int64_t at = 0, rest = i;
    for (int d = box.lo.size(); d-- > 0; rest /= box.extent[d]) at += (box.lo[d] + rest % box.extent[d]) * strides[d];
    std::memcpy(part.bytes.data() + static_cast<std::size_t>(i) * size,
                whole.bytes.data() + static_cast<std::size_t>(at) * size, size);
  }
  return part;
}

/// Some boxes of a shape: along every axis a beginning, a middle and an end, and one that is smaller along all.
std::vector<graph::Box> boxes_of(const graph::Dims& shape, std::uint64_t seed) {
  std::vector<graph::Box> boxes;
  graph::Box inner = graph::Box::whole(shape);
  for (int d = 0; d < shape.size(); ++d) {
    const std::int64_t n = shape[d];
    if (n < 2) continue;
    const std::int64_t first = 1 + static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(n - 1));
    boxes.push_back(graph::Box::whole(shape).along(d, 0, first));
    boxes.push_back(graph::Box::whole(shape).along(d, first, n));
    boxes.push_back(graph::Box::whole(shape).along(d, n / 3, n / 3 + 1));
    inner = inner.along(d, n / 4, n - n / 4);
  }
  boxes.push_back(inner);
  return boxes;
}

}  // namespace

TEST_CASE("chunks: any box of a random graph has the bits of the whole", "[chunks][fuzz]") {
  const test::Setting interpreted("TARRY_DISABLE", "compile");
  const Scope placed(cpu);
  std::int64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const test::fuzz::Program program = test::fuzz::generate(seed);
    const auto record_all = [&](test::fuzz::Arrays& arrays) {
      std::vector<Array> values = arrays.values;
      for (const test::fuzz::Statement& s : program.statements) values.push_back(test::fuzz::record(s, values));
      std::vector<graph::Edge> roots;
      for (const int v : program.outputs)
        roots.push_back(detail::edge(values[static_cast<std::size_t>(v)], "test", {}));
      return roots;
    };
    test::fuzz::Arrays inputs = test::fuzz::make_inputs(program);
    const std::vector<graph::Edge> wholes = record_all(inputs), roots = record_all(inputs);
    runtime::evaluate(wholes, {});
    graph::Snapshot s;
    {
      const std::lock_guard lock(graph::engine_mutex());
      graph::Node* blocked = nullptr;
      s = graph::take_snapshot(roots, &blocked);
    }
    graph::Slicer slicer(s.graph, s.leaves, s.cells, cpu);
    for (std::size_t r = 0; r < roots.size(); ++r) {
      const test::fuzz::Tensor whole = read(wholes[r]);
      for (const graph::Box& box : boxes_of(graph::Dims(whole.type.shape), seed)) {
        const graph::SliceRequest request{s.graph.roots[r], box};
        const graph::Slicer::Slices slices = slicer.slice({&request, 1});
        INFO("seed " << seed << ", output " << r << " " << graph::to_string(whole.type.shape) << ", box at "
                     << graph::to_string(box.lo) << " of " << graph::to_string(box.extent));
        const std::string problem = test::fuzz::difference(read(slices.values.front()), box_of(whole, box));
        if (!problem.empty()) INFO(test::fuzz::to_cpp(program));
        CHECK(problem == "");
        ++compared;
      }
    }
  }
  CHECK(compared > 2000);
}
