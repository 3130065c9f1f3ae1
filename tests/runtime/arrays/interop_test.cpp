// Arrays and memory of other code: DLPack both ways, device pointers, CUDA array views, streams and devices.
#include <tarry/dlpack.h>
#include <tarry/interop.h>

#include <algorithm>
#include <array>
#include <memory>

#include "graph/record/record.h"
#include "support/fault.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_gpu.h"

namespace ta = tarry;
namespace dl = ta::dlpack;
using Values = std::vector<float>;
using Catch::Contains;

namespace {

/// A tensor as a library that knows DLPack hands it over.
template <class Managed>
struct Foreign {
  Values values;
  std::vector<std::int64_t> shape, strides;
  Managed managed;
  int deleted = 0;

  Foreign(Values v, std::vector<std::int64_t> s, std::vector<std::int64_t> t = {})
      : values(std::move(v)), shape(std::move(s)), strides(std::move(t)) {
    dl::Tensor& tensor = managed.dl_tensor;
    tensor.data = values.data();
    tensor.ndim = static_cast<std::int32_t>(shape.size());
    tensor.dtype = {2, 32, 1};
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
};

/// As <dlpack/dlpack.h> spells it: another type of the same layout.
struct DLManagedTensorVersioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  struct {
    void* data;
    struct {
      std::int32_t device_type, device_id;
    } device;
    std::int32_t ndim;
    struct {
      std::uint8_t code, bits;
      std::uint16_t lanes;
    } dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
  } dl_tensor;
};

/// Code that has memory of 4,096 bytes on the fake GPU and a stream of its own.
struct Maker {
  ta::test::FakeGpu gpu;
  std::shared_ptr<ta::graph::Buffer> memory = ta::runtime::backend(ta::test::kFakeGpu).allocate(4096);
  ta::runtime::cuda::Stream stream = nullptr;

  Maker() {
    (void)gpu.driver().api.ctx_push_current(reinterpret_cast<ta::runtime::cuda::Context>(&gpu.driver()));
    REQUIRE(gpu.driver().api.stream_create(&stream, 0) == ta::test::FakeDriver::Result::Success);
  }
  ~Maker() {
    (void)gpu.driver().api.stream_destroy(stream);
    ta::runtime::cuda::Context old = nullptr;
    (void)gpu.driver().api.ctx_pop_current(&old);
  }
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
};

int releases = 0;
void count_release(void*) { ++releases; }

}  // namespace

TEMPLATE_TEST_CASE("dlpack: an imported tensor is read where it lies and given back once", "[interop]",
                   dl::ManagedTensor, dl::ManagedTensorVersioned) {
  Foreign<TestType> rows({1, 2, 3, 4, 5, 6}, {2, 3}), columns({1, 2, 3, 4, 5, 6}, {3, 2}, {1, 3}),
      back({1, 2, 3, 4}, {3}, {-1});
  back.managed.dl_tensor.byte_offset = 12;
  {
    const ta::Array x = ta::from_dlpack(&rows.managed), t = ta::from_dlpack(&columns.managed),
                    b = ta::from_dlpack(&back.managed);
    CHECK(x.shape() == ta::Shape{2, 3});
    CHECK(x.device() == ta::cpu);
    CHECK(x.host<float>().data() == rows.values.data());
    CHECK(t.to_vector<float>() == Values{1, 4, 2, 5, 3, 6});
    CHECK(b.to_vector<float>() == Values{4, 3, 2});
    ta::Array y = x;
    y = y * 2.0f;
    CHECK(y.to_vector<float>() == Values{2, 4, 6, 8, 10, 12});
    CHECK(rows.values == Values{1, 2, 3, 4, 5, 6});  // never written
    CHECK((rows.deleted == 0 && columns.deleted == 0 && back.deleted == 0));
  }
  CHECK((rows.deleted == 1 && columns.deleted == 1 && back.deleted == 1));
}

