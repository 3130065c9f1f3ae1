// A cuBLASLt that computes nothing and notes what it is asked.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "runtime/device/cuda/blas.h"

namespace tarry::test {

using BlasStatus = runtime::cuda::BlasStatus;

struct FakeBlas {
  FakeBlas();
  struct Layout {
    int type = 0;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t leading = 0, stride = 0;
    std::int32_t count = 1;
  };
  struct Product {
    int compute = 0, scale = 0;
    Layout a, b, d;
    const void *a_data = nullptr, *b_data = nullptr, *workspace = nullptr;
    void* d_data = nullptr;
    std::size_t workspace_bytes = 0;
  };
  runtime::cuda::BlasApi api;
  std::vector<Product> products;
  std::map<int, std::uint64_t> preferences;
  int alive = 0, proposals = 1;
  BlasStatus on_create = BlasStatus::Success, on_heuristic = BlasStatus::Success, on_product = BlasStatus::Success;
};
inline FakeBlas* fake_blas = nullptr;  // the latest, which the functions write to

namespace fake_blas_detail {

struct Description {
  int compute, scale;
};

template <class To, class Object>
To* as(Object object) {
  return reinterpret_cast<To*>(object);
}
template <class T, class Object>
BlasStatus made(Object* object, T* value) {
  *object = reinterpret_cast<Object>(value);
  ++fake_blas->alive;
  return BlasStatus::Success;
}
template <class T, class Object>
BlasStatus destroyed(Object object) {
  delete as<T>(object);
  --fake_blas->alive;
  return BlasStatus::Success;
}

inline void fill(runtime::cuda::BlasApi& api) {
  using namespace runtime::cuda;
  api.create = [](BlasHandle* handle) {
    return fake_blas->on_create == BlasStatus::Success ? made(handle, new int) : fake_blas->on_create;
  };
  api.destroy = [](BlasHandle handle) { return destroyed<int>(handle); };
  api.create_description = [](MatmulDescription* d, int compute, int scale) {
    return made(d, new Description{compute, scale});
  };
  api.destroy_description = [](MatmulDescription d) { return destroyed<Description>(d); };
  api.create_layout = [](MatrixLayout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                         std::int64_t leading) {
    return made(layout, new FakeBlas::Layout{type, rows, columns, leading});
  };
  api.destroy_layout = [](MatrixLayout layout) { return destroyed<FakeBlas::Layout>(layout); };
  api.set_layout = [](MatrixLayout layout, int attribute, const void* value, std::size_t bytes) {
    auto* const l = as<FakeBlas::Layout>(layout);
    std::memcpy(attribute == 5 ? static_cast<void*>(&l->count) : &l->stride, value, bytes);
    return BlasStatus::Success;
  };
  api.create_preference = [](MatmulPreference* p) { return made(p, new int); };
  api.destroy_preference = [](MatmulPreference p) { return destroyed<int>(p); };
  api.set_preference = [](MatmulPreference, int attribute, const void* value, std::size_t bytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, value, bytes);
    fake_blas->preferences[attribute] = number;
    return BlasStatus::Success;
  };
  api.heuristic = [](BlasHandle, MatmulDescription, MatrixLayout, MatrixLayout, MatrixLayout, MatrixLayout,
                     MatmulPreference, int, MatmulHeuristic* results, int* found) {
    results[0].workspace = 4096;
    results[0].state = BlasStatus::Success;
    *found = fake_blas->proposals;
    return fake_blas->on_heuristic;
  };
  api.matmul = [](BlasHandle, MatmulDescription description, const void*, const void* a, MatrixLayout a_layout,
                  const void* b, MatrixLayout b_layout, const void*, const void*, MatrixLayout, void* d,
                  MatrixLayout d_layout, const MatmulAlgorithm*, void* workspace, std::size_t bytes, Stream) {
    const auto* const how = as<Description>(description);
    fake_blas->products.push_back({how->compute, how->scale, *as<FakeBlas::Layout>(a_layout),
                                   *as<FakeBlas::Layout>(b_layout), *as<FakeBlas::Layout>(d_layout), a, b, workspace, d,
                                   bytes});
    return fake_blas->on_product;
  };
}

}  // namespace fake_blas_detail

inline FakeBlas::FakeBlas() {
  fake_blas = this;
  fake_blas_detail::fill(api);
}

}  // namespace tarry::test
