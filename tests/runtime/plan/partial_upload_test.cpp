// Work that makes operands smaller is done before they cross to a GPU: counted on a driver that computes nothing, and
// compared with the whole on a GPU where there is one.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/uploaded_parts.h"
#include "runtime/plan/partial_upload.h"
#include "support/fault.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/program.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"
#include "tests/helpers/test.h"

using namespace tarry;
using test::FakeGpu;
using test::kFakeGpu;

namespace {

constexpr std::int64_t kMany = 1 << 22;  // elements

template <class T = float>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  std::iota(v.begin(), v.end(), static_cast<T>(-5));
  return v;
}

Array rows(std::int64_t count) { return reshape(asarray(numbers(count * 1024)), {count, 1024}); }

}  // namespace

TEST_CASE("partial upload: of a host array that is sliced only the slice crosses, once", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = asarray(numbers(kMany));
  for (int round = 0; round < 3; ++round) {
    const Array y = x(slice(1000, 3000)) * 2.0f + 1.0f;
    const Counters predicted = plan(y).counters();
    const Report report = evaluate(y);
    CHECK(report.counters().bytes_uploaded == (round == 0 ? 8000 : 0));
    CHECK(predicted.peak_bytes == report.counters().peak_bytes);
    CHECK(report.counters().uploads == (round == 0 ? 1 : 0));
    CHECK(predicted.bytes_uploaded == report.counters().bytes_uploaded);
    CHECK(predicted.launches == report.counters().launches);
    CHECK(report.counters().launches == 1);
    CHECK(report.transfers().size() == (round == 0 ? 1 : 0));
  }
  evaluate(x + 1.0f);
  CHECK(plan(x(slice(1000, 3000)) * 2.0f).counters().bytes_uploaded == 0);  // now all of it is there
}

TEST_CASE("partial upload: parts that lie apart cross apart, shifted ones together", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = rows(4096);
  CHECK(evaluate(x(slice(0, 10)) + x(slice(4000, 4010))).counters().bytes_uploaded == 2 * 10 * 4096);
  const Array y = rows(4096);
  CHECK(evaluate(y(slice(100, 200)) + y(slice(101, 201))).counters().bytes_uploaded == 101 * 4096);
  const Array z = rows(4096);
  CHECK(evaluate(sum(z(slice(16), slice(16)), {0})).counters().bytes_uploaded ==
        16 * 4096);  // of what was reshaped whole rows
}

TEST_CASE("partial upload: slices of all places cross at most twice as often as all of it", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = rows(4096);
  std::int64_t crossed = 0, last = 0;
  for (std::int64_t i = 0; i < 3000; i += 37) {
    last = evaluate(x(slice(i, i + 100)) * 2.0f).counters().bytes_uploaded;
    crossed += last;
  }
  CHECK(last == 0);
  CHECK(crossed > 4096 * 4096);
  CHECK(crossed <= 2 * 4096 * 4096);
}

TEST_CASE("partial upload: what is read as a whole crosses as a whole", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = asarray(numbers(kMany)), small = asarray(numbers(1000));
  CHECK(evaluate(x(slice(10)) + sum(x)).counters().bytes_uploaded == 4 * kMany);
  CHECK(evaluate(small(slice(10)) + 1.0f).counters().bytes_uploaded == 4000);  // not worth it
  const test::Setting off("TARRY_DISABLE", "partial_upload");
  const Array y = asarray(numbers(kMany));
  CHECK(evaluate(y(slice(10)) + 1.0f).counters().bytes_uploaded == 4 * kMany);
}

TEST_CASE("partial upload: the narrower representation crosses, once", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array wide = asarray(numbers<double>(kMany)), narrow = asarray(numbers<std::uint8_t>(kMany));
  for (int round = 0; round < 100; ++round) {
    const Array y = astype(wide, float32) * 2.0f + astype(wide, float32);
    const Counters predicted = plan(y).counters();
    const Report report = evaluate(y);
    CHECK(predicted.peak_bytes == report.counters().peak_bytes);
    CHECK(report.counters().bytes_uploaded == (round == 0 ? 4 * kMany : 0));
    CHECK(predicted.bytes_uploaded == report.counters().bytes_uploaded);
    if (round == 0) CHECK(report.transfers().front().reason == "first use as float32");
  }
  CHECK(evaluate(astype(narrow, float32) / 255.0f).counters().bytes_uploaded == kMany);
  CHECK(evaluate(wide + 1.0).counters().bytes_uploaded == 8 * kMany);  // all digits are asked for
  CHECK(evaluate(astype(wide, float32)).counters().bytes_uploaded == 0);
  const Array both = asarray(numbers<double>(kMany));
  CHECK(evaluate(astype(both, float32), both * 2.0).counters().bytes_uploaded == 8 * kMany);
}

