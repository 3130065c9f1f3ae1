// Manifests that no recording makes: each is refused with a reason, in bounded time, memory and stack.
#include <tarry/warm.h>

#include "runtime/warm/manifest_limits.h"
#include "runtime/warm/warm_plan.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/sealed_manifest.h"
#include "tests/helpers/small_stack.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
using Json = nlohmann::ordered_json;
using ta::test::ManifestFile;
using ta::test::sealed_line;

namespace {

Json parsed(const std::string& text) { return Json::parse(text); }

/// {"op":"input",...} of leaf `number`.
Json leaf(const std::string& shape, const std::string& dtype = "float32", int number = 0) {
  return {{"op", "input"}, {"dtype", dtype}, {"shape", parsed(shape)}, {"leaf", number}, {"at", "a.cpp:1"}};
}

/// A graph whose last node is its root. `node` has the members that follow op, dtype and shape.
Json graph_of(std::vector<Json> leaves, const std::string& op, const std::string& dtype, const std::string& shape,
              const std::string& rest) {
  Json all = {{"device", "cpu"}, {"leaves", Json::array()}, {"nodes", Json::array()}, {"roots", Json::array()}};
  for (const Json& l : leaves) {
    all["leaves"].push_back({{"from", "user"}});
    all["nodes"].push_back(l);
  }
  Json node = {{"op", op}, {"dtype", dtype}, {"shape", parsed(shape)}};
  node.update(parsed("{" + rest + "}"));
  all["nodes"].push_back(node);
  all["roots"].push_back(leaves.size());
  return all;
}

/// Why a manifest of that one line is refused; "" where it is read.
std::string refusal(const std::string& line) {
  const ManifestFile file(line);
  try {
    return ta::runtime::read_manifest(file.path()).size() == 1 ? "" : "left out";
  } catch (const ta::InvalidArgument& e) {
    CHECK_THAT(e.what(), Catch::Contains("m:2: "));
    return e.what();
  }
}

struct Row {
  Json graph;
  const char* why;  ///< part of the message
};

const Json kMatrix = leaf("[24,48]"), kThree = leaf("[3,3]", "float32", 1);

std::vector<Row> one_input() {
  const auto row = [](const char* op, const char* dtype, const char* shape, const char* rest, const char* why) {
    return Row{graph_of({kMatrix}, op, dtype, shape, rest), why};
  };
  return {
      row("sqrt", "float32", "[24,48]", R"("in":[0])", ""),
      row("sqrt", "float32", "[24,48]", R"("in":[1])", "does not come before"),
      row("sqrt", "float32", "[24,48]", R"("in":[-1])", "not an integer in range"),
      row("sqrt", "float32", "[24,48]", R"("in":[0.5])", "not an integer in range"),
      row("sqrt", "float32", "[24,48]", R"("in":[[0,1]])", "an output that there is not"),
      row("sqrt", "float32", "[24,48]", R"("in":[0,0])", "another number of inputs"),
      row("sqrt", "float32", "[3,3]", R"("in":[0])", "another shape"),
      row("sqrt", "float32", "[1099511627776,3]", R"("in":[0])", "another shape"),
      row("sqrt", "float64", "[24,48]", R"("in":[0])", "another dtype"),
      row("sqrt", "complex64", "[24,48]", R"("in":[0])", "a dtype that no kernel computes in"),
      row("bitwise_and", "float32", "[24,48]", R"("in":[0,0])", "dtypes that the op does not take"),
      row("where", "float32", "[24,48]", R"("in":[0,0,0])", "a condition that is not bool"),
      row("softmax", "float32", "[24,48]", R"("in":[0])", "there is no op softmax"),
      row("sum", "float32", "[24]", R"("in":[0],"axis":1)", ""),
      row("sum", "float32", "[24]", R"("in":[0],"axis":-1)", "an axis out of range"),
      row("sum", "float32", "[24]", R"("in":[0],"axis":2)", "an axis out of range"),
      row("sum", "float32", "[24]", R"("in":[0],"axis":-2147483648)", "an axis out of range"),
      row("sum", "float32", "[24]", R"("in":[0],"axis":2147483648)", "not an integer in range"),
      row("sum", "float32", "[48]", R"("in":[0],"axis":1)", "another shape than is left"),
      row("argmax", "float32", "[24]", R"("in":[0],"axis":1)", "another dtype"),
      row("moments_merge", "float32", "[24]", R"("in":[0,0],"axis":1,"weight":0)", "a weight"),
      row("moments_merge", "float32", "[24]", R"("in":[0,0],"axis":1,"weight":9223372036854775807)", "a weight"),
      row("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":1)", ""),
      row("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":1000000)", "an axis out of range"),
      row("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":-2147483648)", "an axis out of range"),
      row("view", "float32", "[3,3]", R"("in":[0],"map":[[0,5,2],[1,0,1]])", ""),
      row("view", "float32", "[3,3]", R"("in":[0],"map":[[50,0,1],[1,0,1]])", "an axis out of range"),
      row("view", "float32", "[3,3]", R"("in":[0],"map":[[0,22,1],[1,0,1]])", "leaves its input"),
      row("view", "float32", "[4294967296,3]", R"("in":[0],"map":[[0,0,4294967296],[1,0,1]])", "leaves its input"),
      row("view", "float32", "[1,3]", R"("in":[0],"map":[[0,0,4611686018427387904],[1,0,1]])", "nothing to step to"),
      row("view", "float32", "[0,3]", R"("in":[0],"map":[[7,-5,1],[99,0,1]])", "an axis out of range"),
      row("view", "float32", "[0,3]", R"("in":[0],"map":[[0,25,1],[1,0,1]])", "leaves its input"),
      row("view", "int8", "[24,48]", R"("in":[0],"map":[[0,0,1],[1,0,1]])", "another dtype"),
      row("view", "float32", "[24]", R"("in":[0],"map":[[0,0,1]])", "another rank"),
      row("reshape", "int64", "[48,24]", R"("in":[0])", "another dtype"),
      row("reshape", "float32", "[48,25]", R"("in":[0])", "another number of elements"),
      row("reshape", "float32", "[4611686018427387904,4]", R"("in":[0])", "a shape that no array has"),
      row("reshape", "float32", "[-24,-48]", R"("in":[0])", "a shape that no array has"),
      row("reshape", "float32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,24,48]", R"("in":[0])", "as many as there may be"),
      row("sqrt", "float32", "[24,48]", R"("in":[0],"at":"x")", "a location without a line"),
      row("sqrt", "float32", "[24,48]", R"("in":[0],"at":"x:99999999999999999999999")", "a location without a line"),
  };
}

std::vector<Row> other_inputs() {
  const auto update = [](const char* rest, const char* why) {
    return Row{graph_of({kMatrix, kThree}, "update", "float32", "[24,48]", rest), why};
  };
  const auto product = [](const char* dtype, const char* shape, const char* why) {
    return Row{graph_of({leaf("[2,3,4]", dtype), leaf(shape, dtype, 1)}, "matmul", dtype, "[2,3,5]", R"("in":[0,1])"),
               why};
  };
  return {
      update(R"("in":[0,1],"start":[1,2],"step":[1,2])", ""),
      update(R"("in":[0,1],"start":[0,0],"step":[])", "a box of another rank"),
      update(R"("in":[0,1],"start":[0,0],"step":[0,1])", "a step that no box has"),
      update(R"("in":[0,1],"start":[0,0],"step":[4611686018427387904,1])", "leaves its base"),
      update(R"("in":[0,1],"start":[-1,0],"step":[1,1])", "leaves its base"),
      {graph_of({leaf("[3]"), leaf("[7]", "float32", 1)}, "add", "float32", "[7]", R"("in":[0,1])"),
       "do not broadcast"},
      {graph_of({kMatrix, leaf("[5,5]")}, "sum", "float32", "[5]", R"("in":[1],"axis":0)"), "another node names"},
      {graph_of({leaf("[5]", "bool")}, "sqrt", "bool", "[5]", R"("in":[0])"), "does not take"},
      {graph_of({leaf("[5]", "int8")}, "sum", "int8", "[]", R"("in":[0],"axis":0)"), "not accumulated in"},
      {graph_of({leaf("[5]", "bool")}, "argmax", "int64", "[]", R"("in":[0],"axis":0)"), "not accumulated in"},
      {graph_of({leaf("[0]")}, "max", "float32", "[]", R"("in":[0],"axis":0)"), "nothing has no such value"},
      {graph_of({leaf("[0]")}, "sum", "float32", "[]", R"("in":[0],"axis":0)"), ""},
      {graph_of({leaf("[]")}, "cumulative_sum", "float32", "[]", R"("in":[0],"axis":0)"), "an axis out of range"},
      {graph_of({leaf("[1152921504606846976]")}, "sqrt", "float32", "[1152921504606846976]", R"("in":[0])"),
       "more memory than there is"},
      {graph_of({}, "iota", "int64", "[5]", R"("axis":-2)"), "an axis out of range"},
      {graph_of({}, "iota", "int64", "[5]", R"("axis":1)"), "an axis out of range"},
      {graph_of({}, "iota", "float32", "[5]", R"("axis":0)"), "not int64"},
      {graph_of({}, "scalar", "float32", "[3]", R"("value":"one")"), "a number that has dimensions"},
      {graph_of({leaf("[4]", "int64")}, "random_bits", "uint32", "[4]", R"("in":[0,0,0])"), "does not take"},
      product("float32", "[2,4,5]", ""),
      product("float32", "[2,3,5]", "shapes that have no product"),
      product("int8", "[2,4,5]", "does not take"),
  };
}

/// `graph` with another value at a JSON pointer.
Row with(const char* pointer, const std::string& value, const char* why) {
  Json graph = graph_of({kMatrix}, "sqrt", "float32", "[24,48]", R"("in":[0])");
  graph[Json::json_pointer(pointer)] = parsed(value);
  return {graph, why};
}

}  // namespace

