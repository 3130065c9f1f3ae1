// Nodes: size, pool, keys, lifetime; shapes, index maps, attributes and targets.
#include <tarry/tarry.h>

#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "graph/attributes.h"
#include "graph/record/record.h"
#include "graph/target.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/small_stack.h"

using namespace tarry;
using graph::AxisMap;
using graph::Dims;
using graph::Edge;
using graph::IndexMap;
using graph::Node;
using test::on_small_stack;

namespace {

const Node& node(const Array& x) { return *detail::ArrayAccess::node(x); }

std::string text(const IndexMap& map) {
  std::string s;
  for (int d = 0; d < map.size; ++d) {
    s += "[" + std::to_string(map[d].axis) + " " + std::to_string(map[d].start) + " " + std::to_string(map[d].step) +
         "]";
  }
  return s;
}

}  // namespace

TEST_CASE("node: a node is two cache lines", "[graph][node]") { CHECK(sizeof(Node) == 128); }

TEST_CASE("node: every node is gone when its last handle is", "[graph][node]") {
  const std::int64_t before = graph::live_nodes();
  {
    const Array x = zeros({3, 4});
    const Array y = tarry::std(exp(x) * x + 1, 0);
    const Array copy = y;
    CHECK(graph::live_nodes() > before);
  }
  CHECK(graph::live_nodes() == before);
}

TEST_CASE("node: a chain of a million nodes is recorded and destroyed on a stack of 256 KiB", "[graph][node]") {
  const std::int64_t before = graph::live_nodes();
  std::int64_t during = 0;
  on_small_stack(256 * 1024, [&] {
    const Scope whole(Budget::unlimited());
    Array x = zeros({8});
    for (int i = 0; i < 1'000'000; ++i) x = -x;
    during = graph::live_nodes();
  });
  CHECK(during - before >= 1'000'000);
  CHECK(graph::live_nodes() == before);
}

TEST_CASE("node: many threads record over shared nodes and drop them anywhere", "[graph][node]") {
  const std::int64_t before = graph::live_nodes();
  {
    const Array shared = ones({16});
    std::vector<Array> made(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < made.size(); ++t) {
      threads.emplace_back([&, t] {
        Array sum = shared;
        for (int i = 0; i < 2000; ++i) sum = sum + shared * i;
        made[t] = sum;
      });
    }
    for (std::thread& t : threads) t.join();
    std::thread([dropped = std::move(made)]() mutable { dropped.clear(); }).join();
  }
  CHECK(graph::live_nodes() == before);
}

TEST_CASE("node: what several graphs read several times dies with the last of them", "[graph][node]") {
  const std::int64_t before = graph::live_nodes();
  for (int round = 0; round < 200; ++round) {
    std::vector<Array> graphs(3);
    {
      const Array x = exp(ones({16})), y = x + 1.0f;
      for (Array& g : graphs) g = (x + y + x * x) * (y - x(slice(1, none))(slice(none, 1)) * y) + x(0) + x(1) + y(2);
    }
    std::latch start(3);
    const auto drop = [&](Array& g) {
      start.arrive_and_wait();
      g = Array();
    };
    std::thread first([&] { drop(graphs[1]); }), second([&] { drop(graphs[2]); });
    drop(graphs[0]);
    first.join();
    second.join();
    REQUIRE(graph::live_nodes() == before);
  }
}

TEST_CASE("node: a box keeps its start in the node, with the attributes and the key of any other view",
          "[graph][node]") {
  const Array x = zeros({6, 8});
  const Array box = x(slice(1, -1), slice(2, none)), stepping = x(slice(), slice(none, none, 2));
  CHECK(node(box).is_box());
  CHECK_FALSE(node(stepping).is_box());
  const graph::AttributeBytes bytes = node(box).attributes();
  CHECK(text(graph::decode_view(bytes)) == "[0 1 1][1 2 1]");
  const Edge read = detail::ArrayAccess::edge(x);
  const std::int64_t shape[] = {4, 6};
  const Array same = detail::wrap(graph::make_node(
      {.op = graph::Op::View, .dtype = float32, .shape = shape, .attributes = &bytes, .cell = {}, .where = {}},
      {&read, 1}));
  CHECK_FALSE(node(same).is_box());
  CHECK(test::snapshot_of({&same}).key == test::snapshot_of({&box}).key);
  Array y = x;
  y.set({slice(1, -1), slice(2, none)}, box);
  const graph::UpdateAttributes at = graph::decode_update(node(y).attributes());
  CHECK(node(y).is_box());
  CHECK((at.start == Dims{1, 2} && at.step == Dims{1, 1}));
}

TEST_CASE("node: equal structure has equal keys, whatever the scalars", "[graph][node]") {
  const auto key = [](const Array& x) { return test::snapshot_of({&x}).key; };
  const auto formula = [](std::int64_t n, double k) { return exp(arange(n, float32) * k) + 1; };
  CHECK(key(formula(3, 2.0)) == key(formula(3, 0.5)));
  CHECK_FALSE(key(formula(3, 2.0)) == key(formula(3, 1.0)));  // a rewrite may rely on 1
  CHECK_FALSE(key(formula(3, 2.0)) == key(formula(7, 2.0)));
  const Array x = zeros({4}), y = zeros({4}), d = zeros({4}, float64);
  CHECK_FALSE(key(x + x) == key(x - x));
  CHECK_FALSE(key(x + x) == key(x + y));
  CHECK_FALSE(key(-x) == key(-d));
  CHECK_FALSE(key(sum(zeros({2, 2}), 0)) == key(sum(zeros({2, 2}), 1)));
  const Array strict_sum = x + x;
  const Scope scope(relaxed);
  CHECK_FALSE(key(x + x) == key(strict_sum));
}