TEST_CASE("partial upload: strided memory of the same shape is packed, and crosses as it is", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const std::vector<double> memory = numbers<double>(2 * kMany);
  const auto uploaded = [](const Array& x) { return evaluate(astype(x, float32) * 2.0f).counters().bytes_uploaded; };
  CHECK(uploaded(borrow(memory.data(), {kMany})) == 4 * kMany);
  CHECK(uploaded(borrow(memory.data(), {kMany}, {2})) == 8 * kMany);
}

TEST_CASE("partial upload: borrowed memory that was touched crosses anew", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  std::vector<float> memory = numbers(kMany);
  Array x = borrow(memory.data(), {kMany});
  for (int round = 0; round < 2; ++round) {
    CHECK(evaluate(x(slice(1000)) * 2.0f).counters().bytes_uploaded == 4000);
    memory[0] += 1;
    x.touch();
  }
}

TEST_CASE("partial upload: whichever allocation or driver call fails, nothing is lost", "[partial_upload][fault]") {
  TARRY_REQUIRE_NVRTC();
  using support::fault::Site;
  const FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const std::vector<float> v = numbers(kMany);
  const std::vector<double> w = numbers<double>(kMany);
  int failures = 0;
  for (const Site site : {Site::Driver, Site::Allocation}) {
    for (std::uint64_t k = 1; k < 500; ++k) {
      runtime::backend(kFakeGpu).trim();
      const Array x = borrow(v.data(), {kMany}), wide = borrow(w.data(), {kMany});
      const Array y = x(slice(500, 1500)) * 2.0f, z = astype(wide, float32) + 1.0f;
      bool failed = false;
      support::fault::arm(site, k);
      try {
        evaluate(y, z);
      } catch (const Error&) {
        failed = true;
      }
      const std::uint64_t calls = support::fault::disarm();
      INFO("site " << static_cast<int>(site) << ", call " << k << " of " << calls);
      failures += failed ? 1 : 0;
      CHECK(x.to_vector<float>() == v);
      if (failed) {
        REQUIRE_FALSE(y.is_evaluated());
        CHECK_NOTHROW(evaluate(y, z));
      }
      CHECK(y.is_evaluated());
      if (calls < k) break;
    }
  }
  CHECK(failures >= 3);
}

TEST_CASE("partial upload: the values are those of the whole", "[partial_upload]") {
  test::on_every_device([](Device) {
    const std::vector<float> v = numbers(kMany);
    const Array x = asarray(v), y = x(slice(1000, 3000)) * 2.0f + x(slice(4000000, 4002000));
    const std::vector<float> result = y.to_vector<float>();
    bool same = true;
    for (std::size_t i = 0; i < 2000; ++i) same &= result[i] == v[1000 + i] * 2.0f + v[4000000 + i];
    CHECK(same);
    const Array rows_of_x = asarray(v);
    for (std::int64_t i = 0; i < 1 << 21; i += 300'001) {  // graphs that differ in where they read
      const std::vector<float> row = (rows_of_x(slice(i, i + 5000)) * 2.0f).to_vector<float>();
      INFO(i);
      CHECK(row.front() == v[static_cast<std::size_t>(i)] * 2.0f);
      CHECK(row.back() == v[static_cast<std::size_t>(i + 4999)] * 2.0f);
    }
    const std::vector<double> w = numbers<double>(kMany + 3);
    const Array narrow = asarray(w);
    const std::vector<float> halves = (astype(narrow * 1.0, float32) * 0.5f).to_vector<float>();
    const std::vector<float> converted = (astype(asarray(w), float32) * 0.5f).to_vector<float>();
    CHECK(halves == converted);
    for (const Dtype to : {uint8, int16, float16, bfloat16, int32, bool_}) {
      INFO(name(to));
      CHECK(array_equal(astype(asarray(w), to), astype(narrow * 1.0, to)));
    }
  });
}

