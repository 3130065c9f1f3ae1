// matmul: shapes, dtypes and layouts against sums in double precision, by a library and without one; what is fused
// around it; how a device without a library computes it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/device/cpu/blas.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

using namespace tarry;

namespace {

std::int64_t count_of(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

/// Small whole numbers of both signs in any dtype: their products and sums of some hundred are exact in all of them.
Array whole(const Shape& shape, Dtype dtype, int salt) {
  std::vector<float> values(static_cast<std::size_t>(count_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + i / 3 + static_cast<std::size_t>(salt)) % 3);
  if (info(dtype).kind != DtypeKind::UInt)
    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
  return astype(asarray(values, shape), dtype);
}

std::vector<double> doubles(const Array& x) { return astype(x, float64).to_vector<double>(); }

/// The product of 2-d operands or stacks whose dimensions in front are equal, element by element.
std::vector<double> product(const Array& a, const Array& b) {
  const std::vector<double> x = doubles(a), y = doubles(b);
  const std::size_t rank = a.shape().size();
  const auto m = static_cast<std::size_t>(a.shape()[rank - 2]), k = static_cast<std::size_t>(a.shape()[rank - 1]),
             n = static_cast<std::size_t>(b.shape()[rank - 1]);
  std::size_t stack = 1;
  for (std::size_t d = 0; d + 2 < rank; ++d) stack *= static_cast<std::size_t>(a.shape()[d]);
  std::vector<double> result(stack * m * n);
  for (std::size_t s = 0; s < stack; ++s)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l)
          result[(s * m + i) * n + j] += x[(s * m + i) * k + l] * y[(s * k + l) * n + j];
  return result;
}

/// Runs `body` as it is, and without the library.
template <class Body>
void with_and_without_library(const Body& body) {
  body();
  const test::ScopedSwitch off("TARRY_DISABLE", "library");
  body();
}

struct Shapes {
  Shape a, b, result;
};
const Shapes kShapes[] = {
    {{3, 4}, {4, 5}, {3, 5}},
    {{17, 33}, {33, 19}, {17, 19}},
    {{4}, {4}, {}},
    {{3, 4}, {4}, {3}},
    {{4}, {4, 5}, {5}},
    {{1, 4}, {4, 1}, {1, 1}},
    {{1, 4}, {4, 5}, {1, 5}},
    {{2, 3, 4}, {4, 5}, {2, 3, 5}},
    {{3, 4}, {2, 4, 5}, {2, 3, 5}},
    {{2, 3, 4}, {2, 4, 5}, {2, 3, 5}},
    {{2, 1, 3, 4}, {5, 4, 6}, {2, 5, 3, 6}},
    {{1, 3, 4}, {1, 4, 5}, {1, 3, 5}},
    {{4}, {2, 4, 5}, {2, 5}},
    {{2, 3, 4}, {4}, {2, 3}},
    {{0, 4}, {4, 5}, {0, 5}},
    {{3, 0}, {0, 5}, {3, 5}},
    {{0, 3, 4}, {4, 5}, {0, 3, 5}},
};

const Dtype kDtypes[] = {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64};

}  // namespace

TEST_CASE("matmul: every pair of shapes of the array API in every dtype gives the exact product of whole numbers",
          "[matmul][ops]") {
  const Scope placed(cpu);
  with_and_without_library([] {
    for (const Shapes& s : kShapes) {
      for (const Dtype dtype : kDtypes) {
        const Array a = whole(s.a, dtype, 1), b = whole(s.b, dtype, 2), c = matmul(a, b);
        INFO(s.a.str() << " times " << s.b.str() << " in " << name(dtype));
        CHECK(c.shape() == s.result);
        CHECK(c.dtype() == dtype);
        // Both as stacks of equal fronts, by the rules of broadcasting.
        const Array rows = s.a.size() == 1 ? expand_dims(a, 0) : a, columns = s.b.size() == 1 ? expand_dims(b, -1) : b;
        std::vector<std::int64_t> front = s.result.vector();
        if (s.a.size() > 1) front.pop_back();
        if (s.b.size() > 1) front.pop_back();
        const auto stacked = [&](const Array& x) {
          std::vector<std::int64_t> shape = front;
          const std::vector<std::int64_t> own = x.shape().vector();
          shape.insert(shape.end(), own.end() - 2, own.end());
          return broadcast_to(x, shape);
        };
        CHECK(doubles(c) == product(stacked(rows), stacked(columns)));
      }
    }
  });
}

TEST_CASE("matmul: integers wrap in their dtype", "[matmul][ops]") {
  const Scope placed(cpu);
  const Array a = array({{100, 27}, {-128, 1}}), b = array({{2, 3}, {1, -128}});
  const auto narrow = [](const Array& x) { return astype(x, int8); };
  CHECK(matmul(narrow(a), narrow(b)).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{static_cast<std::int8_t>(227), static_cast<std::int8_t>(300 - 3456),
                                 static_cast<std::int8_t>(-255), static_cast<std::int8_t>(-512)});
}