TEST_CASE("node: an evaluated input is a leaf of its dtype and shape", "[graph][node]") {
  const auto key = [](const Array& x) { return test::snapshot_of({&x}).key; };
  const Array evaluated = zeros({4}) + 1.0f, lazy = zeros({4}) + 1.0f;
  const std::string before = key(-evaluated);
  CHECK(before == key(-lazy));
  evaluate(evaluated);
  CHECK_FALSE(key(-evaluated) == before);
  const Array other = zeros({4}) * 3.0f;
  evaluate(other);
  CHECK(key(-evaluated) == key(-other));
}

TEST_CASE("node: take_inputs moves the references out", "[graph][node]") {
  const std::int64_t before = graph::live_nodes();
  const Array y = zeros({4}) + ones({4});
  std::vector<Edge> inputs;
  {
    const std::lock_guard lock(graph::engine_mutex());
    graph::take_inputs(detail::ArrayAccess::node(y), inputs);
  }
  CHECK(inputs.size() == 2);
  CHECK(node(y).n_inputs == 0);
  inputs.clear();
  CHECK(graph::live_nodes() == before + 1);
}

TEST_CASE("node: shapes of more than six axes are kept beside the node", "[graph][node]") {
  const Array x = zeros({1, 2, 3, 4, 5, 6, 7});
  CHECK(x.shape() == Shape{1, 2, 3, 4, 5, 6, 7});
  CHECK((x + 1).shape() == x.shape());
}

TEST_CASE("shape: texts, counts and strides", "[graph][shape]") {
  CHECK(graph::to_string(Dims{}) == "()");
  CHECK(graph::to_string(Dims{5}) == "(5,)");
  CHECK(graph::to_string(Dims{3, 4}) == "(3, 4)");
  CHECK(graph::element_count(Dims{}.span()) == 1);
  CHECK(graph::element_count(Dims{3, 0, 4}.span()) == 0);
  CHECK(graph::row_major_strides(Dims{2, 3, 4}.span()) == Dims{12, 4, 1});
  CHECK(graph::row_major_strides(Dims{2, 0, 4}.span()) == Dims{4, 4, 1});
  Dims d{1, 2, 3};
  d.insert(1, 9);
  CHECK(d == Dims{1, 9, 2, 3});
  d.erase(0);
  CHECK(d == Dims{9, 2, 3});
}

TEST_CASE("shape: broadcasting as an index map", "[graph][shape]") {
  CHECK(text(graph::broadcast_map(Dims{4}.span(), Dims{3, 4}.span())) == "[1 0 1]");
  CHECK(text(graph::broadcast_map(Dims{3, 1}.span(), Dims{2, 3, 4}.span())) == "[1 0 1][-1 0 0]");
  CHECK(text(graph::broadcast_map(Dims{1}.span(), Dims{1}.span())) == "[0 0 1]");
  CHECK(text(graph::broadcast_map(Dims{}.span(), Dims{5}.span())).empty());
}

TEST_CASE("shape: composed index maps read what reading twice reads", "[graph][shape]") {
  IndexMap flip_rows;  // (3, 4) read backwards along axis 0
  flip_rows.push_back({0, 2, -1});
  flip_rows.push_back({1, 0, 1});
  IndexMap row;  // row 1, every second column from 1
  row.push_back({-1, 1, 0});
  row.push_back({0, 1, 2});
  CHECK(text(graph::compose(flip_rows, row)) == "[-1 1 0][0 1 2]");
  IndexMap swap;
  swap.push_back({1, 0, 1});
  swap.push_back({0, 0, 1});
  CHECK(text(graph::compose(flip_rows, swap)) == "[1 2 -1][0 0 1]");
}

TEST_CASE("attributes: bytes decode to what was encoded", "[graph][attributes]") {
  const auto reduce = graph::decode_reduce(graph::encode(graph::ReduceAttributes{3, 1LL << 40}));
  CHECK(reduce.axis == 3);
  CHECK(reduce.weight == 1LL << 40);
  CHECK(graph::decode_iota(graph::encode(graph::IotaAttributes{2})).axis == 2);
  IndexMap map;
  map.push_back({1, 7, -2});
  map.push_back({-1, 5, 0});
  CHECK(text(graph::decode_view(graph::encode(map))) == text(map));
  CHECK_THROWS_AS(graph::decode_view("abc"), InternalError);
  CHECK_THROWS_AS(graph::decode_reduce(graph::encode(map)), InternalError);
}

TEST_CASE("target: rows are found by name and by compute capability", "[graph][target]") {
  for (const char* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    REQUIRE(graph::find_target(name) != nullptr);
    CHECK(graph::find_target(name)->is_cuda());
  }
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a"}) {
    REQUIRE(graph::find_target(name) != nullptr);
    CHECK_FALSE(graph::find_target(name)->is_cuda());
  }
  CHECK(graph::find_target("sm_70") == nullptr);
  CHECK(std::string(graph::cuda_target(90)->name) == "sm_90");
  CHECK(std::string(graph::cuda_target(87)->name) == "sm_86");
  CHECK(std::string(graph::cuda_target(121)->name) == "sm_120");
  CHECK(graph::cuda_target(72) == nullptr);
}
