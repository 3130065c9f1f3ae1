// The kernel of our own for products of float32: which products have it, how near it comes, and what is not finite.
#include <tarry/tarry.h>
#include <tarry/warm.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/matmul.h"
#include "runtime/device/compilers/nvrtc.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/tile_kernels.h"

namespace ta = tarry;
using ta::codegen::MatmulShape;
using ta::test::Setting;

namespace {

std::vector<float> noise(std::int64_t count, float low, float high, unsigned seed) {
  std::vector<float> v(static_cast<std::size_t>(count));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(low, high);
  for (float& x : v) x = between(random);
  return v;
}

/// Matrices of (count, m, k) and (1 or count, k, n), and their product on the GPU.
struct Product {
  std::int64_t count, m, k, n, b_count;
  std::vector<float> a, b, c;

  Product(const MatmulShape& s, float low, float high)
      : count(s.a_count),
        m(s.m),
        k(s.k),
        n(s.n),
        b_count(s.b_count),
        a(noise(count * m * k, low, high, 1)),
        b(noise(b_count * k * n, low, high, 2)) {}

  void compute() {
    const ta::Scope on_gpu(ta::cuda(0));
    const ta::Array x = ta::asarray(a, {count, m, k}), y = ta::asarray(b, {b_count, k, n});
    c = ta::matmul(x, y).to_vector<float>();
  }
  [[nodiscard]] float left(std::int64_t s, std::int64_t i, std::int64_t l) const {
    return a[static_cast<std::size_t>((s * m + i) * k + l)];
  }
  [[nodiscard]] float right(std::int64_t s, std::int64_t l, std::int64_t j) const {
    return b[static_cast<std::size_t>(((b_count == 1 ? 0 : s) * k + l) * n + j)];
  }
  [[nodiscard]] float result(std::int64_t s, std::int64_t i, std::int64_t j) const {
    return c[static_cast<std::size_t>((s * m + i) * n + j)];
  }
};

/// Root mean squares of errors of some results: of the kernel, and of a sum in float32 one by one. The largest of the
/// kernel's over the sum of magnitudes.
struct Errors {
  double kernel = 0, serial = 0, largest = 0;
};
Errors errors_of(const Product& p) {
  Errors e;
  constexpr std::int64_t kSamples = 2000;
  for (std::int64_t at = 0; at < kSamples; ++at) {
    const std::int64_t place = at < 64 ? at : (at * 7919 + 13) % (p.count * p.m * p.n), s = place / (p.m * p.n),
                       i = place / p.n % p.m, j = place % p.n;
    double exact = 0, magnitude = 0;
    float serial = 0;
    for (std::int64_t l = 0; l < p.k; ++l) {
      const double term = static_cast<double>(p.left(s, i, l)) * p.right(s, l, j);
      exact += term;
      magnitude += std::abs(term);
      serial = std::fmaf(p.left(s, i, l), p.right(s, l, j), serial);
    }
    const double error = p.result(s, i, j) - exact;
    e.kernel += error * error / kSamples;
    e.serial += (serial - exact) * (serial - exact) / kSamples;
    e.largest = std::max(e.largest, std::abs(error) / magnitude);
  }
  e.kernel = std::sqrt(e.kernel);
  e.serial = std::sqrt(e.serial);
  return e;
}

}  // namespace