TEST_CASE("matmul: operands promote as everywhere", "[matmul][ops]") {
  const Scope placed(cpu);
  CHECK(matmul(whole({3, 4}, float32, 0), whole({4, 5}, float64, 0)).dtype() == float64);
  CHECK(matmul(whole({3, 4}, int8, 0), whole({4, 5}, int32, 0)).dtype() == int32);
  CHECK(matmul(whole({3, 4}, float16, 0), whole({4, 5}, bfloat16, 0)).dtype() == float32);
}

TEST_CASE("matmul: operands may be views of any kind, parts of larger arrays and results of other operations",
          "[matmul][ops]") {
  const Scope placed(cpu);
  with_and_without_library([] {
    const Array x = whole({40, 30}, float32, 3), y = whole({30, 40}, float32, 4);
    const Array computed = x * 2.0F;
    evaluate(computed);
    const std::pair<const char*, Array> operands[] = {
        {"the array itself", x},
        {"a transposed view", matrix_transpose(y)},
        {"rows from the middle", concat({y, y})(slice(20, 60), slice(0, 30))},
        {"every second row", concat({x, x})(slice(none, none, 2))},
        {"rows backwards", flip(x, 0)},
        {"another shape of memory", reshape(whole({1200}, float32, 3), {40, 30})},
        {"a computed array", computed},
        {"a part of a computed array that starts later", concat({computed, computed})(slice(40, 80))},
        {"a value still to be computed", x + 1.0F},
        {"one row for all", broadcast_to(x(0), {40, 30})},
        {"one number for all", full({40, 30}, 3.0F)},
        {"coordinates", astype(reshape(arange(1200), {40, 30}), float32)},
        {"an updated array", with_set(x, {slice(3, 5), 0}, 9.0F)},
        {"another product", matmul(x, whole({30, 30}, float32, 5))},
    };
    for (const auto& [what, a] : operands) {
      INFO(what);
      const std::vector<double> expected = product(a, y);
      CHECK(doubles(matmul(a, y)) == expected);
      // And on the right: (y^T a^T) is its transpose.
      CHECK(doubles(matrix_transpose(matmul(matrix_transpose(y), matrix_transpose(a)))) == expected);
    }
  });
}

TEST_CASE("matmul: a borrowed array with strides is read through them", "[matmul][ops]") {
  const Scope placed(cpu);
  std::vector<float> memory(200);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 11);
  const Array a = borrow(memory.data() + 3, {5, 6}, {12, 2}), b = whole({6, 7}, float32, 1);
  with_and_without_library([&] { CHECK(doubles(matmul(a, b)) == product(a, b)); });
}

TEST_CASE("matmul: work before and after it is one kernel each", "[matmul][fusion]") {
  const Scope placed(cpu);
  REQUIRE(runtime::cpu_blas_missing(float32).empty());
  const Array w = whole({40, 30}, float32, 1), x = whole({30, 20}, float32, 2), bias = whole({40, 1}, float32, 3);
  const Array hidden = sigmoid(matmul(w * 0.5F + 1.0F, x) + bias);
  const Array total = sum(hidden, 1);
  const Plan expected = plan(hidden, total);
  CHECK(expected.str().find("matmul f32 (1, 40, 30) (1, 30, 20)") != std::string::npos);
  const Report report = evaluate(hidden, total);
  CHECK(report.counters().launches == 3);
  CHECK(report.counters().launches == expected.counters().launches);
  CHECK(report.counters().kernels == 2);
  CHECK(report.counters().bytes_read == expected.counters().bytes_read);
  // w; the scaled w and x; the product, the bias.
  CHECK(report.counters().bytes_read == 4 * (40 * 30 + (40 * 30 + 30 * 20) + (40 * 20 + 40)));
  CHECK(report.counters().bytes_written == 4 * (40 * 30 + 40 * 20 + (40 * 20 + 40)));
  REQUIRE(report.unfused().size() == 2);
  for (const Unfused& edge : report.unfused()) CHECK(edge.reason == "library");
}

TEST_CASE("matmul: what a thread has asked of OpenMP does not change the bits", "[matmul][values]") {
  // Both are in the library that gcc's programs share with oneDNN; where it is not, there is nothing to ask.
  void* const openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (openmp == nullptr) return;
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  const auto parallel =
      reinterpret_cast<void (*)(void (*)(void*), void*, unsigned, unsigned)>(dlsym(openmp, "GOMP_parallel"));
  REQUIRE((set_threads != nullptr && parallel != nullptr));
  const Scope placed(cpu);
  std::vector<float> values(64 * 3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) * 0.7F);
  const Array a = asarray(std::vector<float>(values.begin(), values.begin() + 6000), {2, 3000}),
              b = asarray(values, {3000, 64});
  std::vector<float> expected, asked;
  std::thread([&] { expected = matmul(a, b).to_vector<float>(); }).join();
  std::thread([&] {
    set_threads(8);
    asked = matmul(a, b).to_vector<float>();
  }).join();
  struct Region {
    Array product;
    std::vector<float> result;
    std::once_flag once;
  } region{matmul(a, b), {}, {}};
  parallel(
      [](void* data) {
        auto& here = *static_cast<Region*>(data);
        std::call_once(here.once, [&] { here.result = here.product.to_vector<float>(); });
      },
      &region, 2, 0);
  CHECK(asked == expected);
  CHECK(region.result == expected);
}

