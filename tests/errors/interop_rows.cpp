// Wrong calls that take memory of other code.
#include <tarry/dlpack.h>
#include <tarry/interop.h>

#include <thread>

#include "support/temporary.h"
#include "tests/errors/rows.h"
#include "tests/helpers/devices.h"

namespace tarry::test {
namespace {

const std::vector<float> kFour{1, 2, 3, 4};

/// A tensor of kFour that is wrong in one way.
template <class Change>
dlpack::ManagedTensorVersioned* tensor(Change change) {
  static std::int64_t extent = 4;
  static dlpack::ManagedTensorVersioned made;
  made = {};
  made.dl_tensor.data = const_cast<float*>(kFour.data());
  made.dl_tensor.ndim = 1;
  made.dl_tensor.dtype = {2, 32, 1};
  made.dl_tensor.shape = &extent;
  change(made);
  return &made;
}

void add_dlpack_rows(ErrorRows& rows) {
  rows.wrong("from_dlpack", {"no tensor"}, [] { (void)from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)); });
  rows.wrong("from_dlpack", {"DLPack 7.1", "1.x"},
             [] { (void)from_dlpack(tensor([](auto& t) { t.version = {7, 1}; })); });
  rows.wrong<InvalidDtype>("from_dlpack", {"2 lanes"},
                           [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.dtype.lanes = 2; })); });
  rows.wrong<InvalidDtype>("from_dlpack", {"complex64"},
                           [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.dtype = {5, 64, 1}; })); });
  rows.wrong<InvalidDtype>("from_dlpack", {"code 9 of 8 bits"},
                           [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.dtype = {9, 8, 1}; })); });
  rows.wrong("from_dlpack", {"device of type 7"},
             [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.device.type = 7; })); });
  rows.wrong("from_dlpack", {"2 dimensions without a shape"},
             [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.ndim = 2, t.dl_tensor.shape = nullptr; })); });
  rows.wrong("from_dlpack", {"not aligned", "4 bytes", "float32"},
             [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.byte_offset = 3; })); });
  rows.wrong("from_dlpack", {"no memory", "(4,)"},
             [] { (void)from_dlpack(tensor([](auto& t) { t.dl_tensor.data = nullptr; })); });
  rows.wrong("to_dlpack", {"undefined"}, [] { (void)to_dlpack(Array()); });
}

void add_pointer_rows(ErrorRows& rows) {
  rows.wrong("from_device_pointer", {"no device"}, [] { (void)from_device_pointer(kFour.data(), {4}, Device{}); });
  rows.wrong("cuda_array_interface", {"cpu is no GPU"}, [] { (void)cuda_array_interface(asarray(kFour)); });
  rows.wrong<InvalidDtype>("cuda_array_interface", {"no type string for bfloat16"}, [] {
    (void)cuda_array_interface(from_device_pointer(static_cast<const BFloat16*>(nullptr), {0}, cuda(250)));
  });
  rows.wrong("from_cuda_array_interface", {"cpu is no GPU"}, [] { (void)from_cuda_array_interface({}, cpu); });
  rows.wrong<InvalidDtype>("from_cuda_array_interface", {"\"<c8\" is not available"}, [] {
    (void)from_cuda_array_interface({.shape = {4}, .strides = {}, .typestr = "<c8"}, cuda(250));
  });
  rows.wrong("from_cuda_array_interface", {"6 bytes", "float32"},
             [] { (void)from_cuda_array_interface({.shape = {4}, .strides = {6}, .typestr = "<f4"}, cuda(250)); });
  rows.wrong("use_stream", {"cpu is no GPU"}, [] { use_stream(cpu, nullptr); });
  rows.at_evaluate<DeviceError>({"cuda:251 cannot be used", "float32 (4,)"},
                                [] { (void)to_device(asarray(kFour), cuda(251)).to_vector<float>(); });
}

void add_borrow_rows(ErrorRows& rows) {
  rows.wrong("touch", {"does not read borrowed memory"}, [] {
    Array x = asarray(kFour);
    x.touch();
  });
  rows.wrong("touch", {"does not read borrowed memory"}, [] {
    Array x = asarray(kFour) + 1.0f;
    x.touch();
  });
  rows.wrong("touch", {"undefined"}, [] {
    Array x;
    x.touch();
  });
  rows.wrong("borrow", {"float32 (4,)", "changed while it was borrowed", "touch()"}, [] {
    const Setting check("TARRY_CHECK", "borrow");
    std::vector<float> v = kFour;
    const Array x = borrow(v.data(), {4});
    (void)x.to_vector<float>();
    v[2] = 0;
    (void)x.to_vector<float>();
  });
  rows.wrong("touch", {"the memory is being read by the call that called this callback"}, [] {
    const Scope on_cpu(cpu);
    const support::ScopedTemporaryDirectory directory;
    const std::vector<float> memory(std::size_t{4} << 20, 2.0F);
    Array x = borrow(memory.data(), {std::int64_t{4} << 20}), values;
    std::thread([&] {  // what is recorded here touch() would evaluate
      const Scope placed(cpu);
      values = x * 2.0F;
    })
        .join();
    const Setting limit("TARRY_MEMORY_LIMIT", std::to_string(memory_stats(cpu).live + (4 << 20)));
    auto call = [&](const Progress&) { x.touch(); };
    const OnProgress shown(call);
    save_npy((directory.path() / "y.npy").string(), values);
  });
}

}  // namespace

void add_interop_rows(ErrorRows& rows) {
  add_dlpack_rows(rows);
  add_pointer_rows(rows);
  add_borrow_rows(rows);
}

}  // namespace tarry::test
