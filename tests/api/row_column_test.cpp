// Reductions of one matrix along two axes: one kernel that reads it once, with the bits of two kernels.
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

/// Numbers whose sums depend on the order of additions.
std::vector<float> noise(std::int64_t count) {
  std::vector<float> v(static_cast<std::size_t>(count));
  std::mt19937 random(17);
  for (float& x : v) x = std::normal_distribution<float>(0.5f, 2.0f)(random);
  return v;
}

ta::Array matrix(const std::vector<std::int64_t>& shape, ta::Dtype dtype = ta::float32) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const ta::Array x = ta::asarray(noise(count), shape);
  if (dtype == ta::float32) return x;
  const ta::Array y = ta::astype(dtype == ta::bool_ ? ta::astype(x > 3.0f, ta::int8) : x, dtype);
  ta::evaluate(y);
  return y;
}

template <class T>
bool same(const ta::Array& a, const ta::Array& b) {
  const std::vector<T> x = a.to_vector<T>(), y = b.to_vector<T>();
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!same_bits<T>(x[i], y[i])) return false;
  return true;
}
bool same(const ta::Array& a, const ta::Array& b) {
  switch (a.dtype()) {
    case ta::Dtype::Bool: return same<bool>(a, b);
    case ta::Dtype::Int8: return same<std::int8_t>(a, b);
    case ta::Dtype::Int32: return same<std::int32_t>(a, b);
    case ta::Dtype::Int64: return same<std::int64_t>(a, b);
    case ta::Dtype::Float16: return same<ta::Half>(a, b);
    case ta::Dtype::Float64: return same<double>(a, b);
    default: return same<float>(a, b);
  }
}

using Pair = std::function<std::vector<ta::Array>()>;

/// Evaluates what `make` records as one kernel, then as one per axis: the same bits. Gives the first report's counters.
ta::Counters check_pair(const Pair& make) {
  std::vector<ta::Array> together = make(), apart = make();
  const ta::Counters counters = ta::evaluate(together[0], together[1]).counters();
  const Setting off("TARRY_DISABLE", "row_column");
  CHECK(ta::evaluate(apart[0], apart[1]).counters().launches == 2);
  for (std::size_t i = 0; i < together.size(); ++i) {
    INFO("result " << i);
    CHECK(same(together[i], apart[i]));
  }
  return counters;
}

struct NamedReduction {
  const char* name;
  ta::Array (*run)(const ta::Array&, int);
};
const NamedReduction kReductions[] = {
    {"sum", [](const ta::Array& x, int axis) { return ta::sum(x, axis); }},
    {"prod", [](const ta::Array& x, int axis) { return ta::prod(x, axis); }},
    {"min", [](const ta::Array& x, int axis) { return ta::min(x, axis); }},
    {"max", [](const ta::Array& x, int axis) { return ta::max(x, axis); }},
    {"argmin", [](const ta::Array& x, int axis) { return ta::argmin(x, axis); }},
    {"argmax", [](const ta::Array& x, int axis) { return ta::argmax(x, axis); }},
    {"any", [](const ta::Array& x, int axis) { return ta::any(x, axis); }},
    {"all", [](const ta::Array& x, int axis) { return ta::all(x, axis); }},
    {"mean", [](const ta::Array& x, int axis) { return ta::mean(x, axis); }},
    {"var", [](const ta::Array& x, int axis) { return ta::var(x, axis); }},
    {"count_nonzero", [](const ta::Array& x, int axis) { return ta::count_nonzero(x, axis); }},
};

bool takes_bool(const std::string& name) {
  return name == "any" || name == "all" || name == "count_nonzero" || name == "sum";
}

}  // namespace

TEST_CASE("row and column: sums of rows and of columns are one kernel that reads the matrix once", "[row_column]") {
  on_every_device([](ta::Device) {
    const ta::Array x = matrix({384, 1000});
    const ta::Array rows = ta::sum(x, 1), columns = ta::sum(x, 0);
    const ta::Counters planned = ta::plan(rows, columns).counters(), c = ta::evaluate(rows, columns).counters();
    CHECK((c.launches == 1 && c.kernels == 1));
    CHECK(c.bytes_read == 384 * 1000 * 4);
    CHECK(c.bytes_written == (384 + 1000) * 4);
    CHECK((planned.launches == c.launches && planned.bytes_read == c.bytes_read &&
           planned.bytes_written == c.bytes_written));
    const Setting off("TARRY_DISABLE", "row_column");
    const ta::Counters two = ta::plan(ta::sum(x, 1), ta::sum(x, 0)).counters();
    CHECK((two.launches == 2 && two.bytes_read == 2 * 384 * 1000 * 4));
  });
}

