// Attributes to canonical bytes and back.
#include "graph/attributes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/check.h"

namespace tarry::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "the canonical form is the memory form of these hosts");

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

template <class To>
void write(const UpdateAttributes& a, To& to) {
  TARRY_ASSERT(a.start.size() == a.step.size());
  to.put(static_cast<std::int32_t>(a.start.size()));
  for (int d = 0; d < a.start.size(); ++d) {
    to.put(a.start[d]);
    to.put(a.step[d]);
  }
}

template <class To>
void write(const IndexMap& m, To& to) {
  to.put(static_cast<std::int32_t>(m.size));
  for (int d = 0; d < m.size; ++d) {
    to.put(m[d].axis);
    to.put(m[d].start);
    to.put(m[d].step);
  }
}

}  // namespace

AttributeBytes encode(const ReduceAttributes& a) {
  AttributeBytes bytes;
  bytes.put(a.axis);
  bytes.put(a.weight);
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

Dims matrices_shape(Op op, const Dims& a, const Dims& b) {
  if (a.size() != 3 || a[1] != a[2]) return {};
  switch (op) {
    case Op::Solve: return b.size() == 3 && b[0] == a[0] && b[1] == a[1] ? b : Dims{};
    case Op::Pivots: return {a[0], a[1]};
    case Op::Eigh: return {a[0], a[1] + 1, a[2]};
    default: return a;
  }
}

AttributeBytes encode(const RoutineAttributes& a) {
  AttributeBytes b;
  b.put(static_cast<std::uint32_t>(a.way));
  return b;
}

RoutineAttributes decode_routine(std::string_view bytes) {
  Reader reader(bytes);
  const auto way = static_cast<RoutineAttributes::Way>(reader.take<std::uint32_t>());
  reader.done();
  return {way};
}

AttributeBytes encode(const IndexAttributes& a) {
  AttributeBytes bytes;
  bytes.put(a.payload());
  return bytes;
}

IndexAttributes decode_index(std::string_view bytes) {
  Reader reader(bytes);
  const auto a = IndexAttributes::of(reader.take<std::uint32_t>());
  reader.done();
  return a;
}

std::string_view to_string(IndexAttributes::Called called) {
  switch (called) {
    case IndexAttributes::Called::Take: return "take";
    case IndexAttributes::Called::TakeAlongAxis: return "take_along_axis";
    case IndexAttributes::Called::SegmentSum: return "segment_sum";
    case IndexAttributes::Called::SegmentMin: return "segment_min";
    case IndexAttributes::Called::SegmentMax: return "segment_max";
    case IndexAttributes::Called::SegmentMean: return "segment_mean";
    case IndexAttributes::Called::SegmentVar: return "segment_var";
    case IndexAttributes::Called::SegmentCount: return "segment_count";
    case IndexAttributes::Called::Set: return "set";
    case IndexAttributes::Called::Add: return "add";
    case IndexAttributes::Called::Multiply: return "multiply";
    case IndexAttributes::Called::Minimum: return "minimum";
    case IndexAttributes::Called::Maximum: return "maximum";
    case IndexAttributes::Called::Put: return "put";
    case IndexAttributes::Called::PutAlongAxis: return "put_along_axis";
    case IndexAttributes::Called::Compress: return "compress";
    case IndexAttributes::Called::Min: return "min";
    case IndexAttributes::Called::Max: return "max";
    case IndexAttributes::Called::Mask: return "set";
    case IndexAttributes::Called::Index: break;
  }
  return "index";
}

AttributeBytes encode(const IotaAttributes& a) {
  AttributeBytes bytes;
  bytes.put(a.axis);
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

AttributeBytes encode(const UpdateAttributes& a) {
  AttributeBytes bytes;
  write(a, bytes);
  return bytes;
}

void encode(const UpdateAttributes& a, KeptAttributes& to) {
  AttributeWriter writer(to.room(4 + 16 * static_cast<std::size_t>(a.start.size())));
  write(a, writer);
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

AttributeBytes encode(const IndexMap& m) {
  AttributeBytes bytes;
  write(m, bytes);
  return bytes;
}

void encode(const IndexMap& m, KeptAttributes& to) {
  AttributeWriter writer(to.room(4 + 20 * static_cast<std::size_t>(m.size)));
  write(m, writer);
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
