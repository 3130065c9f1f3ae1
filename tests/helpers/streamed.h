// Evaluates of arrays in files, in one piece and in chunks: the same bits, within the limit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <tarry/tarry.h>

#include "runtime/device/backend.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"
#include "tests/helpers/test.h"

namespace tarry::test {

/// A number of each element that wanders over signs and sizes, with what is special now and then.
template <class T>
std::vector<T> wandering(std::size_t count, std::uint32_t seed) {
  std::vector<T> values(count);
  std::uint32_t state = seed * 2654435761U + 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const double x = static_cast<double>(static_cast<std::int32_t>(state)) / 2147483648.0;
    if constexpr (std::is_integral_v<T>) {
      values[i] = static_cast<T>(x * 100);
    } else {
      values[i] = static_cast<T>(state % 1009 == 0 ? -0.0 : x * std::exp2(static_cast<double>(state >> 27) - 16));
    }
  }
  return values;
}

/// Files of large arrays, opened.
class StreamedFiles {
 public:
  template <class T>
  Array& write(const std::string& name, const std::vector<T>& values, const Shape& shape) {
    const std::string path = (directory_.path() / name).string();
    save_npy(path, asarray(values, shape));
    files_[path] = open_npy(path);
    return files_[path];
  }
  /// Nothing of them is on a device any more.
  void open_again() {
    for (auto& [path, array] : files_) array = open_npy(path);
  }

 private:
  support::ScopedTemporaryDirectory directory_;
  std::map<std::string, Array> files_;
};

inline bool same_values(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  switch (a.dtype()) {
    case Dtype::Float32: return same_bits(a.to_vector<float>(), b.to_vector<float>());
    case Dtype::Float64: return same_bits(a.to_vector<double>(), b.to_vector<double>());
    case Dtype::Float16: return same_bits(a.to_vector<Half>(), b.to_vector<Half>());
    case Dtype::Int64: return a.to_vector<std::int64_t>() == b.to_vector<std::int64_t>();
    case Dtype::Int32: return a.to_vector<std::int32_t>() == b.to_vector<std::int32_t>();
    case Dtype::Bool: return a.to_vector<bool>() == b.to_vector<bool>();
    default: FAIL("a dtype that this test does not compare"); return false;
  }
}

inline std::size_t bytes_of_all(const std::vector<Array>& arrays) {
  std::size_t bytes = 0;
  for (const Array& x : arrays) bytes += static_cast<std::size_t>(x.size()) * itemsize(x.dtype()) * 9 / 8 + 4096;
  return bytes;
}

/// Evaluates what `make` records in one piece, and again with room for `spare` bytes, on a CPU besides the results: the
/// chunks.
inline std::int64_t chunks_of(StreamedFiles& files, const std::function<std::vector<Array>()>& make,
                              std::size_t spare) {
  files.open_again();
  const std::vector<Array> expected = make();
  REQUIRE(evaluate(expected).counters().chunks == 0);
  files.open_again();
  const std::vector<Array> streamed = make();
  const runtime::Backend& device = runtime::backend(default_device());
  const std::size_t room = device.device().kind == DeviceKind::Cpu ? bytes_of_all(streamed) + spare : 4 * spare;
  const std::size_t limit = device.memory().live + room;
  std::int64_t chunks = 0;
  {
    const Setting setting("TARRY_MEMORY_LIMIT", std::to_string(limit));
    const Report report = evaluate(streamed);
    INFO(report.str());
    chunks = report.counters().chunks;
    CHECK(device.memory().live <= limit);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i << " of shape " << streamed[i].shape().str());
    CHECK(same_values(streamed[i], expected[i]));
  }
  return chunks;
}

inline constexpr std::size_t kSpare = 100'000;

}  // namespace tarry::test