TEST_CASE("row and column: every reduction has the bits of two kernels, in every dtype", "[row_column]") {
  on_every_device([](ta::Device) {
    for (const ta::Dtype dtype : {ta::float32, ta::float64, ta::int8, ta::int32, ta::float16, ta::bool_}) {
      const ta::Array x = matrix({131, 300}, dtype);
      for (const NamedReduction& r : kReductions) {
        if (dtype == ta::bool_ && !takes_bool(r.name)) continue;
        INFO(r.name << " of " << ta::name(dtype));
        CHECK(check_pair([&] { return std::vector{r.run(x, 0), r.run(x, 1)}; }).launches == 1);
      }
    }
  });
}

TEST_CASE("row and column: matrices of every extent", "[row_column]") {
  on_every_device([](ta::Device) {
    for (const auto& [rows, columns] : {std::pair(128, 128), {129, 4097}, {4097, 131}, {257, 1031}, {1000, 640}}) {
      INFO(rows << " x " << columns);
      const ta::Array x = matrix({rows, columns});
      CHECK(check_pair([&] { return std::vector{ta::sum(x, 0), ta::sum(x, 1)}; }).launches == 1);
      CHECK(check_pair([&] { return std::vector{ta::var(x, 1), ta::argmax(x, 0)}; }).launches == 1);
    }
    for (const auto& [rows, columns] : {std::pair(127, 5000), {1, 5000}, {5000, 1}, {5000, 40}, {0, 300}, {300, 0}}) {
      INFO(rows << " x " << columns);
      const ta::Array x = matrix({rows, columns}), a = ta::sum(x, 0), b = ta::sum(x, 1);
      ta::evaluate(a, b);
      const Setting off("TARRY_DISABLE", "fusion");
      CHECK((same(a, ta::sum(x, 0)) && same(b, ta::sum(x, 1))));
    }
  });
}

TEST_CASE("row and column: matrices in every layout", "[row_column]") {
  on_every_device([](ta::Device) {
    const ta::Array x = matrix({300, 402});
    const auto both = [](const ta::Array& y) { return [y] { return std::vector{ta::sum(y, 0), ta::max(y, 1)}; }; };
    CHECK(check_pair(both(ta::permute_dims(x, {1, 0}))).launches == 1);
    CHECK(check_pair(both(x(ta::slice(3, -2), ta::slice(1, -7)))).launches == 1);
    CHECK(check_pair(both(x(ta::slice(ta::none, ta::none, 2), ta::slice()))).launches == 1);
    CHECK(check_pair(both(ta::flip(x, 0))).launches == 1);
    const ta::Array y = x(ta::slice(), ta::slice(ta::none, ta::none, 2));  // no axis along which memory lies
    CHECK(check_pair(both(y)).launches == 2);
    const ta::Array row = matrix({402});
    CHECK(check_pair([&] { return std::vector{ta::sum(x * row, 0), ta::sum(x * row, 1)}; }).launches == 1);
  });
}

TEST_CASE("row and column: several reductions each way, of an expression, before other operations", "[row_column]") {
  on_every_device([](ta::Device) {
    const ta::Array x = matrix({260, 516}), y = matrix({260, 516}, ta::float16), w = matrix({260, 1});
    const auto record = [&] {
      const ta::Array z = x * ta::astype(y, ta::float32) + w;
      return std::vector{ta::mean(z, 1), ta::std(z, 0), ta::max(z, 1), ta::sqrt(ta::sum(z * z, 0)) / 3.0f,
                         ta::sum(z, 1) / w(ta::slice(), 0)};
    };
    std::vector<ta::Array> together = record(), apart = record();
    const ta::Counters c = ta::evaluate(together[0], together[1], together[2], together[3], together[4]).counters();
    CHECK(c.launches == 1);
    const Setting off("TARRY_DISABLE", "fusion");
    ta::evaluate(apart[0], apart[1], apart[2], apart[3], apart[4]);
    for (std::size_t i = 0; i < together.size(); ++i) {
      INFO("result " << i);
      CHECK(same(together[i], apart[i]));
    }
  });
}