TEST_CASE("partial upload: random graphs have the bits of the whole", "[partial_upload][fuzz]") {
  // Without a GPU the fake one says how many of them have something to hoist, and nothing is evaluated.
  const std::vector<Device> all = devices();
  const auto real = std::find_if(all.begin(), all.end(), [](Device d) { return d.kind == DeviceKind::Cuda; });
  const FakeGpu fake;
  const Device gpu = real == all.end() ? kFakeGpu : *real;
  const Scope placed(gpu);
  int uploaded = 0, reduced = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const test::fuzz::Program program = test::fuzz::generate(seed);
    const auto record_all = [&](const test::fuzz::Arrays& arrays) {
      std::vector<Array> values = arrays.values;
      for (const test::fuzz::Statement& s : program.statements) values.push_back(test::fuzz::record(s, values));
      std::vector<graph::Edge> roots;
      for (const int v : program.outputs)
        roots.push_back(detail::edge(values[static_cast<std::size_t>(v)], "test", {}));
      return roots;
    };
    const test::fuzz::Arrays inputs = test::fuzz::make_inputs(program), others = test::fuzz::make_inputs(program);
    const std::vector<graph::Edge> roots = record_all(others);
    graph::Snapshot s;
    {
      const std::lock_guard lock(graph::engine_mutex());
      graph::Node* blocked = nullptr;
      s = graph::take_snapshot(roots, &blocked);
    }
    std::vector<runtime::HostReduction> reductions = runtime::find_host_reductions(s, gpu);
    for (runtime::HostReduction& r : reductions) r.placement.device = cpu;
    const runtime::PartialUpload upload = runtime::find_partial_upload(s, gpu, reductions, 0);
    reduced += upload.reductions.empty() ? 0 : 1;
    if (upload.empty()) continue;
    ++uploaded;
    if (gpu == kFakeGpu) continue;
    const std::vector<graph::Edge> wholes = record_all(inputs);
    runtime::evaluate(wholes, {});
    const runtime::UploadedValues values =
        runtime::evaluate_partial_upload({s.graph, s.leaves, s.cells, runtime::backend(gpu), {}}, upload);
    for (std::size_t r = 0; r < roots.size(); ++r) {
      const graph::Node& n = *roots[r].node();
      const graph::Edge part = graph::make_input(n.dtype, n.shape(), values.roots[r], gpu, {});
      test::fuzz::Tensor one({n.dtype, graph::Dims(n.shape()).vector()}), other = one;
      if (one.bytes.empty()) continue;
      runtime::read(wholes[r], one.bytes.data(), {});
      runtime::read(part, other.bytes.data(), {});
      INFO("seed " << seed << " root " << r);
      CHECK(test::fuzz::difference(one, other) == "");
    }
  }
  CHECK(uploaded >= 20);
  CHECK(reduced >= 5);
}

TEST_CASE("partial upload: what is sent while the device is busy overlaps its work", "[partial_upload]") {
  TARRY_REQUIRE_NVRTC();
  FakeGpu gpu;
  const Scope placed(kFakeGpu);
  const Array x = asarray(numbers(kMany)), y = asarray(numbers(kMany));
  const auto overlapped = [](const Array& a) {
    const Counters c = evaluate(a).counters();
    CHECK(c.bytes_uploaded == 4 * kMany);
    return c.bytes_overlapped;
  };
  CHECK(overlapped(x * 2.0f) == 0);
  synchronize();
  gpu.driver().paused = true;  // nothing gets done
  const Array before = full({1000}, 1.0f) * 2.0f;
  evaluate(before);
  CHECK(overlapped(y * 2.0f) == 4 * kMany);
  gpu.driver().paused = false;
  synchronize();
  const Report report = evaluate(asarray(numbers(kMany)) * 3.0f);
  CHECK(report.counters().bytes_overlapped == 0);
}
