// The CPU device: memory pool, compiler, loading, threads and the caller's floating-point state.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#include <tarry/error.h>
#include <tarry/tarry.h>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/cpu/stream.h"
#include "runtime/device/parallel.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/one_core.h"
#include "tests/kernels/cpu_kernel.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::cpu_device;
using test::CpuKernel;
using test::IrBuilder;

namespace {

struct Switch {
  Switch(const char* n, const std::string& value) : name(n) { support::env::set(name, value); }
  ~Switch() { support::env::set(name, std::nullopt); }
  const char* name;
};

KernelIr copy_times(Op op) {
  IrBuilder b(Schedule::Pointwise, 1);
  const Value x = b.load(float32, "1");
  b.store(b.op(op, float32, {x, x}), "1");
  return b.ir;
}

const KernelArgs& two_vectors(std::int64_t n) {
  static KernelArgs args;
  args = {{n}, 1, {{0, {1}, 0}, {0, {1}, 0}}};
  return args;
}

/// How many different images of kernels this process has mapped: each has an inode of its own.
std::size_t mapped_kernel_files() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> inodes;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, name;
    words >> range >> rights >> offset >> device >> inode >> name;
    if (name.find("tarry_kernels") != std::string::npos) inodes.insert(inode);
  }
  return inodes.size();
}

}  // namespace

