// Attributes to canonical bytes and back.
#include "graph/attributes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/check.h"

namespace tarry::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "the canonical form is the memory form of these hosts");

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    TARRY_ASSERT(bytes_.size() >= sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  void done() const { TARRY_ASSERT(bytes_.empty()); }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string encode(const ReduceAttributes& a) {
  std::string bytes;
  put(bytes, a.axis);
  put(bytes, a.weight);
  return bytes;
}

ReduceAttributes decode_reduce(std::string_view bytes) {
  Reader reader(bytes);
  ReduceAttributes a;
  a.axis = reader.take<std::int32_t>();
  a.weight = reader.take<std::int64_t>();
  reader.done();
  return a;
}

std::string encode(const IotaAttributes& a) {
  std::string bytes;
  put(bytes, a.axis);
  return bytes;
}

IotaAttributes decode_iota(std::string_view bytes) {
  Reader reader(bytes);
  const IotaAttributes a{reader.take<std::int32_t>()};
  reader.done();
  return a;
}

bool UpdateAttributes::dense() const {
  return std::all_of(step.begin(), step.end(), [](std::int64_t s) { return s == 1; });
}

std::string encode(const UpdateAttributes& a) {
  TARRY_ASSERT(a.start.size() == a.step.size());
  std::string bytes;
  put(bytes, static_cast<std::int32_t>(a.start.size()));
  for (int d = 0; d < a.start.size(); ++d) {
    put(bytes, a.start[d]);
    put(bytes, a.step[d]);
  }
  return bytes;
}

UpdateAttributes decode_update(std::string_view bytes) {
  Reader reader(bytes);
  const auto size = reader.take<std::int32_t>();
  TARRY_ASSERT(size >= 0 && size <= kMaxRank);
  UpdateAttributes a;
  for (int d = 0; d < size; ++d) {
    a.start.push_back(reader.take<std::int64_t>());
    a.step.push_back(reader.take<std::int64_t>());
  }
  reader.done();
  return a;
}

std::string encode(const IndexMap& m) {
  std::string bytes;
  put(bytes, static_cast<std::int32_t>(m.size));
  for (int d = 0; d < m.size; ++d) {
    put(bytes, m[d].axis);
    put(bytes, m[d].start);
    put(bytes, m[d].step);
  }
  return bytes;
}

IndexMap decode_view(std::string_view bytes) {
  Reader reader(bytes);
  const auto size = reader.take<std::int32_t>();
  TARRY_ASSERT(size >= 0 && size <= kMaxRank);
  IndexMap m;
  for (int d = 0; d < size; ++d) {
    const auto axis = reader.take<std::int32_t>();
    const auto start = reader.take<std::int64_t>();
    const auto step = reader.take<std::int64_t>();
    m.push_back({axis, start, step});
  }
  reader.done();
  return m;
}

}  // namespace tarry::graph