TEST_CASE("dlpack: work that was recorded keeps the tensor", "[interop]") {
  const ta::Scope on_cpu(ta::cpu);
  Foreign<dl::ManagedTensorVersioned> foreign({1, 2}, {2});
  ta::Array y = ta::from_dlpack(&foreign.managed) + 1.0f;
  CHECK(foreign.deleted == 0);
  CHECK(y.to_vector<float>() == Values{2, 3});
  CHECK(foreign.deleted == 1);
}

TEST_CASE("dlpack: an exported tensor is the array's own memory, read-only, and keeps it", "[interop]") {
  const ta::Scope on_cpu(ta::cpu);
  ta::Array x = ta::asarray(Values{1, 2, 3, 4, 5, 6}, {2, 3});
  ta::Array y = x + 1.0f;
  dl::ManagedTensorVersioned* const t = ta::to_dlpack(y);
  CHECK((t->version.major == 1 && t->flags == dl::kReadOnly));
  CHECK((t->dl_tensor.ndim == 2 && t->dl_tensor.shape[0] == 2 && t->dl_tensor.shape[1] == 3));
  CHECK((t->dl_tensor.strides[0] == 3 && t->dl_tensor.strides[1] == 1));
  CHECK((t->dl_tensor.dtype.code == 2 && t->dl_tensor.dtype.bits == 32 && t->dl_tensor.dtype.lanes == 1));
  CHECK((t->dl_tensor.device.type == 1 && t->dl_tensor.device.index == 0));
  CHECK(t->dl_tensor.data == y.host<float>().data());
  y = y * 2.0f;  // not in the memory that the tensor shows
  ta::evaluate(y);
  const auto* const seen = static_cast<const float*>(t->dl_tensor.data);
  CHECK(Values(seen, seen + 6) == Values{2, 3, 4, 5, 6, 7});
  y = ta::Array();
  x = ta::Array();
  CHECK(Values(seen, seen + 6) == Values{2, 3, 4, 5, 6, 7});
  t->deleter(t);
}

TEST_CASE("dlpack: out and in again is the same memory, in either version and in a program's own declaration",
          "[interop]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = ta::asarray(Values{1, 2, 3});
  const ta::Array a = ta::from_dlpack(ta::to_dlpack(x)), b = ta::from_dlpack(ta::to_dlpack<dl::ManagedTensor>(x)),
                  c = ta::from_dlpack(ta::to_dlpack<DLManagedTensorVersioned>(x));
  for (const ta::Array* y : {&a, &b, &c}) CHECK(y->host<float>().data() == x.host<float>().data());
  const auto round = [](const ta::Array& y) { return ta::from_dlpack(ta::to_dlpack(y)); };
  for (const ta::Dtype d : {ta::bool_, ta::int8, ta::int16, ta::int32, ta::int64, ta::uint8, ta::uint16, ta::uint32,
                            ta::uint64, ta::float16, ta::bfloat16, ta::float32, ta::float64}) {
    const ta::Array y = ta::astype(x, d);
    CHECK(round(y).dtype() == d);
    CHECK(ta::all(round(y) == y).item<bool>());
  }
  CHECK(round(ta::zeros({0, 3})).shape() == ta::Shape{0, 3});
  CHECK(round(ta::asarray(2.5f)).item<float>() == 2.5f);
}

TEST_CASE("dlpack: what cannot be imported stays the caller's", "[interop]") {
  const auto refused = [](const char* why, auto&& change) {
    Foreign<dl::ManagedTensorVersioned> f({1, 2, 3, 4}, {2, 2}, {2, 1});
    change(f.managed);
    CHECK_THROWS_WITH(ta::from_dlpack(&f.managed), Contains("[from_dlpack]") && Contains(why));
    CHECK(f.deleted == 0);
  };
  refused("DLPack 2.0", [](auto& m) { m.version.major = 2; });
  refused("complex64", [](auto& m) { m.dl_tensor.dtype = {5, 64, 1}; });
  refused("float128", [](auto& m) { m.dl_tensor.dtype.bits = 128; });
  refused("4 lanes", [](auto& m) { m.dl_tensor.dtype.lanes = 4; });
  refused("type 10", [](auto& m) { m.dl_tensor.device.type = 10; });
  refused("not aligned", [](auto& m) { m.dl_tensor.byte_offset = 2; });
  refused("without a shape", [](auto& m) { m.dl_tensor.shape = nullptr; });
  refused("no memory", [](auto& m) { m.dl_tensor.data = nullptr; });
  refused("negative extent", [](auto& m) { m.dl_tensor.shape[0] = -1; });
  refused("2^63", [](auto& m) { m.dl_tensor.strides[0] = INT64_MAX; });
  CHECK_THROWS_WITH(ta::from_dlpack(static_cast<dl::ManagedTensor*>(nullptr)), Contains("no tensor"));
}