TEST_CASE("manifest: what recording refuses is refused when it is read, with the reason", "[manifest]") {
  std::vector<Row> rows = one_input();
  for (const Row& row : other_inputs()) rows.push_back(row);
  for (const Row& row :
       {with("/roots", "[]", "there are no roots"), with("/roots", "[2]", "does not come before"),
        with("/roots", "[[1,2147483648]]", "an output that there is not"), with("/roots", "[1,1,0]", ""),
        with("/device", R"({"a":[1]})", "no such device"), with("/disable", "[1]", "must be string"),
        with("/leaves/1", R"({"from":"user"})", "a leaf that no node names"),
        with("/leaves/0/offset", "9223372036854775807", "more memory than there is"),
        with("/leaves/0/strides", "[9223372036854775807,-9223372036854775808]", "leave all memory"),
        with("/leaves/0/strides", "[-48,1]", "before or beyond"), with("/leaves/0/strides", "[1,24]", ""),
        with("/leaves/0/strides", "[1]", "another rank")})
    rows.push_back(row);
  for (const Row& row : rows) {
    INFO(row.graph.dump());
    const std::string found = refusal(sealed_line(row.graph));
    CHECK(found.empty() == (*row.why == '\0'));
    CHECK_THAT(found, Catch::Contains(row.why));
    CHECK_THAT(found, !Catch::Contains("internal check"));
  }
}