TEST_CASE("matmul: a product's pieces, by rows, columns and matrices, are those of any number of threads",
          "[matmul][values]") {
  const Scope placed(cpu);
  const auto bits = [](const Array& a, const Array& b, const char* threads) {
    const test::Setting setting("TARRY_NUM_THREADS", threads);
    return doubles(matmul(a, b));
  };
  for (const auto& [left, right] : std::initializer_list<std::pair<Shape, Shape>>{{{700, 70}, {70, 90}},
                                                                                  {{40, 70}, {70, 1500}},
                                                                                  {{33, 5, 6}, {33, 6, 7}},
                                                                                  {{300, 64, 32}, {1, 32, 65}},
                                                                                  {{900, 8, 9}, {900, 9, 11}},
                                                                                  {{1, 7, 13}, {5000, 13, 6}}}) {
    for (const Dtype dtype : {float32, float64}) {
      const Array a = whole(left, dtype, 1), b = whole(right, dtype, 2);
      const std::vector<double> alone = bits(a, b, "1"), shared = bits(a, b, "5");
      CHECK(alone == shared);
      CHECK(alone == doubles(sum(expand_dims(a, -1) * expand_dims(b, -3), -2)));  // exact: small integers
    }
  }
}

TEST_CASE("matmul: what does not meet it is fused across it, and no kernel waits for itself", "[matmul][fusion]") {
  const Scope placed(cpu);
  const Array x = whole({12, 12}, float32, 1), w = whole({12, 12}, float32, 2);
  const Array y = x * 2.0F, z = matmul(y, w), both = y + z, apart = exp(x * 0.01F) + z;
  const Report report = evaluate(both, apart);
  CHECK(report.counters().launches == 3);
  std::vector<double> expected = product(x, w);
  const std::vector<double> of_x = doubles(x);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + 2 * of_x[i];
  CHECK(doubles(both) == expected);
}

TEST_CASE("matmul: a chain of products with work between them is right whatever is switched off", "[matmul][fusion]") {
  const Scope placed(cpu);
  const auto chain = [] {
    Array x = whole({20, 24}, float32, 1);
    for (int layer = 0; layer < 4; ++layer) {
      x = matmul(x, whole({24, 24}, float32, layer)) * 0.0625F + broadcast_to(whole({24}, float32, layer), {20, 24});
      x = floor(x);
    }
    return doubles(x);
  };
  const std::vector<double> expected = chain();
  for (const char* off : {"fusion", "reuse", "library", "simplify,cse", "fusion,library", "plan_cache", "compile"}) {
    INFO(off);
    const test::ScopedSwitch disabled("TARRY_DISABLE", off);
    CHECK(chain() == expected);
  }
}

TEST_CASE("matmul: floats are near the product in double precision, and 16-bit floats round once", "[matmul][values]") {
  const Scope placed(cpu);
  const auto wavy = [](const Shape& shape, float step) {
    std::vector<float> values(static_cast<std::size_t>(count_of(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i) * step);
    return asarray(values, shape);
  };
  with_and_without_library([&] {
    const std::pair<Dtype, double> tolerances[] = {
        {float16, 0x1p-10}, {bfloat16, 0x1p-7}, {float32, 0x1p-18}, {float64, 0x1p-46}};
    for (const auto& [dtype, tolerance] : tolerances) {
      const Array a = astype(wavy({50, 301}, 0.7F), dtype), b = astype(wavy({301, 60}, 1.3F), dtype);
      const std::vector<double> got = doubles(matmul(a, b)), want = product(a, b);
      double largest = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        largest = std::max(largest, std::abs(got[i] - want[i]) / (1 + std::abs(want[i])));
      INFO(name(dtype) << " " << largest);
      CHECK(largest < tolerance);
    }
  });
}

TEST_CASE("matmul: two runs give the same bits", "[matmul][values]") {
  const Scope placed(cpu);
  const Array a = sin(astype(reshape(arange(200 * 300), {200, 300}), float32)),
              b = cos(astype(reshape(arange(300 * 100), {300, 100}), float32));
  const std::vector<float> first = matmul(a, b).to_vector<float>();
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> again = matmul(a, b).to_vector<float>();
    REQUIRE(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("matmul: wrong operands are named", "[matmul][errors]") {
  const Array a = zeros({3, 4});
  CHECK_THROWS_WITH(
      matmul(a, zeros({5, 6})),
      Catch::Contains("[matmul] float32 (3, 4) and float32 (5, 6) do not multiply: rows of 4 meet columns of 5"));
  CHECK_THROWS_WITH(matmul(a, zeros({})), Catch::Contains("float32 (3, 4) and float32 ()"));
  CHECK_THROWS_WITH(matmul(zeros({2, 3, 4}), zeros({5, 4, 6})),
                    Catch::Contains("in front of the matrices do not broadcast"));
  CHECK_THROWS_WITH(matmul(zeros({2, 2}, bool_), zeros({2, 2}, bool_)), Catch::Contains("not bool"));
}
