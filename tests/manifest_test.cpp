// Manifests: what is recorded, what is not, and that every kernel of a recorded run can be made again from it.
#include "runtime/manifest.h"

#include <tarry/tarry.h>
#include <tarry/warm.h>

#include <algorithm>
#include <set>

#include "runtime/backend.h"
#include "runtime/warm_plan.h"
#include "support/file.h"
#include "tests/child.h"
#include "tests/devices.h"
#include "tests/test.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::test::ramp;
using ta::test::Setting;

namespace {

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  const std::string content = ta::support::read_file(file).value_or("");
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t end = std::min(content.find('\n', at), content.size());
    lines.push_back(content.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Programs of different kinds: elementwise, rows, columns, views, updates, reshapes, several outputs, borrowed memory.
struct Programs {
  std::vector<float> host = ramp(600);
  ta::Array x = ta::asarray(host, {20, 30});
  std::vector<std::vector<ta::Array>> all() {
    std::vector<std::vector<ta::Array>> programs;
    programs.push_back({ta::exp(x) * 2.5f + 0.f});
    programs.push_back({ta::softmax(x, -1)});
    programs.push_back({ta::sum(x, 0), ta::max(x, 1)});
    programs.push_back({ta::var(x, 1), ta::mean(x)});
    programs.push_back({ta::std(x, {0, 1})});
    programs.push_back({ta::reshape(ta::permute_dims(x, {1, 0}), {60, 10}) + x(ta::slice(0, 1), ta::slice(0, 10))});
    programs.push_back({ta::with_set(x, {ta::slice(1, 19, 2), ta::slice()}, 3.f)});
    programs.push_back({ta::with_add(x, {0}, 1.f), ta::argmax(x, 1)});
    programs.push_back({ta::concat({x, ta::flip(x)}, 0)});
    programs.push_back({ta::arange(100) * 3, ta::astype(x, ta::float16) / 3});
    programs.push_back({ta::borrow(host.data(), {20, 10}, {30, 3}) + 1.f});
    {
      const ta::Scope relaxed(ta::relaxed);
      programs.push_back({x * x + 1.5f});
    }
    return programs;
  }
};

/// The kernel texts of what the programs evaluate, step by step: later programs read results of earlier ones.
std::set<std::string> run_programs() {
  std::set<std::string> texts;
  Programs programs;
  for (std::vector<ta::Array> roots : programs.all()) {
    std::vector<ta::Array> next;
    for (const ta::Array& r : roots) next.push_back(ta::sqrt(ta::abs(ta::astype(r, ta::float32))));
    for (const std::vector<ta::Array>& wanted : {roots, next}) {
      for (const ta::Array& r : wanted)
        for (const std::string& text : ta::plan(r).sources()) texts.insert(text);
      for (const ta::Array& r : wanted) ta::evaluate(r);
    }
  }
  return texts;
}

std::set<std::string> made_again(const fs::path& manifest, const ta::graph::Target& target) {
  std::set<std::string> texts;
  for (const auto& recorded : ta::runtime::read_manifest(manifest))
    for (const auto residence : ta::runtime::residences(recorded, target))
      for (const auto& kernel : ta::runtime::kernels_of(recorded, recorded.graph, target, residence)) texts.insert(kernel.source->text);
  return texts;
}

}  // namespace

TEST_CASE("manifest: the kernels made again are those of the recorded run", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  std::set<std::string> ran;
  {
    const ta::Recording recording(file.string());
    ran = run_programs();
  }
  REQUIRE(ran.size() > 20);
  CHECK(made_again(file, ta::runtime::backend(ta::cpu).target()) == ran);
}