TEST_CASE("cpu: freed memory is used again and trim returns it", "[runtime][cpu]") {
  const auto device = runtime::make_cpu_backend();
  void* first = nullptr;
  {
    const auto buffer = device->allocate(10'000'000);
    first = buffer->data;
    REQUIRE(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
    std::memset(first, 1, 10'000'000);
    REQUIRE(device->memory().live >= 10'000'000);
  }
  REQUIRE(device->memory().live == 0);
  REQUIRE(device->memory().cached >= 10'000'000);
  REQUIRE(device->allocate(9'999'000)->data == first);
  REQUIRE(device->memory().allocations == 1);
  REQUIRE(device->memory().requests == 2);
  device->trim();
  REQUIRE(device->memory().cached == 0);
}

TEST_CASE("cpu: a buffer of zero bytes has an address, and a buffer outlives its device", "[runtime][cpu]") {
  auto device = runtime::make_cpu_backend();
  const auto buffer = device->allocate(0);
  REQUIRE(buffer->data != nullptr);
  REQUIRE(buffer->bytes == 0);
  device.reset();
}

TEST_CASE("cpu: memory that cannot be had throws OutOfMemory with a table", "[runtime][cpu]") {
  const auto device = runtime::make_cpu_backend();
  REQUIRE_THROWS_AS(device->allocate(std::numeric_limits<std::size_t>::max()), OutOfMemory);
  support::fault::arm(support::fault::Site::Allocation, 1);
  REQUIRE_THROWS_WITH(device->allocate(1000), Catch::Contains("requested") && Catch::Contains("cached"));
  support::fault::disarm();
  REQUIRE(device->allocate(1000)->bytes == 1000);
  REQUIRE(device->memory().live == 0);
}

TEST_CASE("cpu: a kernel that does not compile names the kept source", "[runtime][cpu]") {
  const support::ScopedTemporaryDirectory directory;
  const Switch dump("TARRY_DUMP_DIR", directory.path().string());
  REQUIRE_THROWS_WITH(runtime::compile_c("this is not C\n", runtime::c_flags(cpu_device().target())),
                      Catch::Contains("error:") && Catch::Contains((directory.path() / "failed_kernel.c").string()));
  REQUIRE(support::read_file(directory.path() / "failed_kernel.c") == "this is not C\n");
}

TEST_CASE("cpu: without a compiler the version is empty and compiling says so", "[runtime][cpu]") {
  const Switch none("TARRY_CC", "/nonexistent/cc");
  REQUIRE(cpu_device().compiler().empty());
  REQUIRE_THROWS_WITH(runtime::compile_c("int x;\n", ""), Catch::Contains("TARRY_CC"));
}

TEST_CASE("cpu: a compiler that cannot be started compiles nothing, and the next call works", "[runtime][cpu]") {
  REQUIRE_FALSE(cpu_device().compiler().empty());
  support::fault::arm(support::fault::Site::Compiler, 1);
  const KernelIr ir = copy_times(Op::Add);
  const KernelSource source = render(ir, cpu_device().target());
  const cache::KernelRequest request{
      {source.text, cpu_device().options(graph::Mode::Strict), cpu_device().target().name, "strict"},
      source.entry,
      &source};
  const cache::KernelRequest* const requests[] = {&request};
  CHECK_FALSE(cpu_device().compile(requests));
  support::fault::disarm();
  CHECK(cpu_device().compile(requests));
}

TEST_CASE("cpu: kernels of one batch share an image and each finds its entry", "[runtime][cpu]") {
  runtime::Backend& device = cpu_device();
  const KernelIr irs[] = {copy_times(Op::Add), copy_times(Op::Multiply), copy_times(Op::Maximum)};
  std::vector<KernelSource> sources;
  for (const KernelIr& ir : irs) sources.push_back(render(ir, device.target()));
  std::vector<cache::KernelRequest> requests;
  for (const KernelSource& s : sources)
    requests.push_back({{s.text, device.options(graph::Mode::Strict), device.target().name, "strict"}, s.entry, &s});
  const cache::KernelRequest* pointers[] = {&requests[0], &requests[1], &requests[2]};
  const cache::Binary binary = device.compile(pointers).value();
  const float expected[] = {6, 9, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto executable = device.load(requests[i], binary);
    float x = 3, y = 0;
    void* buffers[] = {&x, &y};
    const auto& args = two_vectors(1);
    const Geometry g = geometry(irs[i], device.target(), args);
    const auto words = pack_parameters(irs[i], sources[i], args, g, {buffers, {}});
    device.launch({executable.get(), &sources[i], words, g});
    REQUIRE(y == expected[i]);
  }
}

TEST_CASE("cpu: kernels of one batch that come from files of their own are loaded as one library", "[runtime][cpu]") {
  runtime::Backend& device = cpu_device();
  const support::ScopedTemporaryDirectory directory;
  const Switch cache_dir("TARRY_CACHE_DIR", directory.path().string()), cache_path("TARRY_CACHE_PATH", "");
  std::vector<KernelSource> sources;
  for (const Op op : {Op::Add, Op::Multiply, Op::Maximum}) sources.push_back(render(copy_times(op), device.target()));
  std::vector<cache::KernelRequest> requests;
  for (const KernelSource& s : sources)
    requests.push_back({{s.text, device.options(graph::Mode::Strict), device.target().name, "strict"}, s.entry, &s});
  cache::Maker calls;
  calls.compile = [&](std::span<const cache::KernelRequest* const> batch) { return device.compile(batch); };
  calls.load = [&](const cache::KernelRequest& r, const cache::Binary& binary) { return device.load(r, binary); };
  calls.compiler = [&] { return device.compiler(); };
  {
    const test::OneCore one_batch;
    cache::KernelCache().get(requests, calls);
  }
  const std::size_t before = mapped_kernel_files();
  cache::KernelCache cache;
  for (const cache::Loaded& loaded : cache.get(requests, calls)) REQUIRE(loaded.hit == cache::Hit::Disk);
  REQUIRE(mapped_kernel_files() == before + 1);
}

TEST_CASE("cpu: images that are loaded and dropped in turn stay apart", "[runtime][cpu]") {
  const CpuKernel add(copy_times(Op::Add));
  for (const Op op : {Op::Multiply, Op::Subtract, Op::Maximum, Op::Multiply}) {
    const CpuKernel other(copy_times(op));
    float x = 3, y = 0;
    other.run(two_vectors(1), {&x, &y});
    REQUIRE(y == (op == Op::Multiply ? 9.0f : op == Op::Subtract ? 0.0f : 3.0f));
    add.run(two_vectors(1), {&x, &y});
    REQUIRE(y == 6.0f);
  }
}

TEST_CASE("cpu: kernels run in the default floating-point state and leave the caller's as found", "[runtime][cpu]") {
#if defined(__x86_64__)
  const CpuKernel add(copy_times(Op::Add));
  std::vector<float> x(300'000, 1e-40f), y(x.size());
  const unsigned before = __builtin_ia32_stmxcsr();
  const unsigned odd = 0x1f80u | 0x8040u | 0x6000u;  // flush to zero, denormals are zero, round towards zero
  __builtin_ia32_ldmxcsr(odd);
  add.run(two_vectors(static_cast<std::int64_t>(x.size())), {x.data(), y.data()});
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  REQUIRE(after == odd);
  const float twice = x[0] + x[0];
  REQUIRE(twice > 0);
  REQUIRE(std::all_of(y.begin(), y.end(), [&](float v) { return v == twice; }));
#endif
}

#if defined(__x86_64__)
TEST_CASE("cpu: results larger than the caches are stored past them, with the same bits", "[runtime][cpu]") {
  struct Pretend {
    explicit Pretend(std::int64_t bytes) { runtime::set_last_level_cache(bytes); }
    ~Pretend() { runtime::set_last_level_cache(-1); }
  };
  const Scope on(cpu);
  // The program, and how many of its launches write dense results of points; -1: any number.
  const auto check = [](const std::function<std::vector<Array>()>& record, std::int64_t launches) {
    const auto bytes_of = [](std::vector<Array> results) {
      evaluate(std::span<const Array>(results));
      std::vector<std::string> bytes;
      const auto add = [&](const auto& values) {
        bytes.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
      };
      for (const Array& r : results) {
        if (r.dtype() == float64)
          add(r.to_vector<double>());
        else if (r.dtype() == float32)
          add(r.to_vector<float>());
        else
          add(r.to_vector<std::uint8_t>());
      }
      return bytes;
    };
    const std::vector<std::string> plain = bytes_of(record());
    const std::int64_t before = runtime::streamed_launches();
    const Pretend small(1);
    CHECK(bytes_of(record()) == plain);
    if (launches >= 0) CHECK(runtime::streamed_launches() - before == launches);
  };
  for (const std::int64_t n : {1, 63, 64, 511, 512, 513, 5000, 300'007}) {
    const Array x = astype(arange(n), float32) * 0.37f - 40.0f, y = astype(arange(n) % 7, float64);
    evaluate(x, y);
    INFO("n " << n);
    check([&] { return std::vector{x * 2.0f + 1.0f}; }, 1);
    check([&] { return std::vector{x + x, astype(x > 0.0f, uint8), y * 3.0}; }, 1);
  }
  const Array m = reshape(astype(arange(123 * 457), float32), {123, 457});
  evaluate(m);
  check([&] { return std::vector{m(slice(1, -1), slice(2, none)) * 0.5f}; }, 1);
  check([&] { return std::vector{m / sum(m, 1, {.keepdims = true}), sum(m, 1)}; }, 1);
  check([&] { return std::vector{sum(m, 0)}; }, 0);
  check(
      [&] {
        Array a = m + 0.0f;
        a.set({slice(3, 100), slice(0, none, 2)}, 1.0f);
        return std::vector{a};
      },
      1);
  // Tiles of transposed operands, one edge of them 64, at sizes that end in parts of tiles.
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{64, 64}, {300, 257}, {129, 1000}, {65, 511}, {1023, 66}}) {
    const Array a = reshape(astype(arange(rows * columns), float32) * 0.5f, {rows, columns}),
                b = reshape(astype(arange(rows * columns), float32), {columns, rows});
    const Array wide = astype(a, float64),
                deep = reshape(astype(arange(3 * rows * columns), float32), {3, rows, columns});
    evaluate(a, b, wide, deep);
    INFO(rows << " by " << columns);
    check([&] { return std::vector{a + matrix_transpose(b)}; }, 1);
    check([&] { return std::vector{matrix_transpose(a) * 2.0f, astype(b > 3.0f, uint8)}; }, 1);
    check([&] { return std::vector{matrix_transpose(wide) + b}; }, 1);
    check([&] { return std::vector{matrix_transpose(deep) * b}; }, 1);
    check([&] { return std::vector{permute_dims(deep, {2, 1, 0}) + 1.0f}; },
          rows % 16 == 0 ? 1 : 0);  // pixels in whole lines
    check([&] { return std::vector{permute_dims(deep, {1, 2, 0}) + 1.0f}; }, 1);
    check(
        [&] {
          Array c = b * 3.0f;
          evaluate(c);
          c = c + matrix_transpose(a);
          return std::vector{c};
        },
        2);
  }
  // Images: planes of pixels and pixels of planes, whose rows and columns change places or do not.
  for (const std::int64_t values : {2, 3, 8})
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{64, 128}, {128, 192}, {67, 141}}) {
      const Array pixels = reshape(astype(arange(values * height * width) % 251, float32), {height, width, values}),
                  planes = reshape(pixels, {values, height, width});
      const Array small = astype(pixels, uint8), deep = stack({pixels, pixels + 1.0f});
      evaluate(pixels, planes, small, deep);
      INFO(height << " by " << width << " by " << values);
      check([&] { return std::vector{permute_dims(pixels, {2, 0, 1}) + 1.0f}; }, 1);
      check([&] { return std::vector{permute_dims(planes, {1, 2, 0}) + 1.0f}; }, 1);
      check([&] { return std::vector{permute_dims(deep, {0, 3, 1, 2}) + 1.0f}; }, 1);
      const std::int64_t whole_lines = height % 64 == 0 ? 1 : -1;  // else rows share lines: only long ones are streamed
      for (const Axes& order : {Axes{1, 0, 2}, {2, 1, 0}}) {
        check([&] { return std::vector{permute_dims(pixels, order) * 2.0f}; }, whole_lines);
        check([&] { return std::vector{permute_dims(small, order) + ones({}, uint8)}; }, whole_lines);
      }
      check([&] { return std::vector{permute_dims(planes, {2, 1, 0}) * 2.0f}; }, whole_lines);
      check([&] { return std::vector{permute_dims(deep, {2, 1, 0, 3}) * 2.0f}; }, whole_lines);
    }
  for (const char* threads : {"1", "2", "7"}) {
    const Switch count("TARRY_NUM_THREADS", threads);
    check([&] { return std::vector{permute_dims(reshape(m, {457, 41, 3}), {2, 0, 1}) + 1.0f}; }, 1);
    check([&] { return std::vector{m + matrix_transpose(reshape(m, {457, 123}))}; }, 1);
    check(
        [&] {
          Array a = m * 1.0f - 3.0f;
          evaluate(a);
          a = exp(-a) * 2.0f;
          return std::vector{a};
        },
        2);
  }
}
#endif

TEST_CASE("cpu: a parallel loop covers every index once, also from several threads and nested", "[runtime][cpu]") {
  const Switch threads("TARRY_NUM_THREADS", "5");
  REQUIRE(runtime::thread_count() == 5);
  const auto check = [] {
    std::vector<int> seen(10'000);
    runtime::parallel_for(100, 1, [&](std::int64_t lo, std::int64_t hi) {
      for (std::int64_t i = lo; i < hi; ++i)
        runtime::parallel_for(100, 3, [&](std::int64_t a, std::int64_t b) {
          for (std::int64_t k = a; k < b; ++k) ++seen[static_cast<std::size_t>(i * 100 + k)];
        });
    });
    return std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; });
  };
  bool good[3] = {};
  std::vector<std::thread> callers;
  for (bool& g : good) callers.emplace_back([&] { g = check(); });
  for (std::thread& t : callers) t.join();
  REQUIRE((good[0] && good[1] && good[2]));
}
