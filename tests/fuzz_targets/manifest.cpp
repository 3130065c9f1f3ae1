// Manifests: read, and what was read planned for a CPU and a GPU. Lines without an id get the right one, so that what
// is behind the checksum is reached.
#include <tarry/error.h>

#include <algorithm>
#include <exception>
#include <new>

#include "runtime/warm/manifest_limits.h"
#include "runtime/warm/warm_plan.h"
#include "support/log.h"
#include "tests/fuzz_targets/target.h"
#include "tests/helpers/sealed_manifest.h"

namespace {

using namespace tarry;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNodes = 400;  // planning more takes longer than an input should

/// The lines as a manifest's.
std::string sealed(std::string_view text) {
  std::string manifest = runtime::manifest_header() + "\n";
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // The limits come first here too: this parser is no deeper than theirs.
    const Json json = runtime::passed_limit(line) == nullptr ? Json::parse(line, nullptr, false) : Json();
    manifest += (json.is_object() && !json.contains("id") ? test::sealed_line(json) : line) + "\n";
  }
  return manifest;
}

void plan_all(const runtime::Recorded& recorded) {
  if (recorded.graph.nodes.size() > kMostNodes) return;
  for (const char* name : {"x86-64-v3", "sm_90"}) {
    const graph::Target& target = *graph::find_target(name);
    for (const runtime::Residence residence : runtime::residences(recorded, target)) {
      try {
        (void)runtime::kernels_of(recorded, recorded.graph, target, residence);
      } catch (const InternalError& e) {
        test::found(e.what());
      } catch (const Error&) {  // more than any memory holds
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const test::MemoryFile file(sealed({reinterpret_cast<const char*>(data), size}));
  try {
    for (const runtime::Recorded& recorded : runtime::read_manifest(file.path())) plan_all(recorded);
  } catch (const InvalidArgument& e) {
    if (std::string_view(e.what()).find("internal check") != std::string_view::npos) test::found(e.what());
  } catch (const std::exception& e) {
    test::found(e.what());
  }
  return 0;
}

namespace {

/// The inputs of `leaves`, "float32[24,48]int8[3]", then the nodes of `rest`.
std::string line(const std::string& leaves, const std::string& rest, int root) {
  std::string all = R"({"device":"cpu","leaves":[)", nodes;
  int number = 0;
  std::string_view left = leaves;
  while (!left.empty()) {
    const std::size_t bracket = left.find('['), end = left.find(']');
    all += (number > 0 ? "," : "") + std::string(R"({"from":"user"})");
    nodes += R"({"op":"input","dtype":")" + std::string(left.substr(0, bracket)) + R"(","shape":)" +
             std::string(left.substr(bracket, end + 1 - bracket)) + R"(,"leaf":)" + std::to_string(number++) +
             R"(,"at":"a.cpp:1"},)";
    left.remove_prefix(end + 1);
  }
  return all + R"(],"nodes":[)" + (rest.empty() ? nodes.substr(0, nodes.size() - 1) : nodes + rest) + R"(],"roots":[)" +
         std::to_string(root) + "]}\n";
}

std::string node(const char* op, const char* dtype, const char* shape, const char* rest) {
  return std::string(R"({"op":")") + op + R"(","dtype":")" + dtype + R"(","shape":)" + shape + (*rest != 0 ? "," : "") +
         rest + "}";
}

}  // namespace

std::vector<std::string> test::seeds() {
  const std::string a = "float32[24,48]";
  std::vector<std::string> all = {
      line(a,
           node("multiply", "float32", "[24,48]", R"("in":[0,0])") + "," +
               node("sqrt", "float32", "[24,48]", R"("in":[1])"),
           2),
      line(a,
           node("sum", "float32", "[24]", R"("in":[0],"axis":1)") + "," +
               node("view", "float32", "[24,1]", R"("in":[1],"map":[[0,0,1]])") + "," +
               node("subtract", "float32", "[24,48]", R"("in":[0,2])"),
           3),
      line(a,
           node("moments", "float32", "[24]", R"("in":[0],"axis":1)") + "," +
               node("moments_merge", "float32", "[]", R"("in":[1,[1,1]],"axis":0,"weight":48)") + "," +
               node("sqrt", "float32", "[]", R"("in":[[2,1]])"),
           3),
      line(a, node("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":1)"), 1),
      line(a, node("cumulative_prod", "float32", "[24,48]", R"("in":[0],"axis":0)"), 1),
      line(a, node("argmax", "int64", "[48]", R"("in":[0],"axis":0)"), 1),
      line(a,
           node("max", "float32", "[48]", R"("in":[0],"axis":0)") + "," +
               node("exp", "float32", "[48]", R"("in":[1])") + "," +
               node("prod", "float32", "[]", R"("in":[2],"axis":0)"),
           3),
      line(a,
           node("reshape", "float32", "[48,24]", R"("in":[0])") + "," +
               node("view", "float32", "[24,48]", R"("in":[1],"map":[[1,0,1],[0,0,1]])") + "," +
               node("add", "float32", "[24,48]", R"("in":[0,2])"),
           3),
      line(a, node("view", "float32", "[12,48]", R"("in":[0],"map":[[0,23,-2],[1,0,1]])"), 1),
      line(a,
           node("view", "float32", "[0,48]", R"("in":[0],"map":[[0,0,1],[1,0,1]])") + "," +
               node("sum", "float32", "[48]", R"("in":[1],"axis":0)"),
           2),
      line(a + "float32[3,3]", node("update", "float32", "[24,48]", R"("in":[0,1],"start":[1,2],"step":[2,1])"), 2),
      line("float32[2,3,4]float32[1,4,5]", node("matmul", "float32", "[2,3,5]", R"("in":[0,1])"), 2),
      line("int32[64]int32[1]",
           node("greater", "bool", "[64]", R"("in":[0,1])") + "," + node("where", "int32", "[64]", R"("in":[2,0,1])") +
               "," + node("astype", "float16", "[64]", R"("in":[3])"),
           4),
      line("",
           node("iota", "int64", "[10,3]", R"("axis":-1)") + "," +
               node("scalar", "uint64", "[]", R"("value":"other")") + "," +
               node("scalar", "uint32", "[]", R"("value":"other")") + "," +
               node("random_bits", "uint32", "[10,3]", R"("in":[0,1,2])") + "," +
               node("normal", "float32", "[10,3]", R"("in":[3],"mode":"relaxed")"),
           4),
      line("",
           node("scalar", "float64", "[]", R"("value":"negative zero")") + "," +
               node("view", "float64", "[7,5]", R"("in":[0],"map":[])") + "," +
               node("negative", "float64", "[7,5]", R"("in":[1])"),
           2),
      R"({"device":"cuda","disable":["fusion"],"leaves":[{"from":"evaluate","memory":"foreign","elsewhere":true,"offset":3,"strides":[1,30],"donated":true}],)"
      R"("nodes":[{"op":"input","dtype":"int8","shape":[20,30],"leaf":0},{"op":"abs","dtype":"int8","shape":[20,30],"in":[0]}],"roots":[1,0]})",
      // Read wrongly once: an axis before or far behind the shape, an output beyond all, nesting, a number of another
      // kind.
      line(a, node("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":-1)"), 1),
      line(a, node("cumulative_sum", "float32", "[24,48]", R"("in":[0],"axis":1000000)"), 1),
      R"({"device":"cpu","leaves":[],"nodes":[{"op":"iota","dtype":"int64","shape":[5],"axis":0}],"roots":[[0,2147483648]]})",
      line(a, node("sqrt", "float32", "[24,48]", R"("in":[1e300])"), 1),
      line("float32[0]", node("max", "float32", "[]", R"("in":[0],"axis":0)"), 1),
      std::string(4000, '['),
      "{\"id\":\"\",\"nodes\":" + std::string(4000, '['),
  };
  return all;
}