TEST_CASE("manifest: nesting, members and lengths are bounded before anything is parsed", "[manifest]") {
  using namespace ta::runtime;
  CHECK_THAT(refusal("{\"id\":\"\",\"nodes\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}"),
             Catch::Contains("nested deeper"));
  std::string wide = "{\"id\":\"\"";
  for (int i = 0; i < 100000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  CHECK_THAT(refusal(wide + "}"), Catch::Contains("more members"));
  CHECK(passed_limit(std::string("[\"") + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]") == nullptr);
  CHECK(passed_limit(std::string(kMaxNesting, '[')) == nullptr);
  CHECK(passed_limit(std::string(kMaxNesting + 1, '[')) != nullptr);
  CHECK(passed_limit(std::string(kMaxLineBytes + 1, ' ')) != nullptr);
  CHECK(passed_limit("[" + std::string(kMaxLineValues, ',')) != nullptr);
}

TEST_CASE("manifest: a file of a size that no recording has is refused unread", "[manifest]") {
  const ManifestFile file("");
  std::filesystem::resize_file(file.path(), std::uintmax_t{1} << 40);
  CHECK_THROWS_WITH(ta::runtime::read_manifest(file.path()), Catch::Contains("larger than 1 GiB"));
}

TEST_CASE("manifest: long graphs are read and planned on a small stack", "[manifest]") {
  Json graph = graph_of({kMatrix}, "sqrt", "float32", "[24,48]", R"("in":[0])");
  for (int i = 1; i < 20000; ++i) {
    graph["nodes"].push_back({{"op", "negative"}, {"dtype", "float32"}, {"shape", {24, 48}}, {"in", {i}}});
  }
  graph["roots"] = {20000};
  const ManifestFile file(sealed_line(graph));
  std::size_t kernels = 0;
  ta::test::on_small_stack(256 << 10, [&] {
    const auto recorded = ta::runtime::read_manifest(file.path());
    const auto& target = *ta::graph::find_target("x86-64-v3");
    kernels = ta::runtime::kernels_of(recorded[0], recorded[0].graph, target, ta::runtime::Residence::AsRun).size();
  });
  CHECK(kernels > 0);
}

TEST_CASE("manifest: a place is text in messages, whatever bytes it has", "[manifest]") {
  Json graph = graph_of({kMatrix}, "sqrt", "float32", "[24,48]", R"("in":[0])");
  graph["nodes"][1]["at"] = "x*/\n#error evil\n\x1b[31mRED\x1b]0;title\x07:7";
  const ManifestFile file(sealed_line(graph));
  const auto recorded = ta::runtime::read_manifest(file.path());
  REQUIRE(recorded.size() == 1);
  CHECK(recorded[0].graph.nodes[1].where().str() == "x*/\\x0a#error evil\\x0a\\x1b[31mRED\\x1b]0;title\\x07:7");
}