TEST_CASE("matmul kernel: products whose tiles keep a GPU busy have it", "[matmul]") {
  const auto has = [](const MatmulShape& s, const char* target = "sm_90") {
    return ta::codegen::has_matmul_kernel(s, ta::test::target(target));
  };
  CHECK(has({1, 1, 4096, 2048, 256}));
  CHECK(has({1, 1, 1010, 4000, 1020}));
  CHECK(has({1, 1, 8192, 8192, 8192}));
  CHECK(has({8, 1, 512, 2000, 508}));
  for (const char* target : {"sm_75", "sm_80", "x86-64-v3"}) CHECK_FALSE(has({1, 1, 4096, 2048, 256}, target));
  CHECK_FALSE(has({1, 1, 1010, 4000, 1021}));   // rows that are no whole 16 bytes
  CHECK_FALSE(has({1, 1, 768, 4096, 768}));     // 36 large tiles, 144 small ones
  CHECK_FALSE(has({1, 1, 8192, 64, 8192}));     // hardly a sum
  CHECK_FALSE(has({1, 1, 100'000, 2048, 12}));  // most of a tile would be empty
  CHECK(ta::codegen::matmul_geometry({1, 1, 4096, 2048, 256}, *ta::graph::find_target("sm_90")).grid() == 64 * 4);
  CHECK(ta::codegen::matmul_geometry({8, 1, 512, 2000, 508}, *ta::graph::find_target("sm_90")).grid() == 8 * 4 * 4);
}

TEST_CASE("matmul kernel: both tiles compile without spills", "[matmul]") {
  TARRY_REQUIRE_NVRTC();
  const ta::graph::Target& target = ta::test::target("sm_90");
  for (const auto& [shape, registers] :
       {std::pair(MatmulShape{1, 1, 4096, 2048, 256}, 168), {MatmulShape{1, 1, 8192, 8192, 8192}, 255}}) {
    const ta::codegen::KernelSource s = ta::codegen::render_matmul(shape, target);
    CHECK(s.text.find('$') == std::string::npos);
    for (const ta::runtime::KernelResources& r :
         ta::runtime::nvrtc_compile(s.text, target, ta::graph::Mode::Strict).resources) {
      INFO(r.entry << ": " << r.registers << " registers");
      CHECK(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes == 0);
      CHECK(r.registers <= registers);
    }
  }
}

TEST_CASE("matmul kernel: what was recorded on a CPU is warmed for GPUs, as it was switched", "[matmul][warm]") {
  TARRY_REQUIRE_NVRTC();
  const ta::support::ScopedTemporaryDirectory directory;
  const auto kernels_of_run = [&](const std::string& name) {
    const std::string manifest = (directory.path() / name).string();
    {
      const ta::Scope on_cpu(ta::cpu);
      const ta::Recording recording(manifest);
      ta::evaluate(ta::matmul(ta::asarray(noise(1024 * 1024, -1, 1, 1), {1024, 1024}),
                              ta::asarray(noise(1024 * 1024, -1, 1, 2), {1024, 1024})));
    }
    ta::WarmOptions options;
    options.targets = {"sm_90"};
    options.out = (directory.path() / (name + ".out")).string();
    const ta::WarmReport report = ta::warm(std::vector{manifest}, options);
    CHECK(report.failures.empty());
    std::set<std::string> names;
    for (const auto& file : std::filesystem::recursive_directory_iterator(options.out)) {
      const auto text = file.is_regular_file() ? ta::support::read_file(file.path()) : std::nullopt;
      const auto has = [&](const char* entry) { return text->find(entry) != std::string::npos; };
      if (text) names.insert(has("matmul_f32_tiles") ? "matmul" : has("multiply_sum_f32") ? "sum" : "other");
    }
    return names;
  };
  CHECK(kernels_of_run("as_it_is") == std::set<std::string>{"matmul"});
  {
    const Setting off("TARRY_DISABLE", "matmul");
    CHECK(kernels_of_run("by_library").empty());
  }
  const Setting off("TARRY_DISABLE", "library");
  CHECK(kernels_of_run("as_a_sum") == std::set<std::string>{"sum"});
}

TEST_CASE("matmul kernel: its errors are those of float32, at every shape", "[matmul][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const MatmulShape& s : {MatmulShape{1, 1, 4096, 2048, 256},
                               {1, 1, 1010, 4000, 1020},
                               {1, 1, 2040, 1000, 2044},
                               {8, 8, 512, 2000, 508},
                               {8, 1, 509, 2004, 512}}) {
    INFO(s.a_count << " x (" << s.m << ", " << s.k << ") (" << s.k << ", " << s.n << ")");
    CHECK(ta::codegen::has_matmul_kernel(s, ta::test::target("sm_90")));
    for (const auto& [low, high] : {std::pair(-1.0f, 1.0f), {0.1f, 1.0f}, {-3e-18f, 4e-18f}, {1e15f, 1e17f}}) {
      INFO("from " << low << " to " << high);
      Product p(s, low, high);
      p.compute();
      const Errors e = errors_of(p);
      INFO("root mean square " << e.kernel << ", of a serial sum " << e.serial << ", largest " << e.largest);
      CHECK(e.kernel <= 1.5 * e.serial);
      CHECK(e.largest <= 0x1p-20);
    }
  }
}

// Small enough to run under a sanitizer of GPU code too.
TEST_CASE("matmul kernel: the shortest sums that have it, in both tiles", "[matmul][cuda]") {
  TARRY_REQUIRE_CUDA();
  for (const auto& [s, threads] : {std::pair(MatmulShape{1, 1, 1408, 300, 1536}, 256), {{1, 1, 704, 604, 1536}, 128}}) {
    INFO("(" << s.m << ", " << s.k << ") (" << s.k << ", " << s.n << ")");
    REQUIRE(ta::codegen::has_matmul_kernel(s, ta::test::target("sm_90")));
    CHECK(ta::codegen::render_matmul(s, ta::test::target("sm_90")).threads == threads);
    Product p(s, -1, 1);
    p.compute();
    const Errors e = errors_of(p);
    CHECK(e.kernel <= 1.5 * e.serial);
    CHECK(e.largest <= 0x1p-20);
    const std::vector<float> first = p.c;
    p.compute();
    CHECK(std::memcmp(first.data(), p.c.data(), first.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("matmul kernel: infinities, NaN and the largest numbers are those of float32", "[matmul][cuda]") {
  TARRY_REQUIRE_CUDA();
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN(),
              most = std::numeric_limits<float>::max();
  Product p({1, 1, 1010, 4000, 1020}, -1, 1);
  const auto set_left = [&](std::int64_t i, std::int64_t l, float x) {
    p.a[static_cast<std::size_t>(i * p.k + l)] = x;
  };
  set_left(3, 17, inf);
  set_left(4, 0, -inf);
  set_left(5, 99, nan);
  set_left(6, 5, most);
  set_left(7, 5, inf);
  set_left(7, 6, inf);
  float hidden;  // a NaN whose upper bits alone are an infinity
  const std::uint32_t bits = 0x7f800001u;
  std::memcpy(&hidden, &bits, sizeof hidden);
  set_left(8, 50, hidden);
  for (std::int64_t l = 0; l < p.k; ++l) set_left(9, l, most);  // overflows on the way, or not
  for (std::int64_t l = 0; l < p.k; ++l) p.b[static_cast<std::size_t>(l * p.n + 11)] = 0;
  p.compute();
  int wrong = 0;
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float serial = 0;
      for (std::int64_t l = 0; l < p.k; ++l) serial = std::fmaf(p.left(0, i, l), p.right(0, l, j), serial);
      const float found = p.result(0, i, j);
      if (std::isfinite(found) && std::isfinite(serial)) continue;
      const bool same = std::isnan(serial) ? std::isnan(found) : found == serial;
      if (std::isfinite(found) && i == 9) continue;  // sums in another order may stay within range
      wrong += !same;
    }
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(p.result(0, 5, 11)));
  CHECK(std::isnan(p.result(0, 3, 11)));
}

TEST_CASE("matmul kernel: one launch, the same bits at every run, and near the library's", "[matmul][cuda]") {
  TARRY_REQUIRE_CUDA();
  Product p({1, 1, 2040, 1000, 2044}, -1, 1);
  p.compute();
  const std::vector<float> first = p.c;
  for (int again = 0; again < 20; ++again) {
    p.compute();
    REQUIRE(std::memcmp(first.data(), p.c.data(), first.size() * sizeof(float)) == 0);
  }
  const ta::Scope on_gpu(ta::cuda(0));
  const ta::Array x = ta::asarray(p.a, {p.m, p.k}), y = ta::asarray(p.b, {p.k, p.n}), product = ta::matmul(x, y);
  CHECK(ta::plan(product).str().find("matmul_f32_tiles") != std::string::npos);
  CHECK(ta::evaluate(product).counters().launches == 1);
  const Setting off("TARRY_DISABLE", "matmul");
  const ta::Array by_library = ta::matmul(x, y);
  CHECK(ta::plan(by_library).str().find("matmul_f32_tiles") == std::string::npos);
  CHECK(ta::allclose(product, by_library, {.rtol = 1e-4, .atol = 1e-4}));
}
