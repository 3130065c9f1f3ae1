// Borrowed memory: versions announced by touch(), changes that were not announced, and one upload per version.
#include <thread>

#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"

namespace ta = tarry;
using ta::test::Setting;
using Values = std::vector<float>;

TEST_CASE("borrow: touch evaluates what was recorded from the old elements and reads the new ones from then on",
          "[borrow]") {
  const ta::Scope on_cpu(ta::cpu);
  Values memory{1, 2, 3};
  ta::Array x = ta::borrow(memory.data(), {3});
  const ta::Array old = x + 1.0f, total = ta::sum(x * x);
  x.touch();
  CHECK(old.is_evaluated());
  CHECK(total.is_evaluated());
  memory = {10, 20, 30};
  const ta::Array now = x + 1.0f;
  CHECK(old.to_vector<float>() == Values{2, 3, 4});
  CHECK(total.item<float>() == 14);
  CHECK(now.to_vector<float>() == Values{11, 21, 31});
}

TEST_CASE("borrow: another handle, a view and work of another thread keep the old elements", "[borrow]") {
  const ta::Scope on_cpu(ta::cpu);
  Values memory{1, 2, 3, 4};
  ta::Array x = ta::borrow(memory.data(), {2, 2}, {1, 2});
  const ta::Array other = x, row = x(1);
  ta::Array elsewhere;
  std::thread([&] { elsewhere = other * 2.0f; }).join();
  x.touch();
  memory = {0, 0, 0, 0};
  CHECK(other.to_vector<float>() == Values{1, 3, 2, 4});
  CHECK(row.to_vector<float>() == Values{2, 4});
  CHECK(elsewhere.to_vector<float>() == Values{2, 6, 4, 8});
  CHECK(x.to_vector<float>() == Values{0, 0, 0, 0});
  CHECK(ta::to_device(other, ta::cpu).to_vector<float>() == Values{1, 3, 2, 4});
}

TEST_CASE("borrow: touch again and again, with evaluates in between, as a simulation does", "[borrow]") {
  const ta::Scope on_cpu(ta::cpu);
  Values memory(1000, 0.0f);
  ta::Array x = ta::borrow(memory.data(), {1000}), total = ta::zeros({1000});
  float expected = 0;
  for (int i = 1; i <= 50; ++i) {
    x.touch();
    for (float& v : memory) v = static_cast<float>(i);
    total = total + x;
    expected += static_cast<float>(i);
    if (i % 7 == 0) ta::evaluate(total);
  }
  CHECK(total.to_vector<float>() == Values(1000, expected));
}

TEST_CASE("borrow: a failure of touch leaves array and records as they were", "[borrow][fault]") {
  const ta::Scope on_cpu(ta::cpu);
  Values memory(5000, 1.0f);
  ta::Array x = ta::borrow(memory.data(), {5000});
  const ta::Array y = x + 1.0f;
  ta::trim(ta::cpu);
  ta::support::fault::arm(ta::support::fault::Site::Allocation, 1);
  CHECK_THROWS_AS(x.touch(), ta::OutOfMemory);
  ta::support::fault::disarm();
  CHECK_FALSE(y.is_evaluated());
  CHECK(y.to_vector<float>() == Values(5000, 2.0f));
  x.touch();
  memory.assign(5000, 3.0f);
  CHECK((x + 1.0f).to_vector<float>() == Values(5000, 4.0f));
}

TEST_CASE("borrow: TARRY_CHECK=borrow finds a change that nobody announced", "[borrow]") {
  const ta::Scope on_cpu(ta::cpu);
  const Setting check("TARRY_CHECK", "borrow");
  Values memory{1, 2, 3, 4};
  for (const bool strided : {false, true}) {
    memory = {1, 2, 3, 4};
    ta::Array x = strided ? ta::borrow(memory.data(), {2}, {2}) : ta::borrow(memory.data(), {4});
    memory[0] = 5;  // nothing was recorded yet
    const ta::Array y = x * 2.0f;
    memory[1] = 7;
    if (strided) {
      CHECK(y.to_vector<float>() == Values{10, 6});  // not one of its elements
    } else {
      CHECK_THROWS_WITH(y.to_vector<float>(),
                        Catch::Contains("changed while it was borrowed") && Catch::Contains("touch()"));
    }
    memory[1] = 2;
    CHECK(y.is_evaluated() == strided);
    CHECK(y(0).item<float>() == 10);
    memory[0] = 6;
    CHECK_THROWS_AS(x.to_vector<float>(), ta::InvalidArgument);
    CHECK_THROWS_AS(x.touch(), ta::InvalidArgument);  // too late
    memory[0] = 5;
    x.touch();
    memory = {9, 9, 9, 9};
    CHECK((x + 1.0f)(0).item<float>() == 10);
  }
}

TEST_CASE("borrow: one upload per version, and the report says why", "[borrow][cuda]") {
  TARRY_REQUIRE_NVRTC();
  ta::test::FakeGpu gpu;
  const ta::Scope placed(ta::test::kFakeGpu);
  Values memory(1000, 1.0f);
  ta::Array x = ta::borrow(memory.data(), {1000});
  const ta::Array host = ta::asarray(memory);
  for (int i = 0; i < 100; ++i) {
    const ta::Array y = x * static_cast<float>(i) + host;
    if (i == 0) {
      CHECK(ta::plan(y).counters().uploads == 2);
      CHECK(ta::plan(y).counters().bytes_uploaded == 8000);
    }
    const ta::Report report = ta::evaluate(y);
    CHECK(report.counters().uploads == (i == 0 ? 2 : 0));
    REQUIRE(report.transfers().size() == (i == 0 ? 2 : 0));
    if (i != 0) {
      CHECK(ta::plan(x * static_cast<float>(i) + host).counters().uploads == 0);
      continue;
    }
    const ta::Transfer& t = report.transfers()[0];
    CHECK((t.from == ta::cpu && t.to == ta::test::kFakeGpu && t.bytes == 4000 && t.reason == "first use, with others"));
    CHECK(report.str().find("4000 B from cpu to cuda:250: first use") != std::string::npos);
  }
  x.touch();
  const ta::Report touched = ta::evaluate(x * 2.0f + host);
  CHECK(touched.counters().uploads == 1);
  REQUIRE(touched.transfers().size() == 1);
  CHECK(touched.transfers()[0].reason == "touched");
}