TEST_CASE("interop: adopted memory is read in place and given back once, also where strides are negative",
          "[interop]") {
  Values memory{1, 2, 3, 4, 5, 6};
  releases = 0;
  {
    ta::AdoptOptions options;
    options.deleter = count_release;
    const ta::Array x = ta::from_device_pointer(memory.data(), {2, 3}, ta::cpu, options);
    CHECK(x.host<float>().data() == memory.data());
    options.strides = {{-1}};
    const ta::Array back = ta::from_device_pointer(memory.data() + 5, {6}, ta::cpu, options);
    CHECK(back.to_vector<float>() == Values{6, 5, 4, 3, 2, 1});
    CHECK((ta::reshape(x, {6}) + back).to_vector<float>() == Values(6, 7.0f));
    CHECK(releases == 0);
  }
  CHECK(releases == 2);
  CHECK_THROWS_WITH(ta::from_device_pointer(memory.data(), {6}, ta::Device{}), Contains("no device"));
}

TEST_CASE("interop: on a GPU a tensor is read after its maker's stream, and its maker waits for the readers",
          "[interop][cuda]") {
  TARRY_REQUIRE_NVRTC();
  Maker maker;
  auto& [gpu, memory, stream] = maker;
  auto& api = gpu.driver().api;
  auto& gpu_backend = ta::runtime::backend(ta::test::kFakeGpu);
  const Values made(1024, 3.0f);
  (void)api.memcpy_htod_async(reinterpret_cast<std::uintptr_t>(memory->data), made.data(), 4096,
                              stream);  // runs when somebody waits
  Foreign<dl::ManagedTensorVersioned> foreign({}, {32, 32}, {1, 32});
  foreign.managed.dl_tensor.data = memory->data;
  foreign.managed.dl_tensor.device = {2, ta::test::kFakeGpu.index};
  {
    const ta::Array x = ta::from_dlpack(&foreign.managed, {.stream = stream});
    CHECK(x.device() == ta::test::kFakeGpu);
    ta::AdoptOptions options;
    options.stream = stream;
    const ta::Array flat =
        ta::from_device_pointer(static_cast<const float*>(memory->data), {1024}, ta::test::kFakeGpu, options);
    CHECK(flat.to_vector<float>() == made);
    ta::evaluate(x + 1.0f);
    CHECK(foreign.deleted == 0);
  }
  CHECK(foreign.deleted == 1);
  const ta::Array flat = ta::from_device_pointer(static_cast<const float*>(memory->data), {1024}, ta::test::kFakeGpu);
  const ta::CudaArrayInterface view = ta::cuda_array_interface(flat);
  CHECK((view.data == memory->data && view.typestr == "<f4" && view.shape == std::vector<std::int64_t>{1024} &&
         view.read_only));
  CHECK(view.stream == gpu_backend.stream());
  const ta::Array again = ta::from_cuda_array_interface(view, ta::test::kFakeGpu);
  CHECK(again.to_vector<float>() == made);
  dl::ManagedTensorVersioned* const out = ta::to_dlpack(again, {.stream = stream});
  CHECK((out->dl_tensor.device.type == 2 && out->dl_tensor.device.index == ta::test::kFakeGpu.index &&
         out->dl_tensor.data == memory->data));
  out->deleter(out);
  (void)api.stream_synchronize(stream);

  ta::use_stream(ta::test::kFakeGpu, stream);
  CHECK(gpu_backend.stream() == stream);
  const int launched = gpu.driver().counts["launch_kernel"];
  ta::evaluate(again * 2.0f);
  CHECK(gpu.driver().counts["launch_kernel"] == launched + 1);
  CHECK(again.to_vector<float>() == made);
  ta::use_stream(ta::test::kFakeGpu, nullptr);
  CHECK(gpu_backend.stream() != stream);
}