TEST_CASE("row and column: an expression that is stored, or dear to read, is computed once for both ways",
          "[row_column]") {
  on_every_device([](ta::Device) {
    const ta::Array x = matrix({256, 512}), y = matrix({256, 512}, ta::float64);
    const auto stored = [&] {
      const ta::Array z = x * x;
      return std::vector{z, ta::sum(z, 0), ta::max(z, 1)};
    };
    std::vector<ta::Array> together = stored(), apart = stored();
    const ta::Counters c = ta::evaluate(together[0], together[1], together[2]).counters();
    CHECK((c.launches == 1 && c.bytes_read == 256 * 512 * 4 && c.bytes_written == (256 * 512 + 256 + 512) * 4));
    const ta::Array difference = ta::astype(y - x, ta::float32) - 1.0f;  // four bytes instead of twelve
    CHECK(check_pair([&] { return std::vector{ta::sum(difference, 0), ta::sum(difference, 1)}; }).bytes_read ==
          256 * 512 * 12);
    const Setting off("TARRY_DISABLE", "fusion");
    ta::evaluate(apart[0], apart[1], apart[2]);
    for (std::size_t i = 0; i < together.size(); ++i) CHECK(same(together[i], apart[i]));
  });
}

TEST_CASE("row and column: batches of matrices", "[row_column]") {
  on_every_device([](ta::Device) {
    const ta::Array x = matrix({5, 130, 140}), y = matrix({130, 3, 2, 260});
    CHECK(check_pair([&] { return std::vector{ta::sum(x, 1), ta::sum(x, 2)}; }).launches == 1);
    CHECK(check_pair([&] { return std::vector{ta::var(y, 0), ta::argmin(y, 3)}; }).launches == 1);
  });
}

TEST_CASE("row and column: the number of threads changes no bit", "[row_column]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = matrix({700, 1500});
  std::vector<ta::Array> first;
  for (const char* threads : {"1", "2", "7"}) {
    const Setting count("TARRY_NUM_THREADS", threads);
    std::vector<ta::Array> now{ta::sum(x, 0), ta::var(x, 1), ta::sum(x, 1)};
    CHECK(ta::evaluate(now[0], now[1], now[2]).counters().launches == 1);
    if (first.empty()) first = now;
    for (std::size_t i = 0; i < now.size(); ++i) CHECK(same(now[i], first[i]));
  }
}

TEST_CASE(
    "row and column: what waits for the other axis, reads another matrix or has short axes stays a kernel of its own",
    "[row_column]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = matrix({300, 300}), y = matrix({300, 300}), thin = matrix({300, 100});
  const auto launches = [](const ta::Array& a, const ta::Array& b) { return ta::plan(a, b).counters().launches; };
  CHECK(launches(ta::sum(x, 0), ta::sum(y, 1)) == 2);
  CHECK(launches(ta::sum(x, 0), ta::sum(x - ta::mean(x, 0), 1)) == 2);
  CHECK(launches(ta::sum(thin, 0), ta::sum(thin, 1)) == 2);
  CHECK(launches(ta::sum(x, 0), ta::sum(x)) == 2);
  CHECK(launches(ta::sum(x, 0), ta::softmax(x, 1)) == 2);
}

TEST_CASE("row and column: on a GPU large matrices have the bits of the CPU", "[row_column][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const auto& [rows, columns] : {std::pair(4096, 4096), {1000, 32768}, {32768, 257}, {2049, 3333}, {128, 128}}) {
    INFO(rows << " x " << columns);
    std::vector<ta::Array> found[2];
    for (const ta::Device device : {ta::cpu, ta::cuda(0)}) {
      const ta::Scope placed(device);
      const ta::Array x = matrix({rows, columns});
      for (int again = 0; again < 3; ++again) {
        std::vector<ta::Array> now{ta::sum(x, 0), ta::sum(x, 1), ta::argmax(x, 1), ta::var(x, 0)};
        CHECK(ta::evaluate(now[0], now[1], now[2], now[3]).counters().launches == 1);
        found[device == ta::cpu ? 0 : 1] = now;
        for (std::size_t i = 0; i < now.size(); ++i) CHECK(same(now[i], found[0][i]));
      }
    }
  }
}
