// Streaming into files, what a program is told meanwhile, and what fails on the way.
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/device/backend.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

using namespace tarry;
namespace fs = std::filesystem;
using test::Setting;

namespace {

/// A file of 0, 1, 2, ... in rows of 8, and room for less than it.
class Streamed {
 public:
  explicit Streamed(std::int64_t rows) {
    std::vector<float> values(static_cast<std::size_t>(rows) * 8);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    save_npy(path("x.npy"), asarray(values, {rows, 8}));
    x = open_npy(path("x.npy"));
  }
  [[nodiscard]] std::string path(const char* name) const { return (directory_.path() / name).string(); }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }
  Array x;

 private:
  support::ScopedTemporaryDirectory directory_;
};

/// So much memory besides what is live.
Setting room_for(std::size_t bytes) {
  return {"TARRY_MEMORY_LIMIT", std::to_string(runtime::backend(default_device()).memory().live + bytes)};
}

}  // namespace

TEST_CASE("chunks: save_npy writes a result that does not fit as it comes", "[chunks][npy]") {
  const Streamed s(100'003);
  const Array expected = 2 * s.x + 1, streamed = 2 * s.x + 1;
  save_npy(s.path("expected.npy"), expected);
  runtime::backend(cpu).trim();
  const std::size_t live = runtime::backend(cpu).memory().live;
  {
    const Setting limit = room_for(200'000);
    save_npy(s.path("streamed.npy"), streamed);
  }
  CHECK(runtime::backend(cpu).memory().live == live);
  CHECK(runtime::backend(cpu).memory().cached < 200'000);  // all it took on the way
  CHECK(support::read_file(s.path("streamed.npy")) == support::read_file(s.path("expected.npy")));
  CHECK(s.files().size() == 3);  // no temporary is left
  CHECK_THAT(streamed.repr(), Catch::Contains("lazy"));
}

TEST_CASE("chunks: progress grows to the whole, and the innermost call is told", "[chunks]") {
  const Streamed s(50'000);
  std::vector<Progress> seen;
  int outer_calls = 0;
  auto outer = [&](const Progress&) { ++outer_calls; };
  auto inner = [&](const Progress& p) { seen.push_back(p); };
  const OnProgress around(outer);
  const Array total = sum(s.x), scaled = s.x * 2;
  Report report;
  {
    const OnProgress within(inner);
    const Setting limit = room_for(1'900'000 + 200'000);
    report = evaluate(total, scaled);
  }
  const auto chunks = static_cast<std::size_t>(report.counters().chunks);
  REQUIRE(seen.size() == chunks);
  REQUIRE(chunks > 4);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].chunks_done == static_cast<std::int64_t>(i) + 1);
    CHECK(seen[i].chunks == report.counters().chunks);
  }
  CHECK(seen.back().bytes >= 2 * 1'600'000);
  CHECK(seen.back().bytes < 2 * 1'600'000 + 100'000);
  CHECK(outer_calls == 0);
  CHECK_THAT(report.str(),
             Catch::Contains("chunks: one piece needs 3") && Catch::Contains("there was room for 2100.0 kB"));
  const Setting limit = room_for(200'000);
  evaluate(max(s.x));
  CHECK(outer_calls > 0);
}

TEST_CASE("chunks: whoever is told may end it, and nothing has happened", "[chunks]") {
  const Streamed s(50'000);
  auto stop = [&](const Progress& p) {
    if (p.chunks_done == 2) throw std::runtime_error("enough");
  };
  const Array total = sum(s.x);
  {
    const OnProgress told(stop);
    const Setting limit = room_for(200'000);
    CHECK_THROWS_WITH(evaluate(total), "enough");
    CHECK_THROWS_WITH(save_npy(s.path("y.npy"), s.x + 1), "enough");
  }
  CHECK(s.files() == std::vector<std::string>{"x.npy"});
  CHECK_THAT(total.repr(), Catch::Contains("lazy"));
  CHECK(total.item<float>() == sum(s.x).item<float>());
}

TEST_CASE("chunks: whatever call fails, the arrays stay lazy and the next evaluate is right", "[chunks]") {
  namespace fault = support::fault;
  const Streamed s(20'000);
  const Setting limit = room_for(100'000);
  const float expected = sum(s.x * 3).item<float>();
  for (const fault::Site site : {fault::Site::Allocation, fault::Site::File}) {
    fault::arm(site, 0);
    const Array counted = s.x * 3;
    save_npy(s.path("y.npy"), counted);
    const std::uint64_t calls = fault::disarm();
    INFO("calls of site " << static_cast<int>(site) << ": " << calls);
    CHECK((site != fault::Site::File || calls > 4));
    for (std::uint64_t k = 1; k <= calls; ++k) {
      runtime::backend(cpu).trim();
      fs::remove(s.path("y.npy"));
      const Array y = s.x * 3;
      fault::arm(site, k);
      try {
        save_npy(s.path("y.npy"), y);
      } catch (const Error&) {
        CHECK(s.files() == std::vector<std::string>{"x.npy"});
      }
      fault::disarm();
      CHECK(sum(y).item<float>() == expected);
    }
  }
}

TEST_CASE("chunks: values between pass one limit at a time", "[chunks]") {
  const Streamed s(50'000);
  const Setting limit = room_for(300'000);
  const std::size_t before = runtime::backend(default_device()).memory().live;
  const Array centred = s.x - mean(s.x, 0);
  const Array result = sum(centred * centred, 0) / 50'000;
  evaluate(result);
  CHECK(runtime::backend(default_device()).memory().live < before + 20'000);
  CHECK(result.size() == 8);
}