TEST_CASE("interop: whichever driver call fails, a tensor belongs to its maker or is given back once",
          "[interop][cuda][fault]") {
  TARRY_REQUIRE_NVRTC();
  Maker maker;
  auto& [gpu, memory, stream] = maker;
  int failures = 0;
  for (std::uint64_t k = 1; k < 500; ++k) {
    Foreign<dl::ManagedTensorVersioned> foreign({}, {32, 32});
    foreign.managed.dl_tensor.data = memory->data;
    foreign.managed.dl_tensor.device = {2, ta::test::kFakeGpu.index};
    bool imported = false, failed = false;
    dl::ManagedTensorVersioned* out = nullptr;
    ta::support::fault::arm(ta::support::fault::Site::Driver, k);
    try {
      const ta::Array x = ta::from_dlpack(&foreign.managed, {.stream = stream});
      imported = true;
      const ta::Array y = x + 1.0f;
      ta::evaluate(y);
      ta::use_stream(ta::test::kFakeGpu, stream);
      out = ta::to_dlpack(y, {.stream = stream});
      ta::use_stream(ta::test::kFakeGpu, nullptr);
    } catch (const ta::Error&) {
      failed = true;
    }
    const std::uint64_t calls = ta::support::fault::disarm();
    INFO("call " << k << " of " << calls);
    failures += failed ? 1 : 0;
    if (out) out->deleter(out);
    ta::use_stream(ta::test::kFakeGpu, nullptr);
    ta::synchronize();
    CHECK(foreign.deleted == (imported ? 1 : 0));
    const ta::Array again =
        ta::from_device_pointer(static_cast<const float*>(memory->data), {1024}, ta::test::kFakeGpu);
    CHECK_NOTHROW(ta::evaluate(again + 1.0f));
    if (calls < k) break;
  }
  CHECK(failures >= 3);
}

TEST_CASE("interop: to_device moves when it is needed, once, and mixing devices names both", "[interop][cuda]") {
  TARRY_REQUIRE_NVRTC();
  ta::test::FakeGpu gpu;
  const ta::Array x = ta::asarray(Values(100, 1.0f));
  const ta::Array there = ta::to_device(x, ta::test::kFakeGpu), here = ta::to_device(x, ta::cpu);
  CHECK(there.device() == ta::test::kFakeGpu);
  CHECK(here.device() == ta::cpu);
  CHECK(gpu.driver().counts["memcpy_htod_async"] == 0);
  CHECK(ta::evaluate(there + 1.0f).counters().uploads == 1);
  CHECK(ta::evaluate(there * 3.0f).counters().uploads == 0);
  CHECK_THROWS_WITH(there + here, Contains("cuda:250") && Contains("cpu") && Contains("[add]"));
  CHECK((ta::to_device(there, ta::cpu) + here).to_vector<float>() == Values(100, 2.0f));
  const ta::Array lazy = ta::to_device(ta::asarray(Values{1, 2}) * 2.0f, ta::cpu);
  CHECK_FALSE(lazy.is_evaluated());
  CHECK(lazy.to_vector<float>() == Values{2, 4});
  CHECK(ta::to_device(here, ta::cpu).device() == ta::cpu);
  CHECK((ta::to_device(there, ta::Device{}) + here).device() == ta::cpu);
  const ta::CudaArrayInterface view{.shape = {2, 2}, .strides = {8, 3}, .typestr = "<f4", .data = &gpu};
  CHECK_THROWS_WITH(ta::from_cuda_array_interface(view, ta::test::kFakeGpu), Contains("3 bytes"));
  CHECK_THROWS_WITH(
      ta::from_cuda_array_interface({.shape = {2}, .strides = {}, .typestr = "<c8", .data = &gpu}, ta::test::kFakeGpu),
      Contains("<c8"));
  CHECK_THROWS_WITH(ta::use_stream(ta::cpu, nullptr), Contains("cpu is no GPU"));
}
