// Attributes of ops and their one canonical byte form (little-endian, fixed width): hashed, compared and recorded.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "graph/op.h"
#include "graph/shape.h"
#include "support/recycle.h"

namespace tarry::graph {

/// The canonical form. A value that never allocates.
class AttributeBytes {
 public:
  AttributeBytes() noexcept {}  // NOLINT: the bytes beyond the end stay unset
  AttributeBytes(std::string_view bytes) noexcept { append(bytes.data(), bytes.size()); }  // NOLINT: conversion wanted
  AttributeBytes(const AttributeBytes& other) noexcept { append(other.bytes_, other.size_); }
  AttributeBytes& operator=(const AttributeBytes& other) noexcept {
    std::memmove(bytes_, other.bytes_, other.size_);
    size_ = other.size_;
    return *this;
  }
  template <class T>
  void put(T value) {
    append(&value, sizeof value);
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const char* begin() const { return bytes_; }
  [[nodiscard]] const char* end() const { return bytes_ + size_; }
  operator std::string_view() const { return {bytes_, size_}; }  // NOLINT: conversion wanted

 private:
  void append(const void* from, std::size_t count) {
    std::memcpy(bytes_ + size_, from, count);
    size_ += count;
  }
  std::size_t size_ = 0;
  char bytes_[8 + 24 * static_cast<std::size_t>(kMaxRank)];  // a view's or an update's
};

/// Puts the canonical form where there is room for it.
class AttributeWriter {
 public:
  explicit AttributeWriter(void* at) : at_(static_cast<char*>(at)) {}
  template <class T>
  void put(T value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

 private:
  char* at_;
};

/// The canonical form as a node keeps it: in place where it is short, as of two dimensions.
class KeptAttributes {
 public:
  KeptAttributes() noexcept {}  // NOLINT: what is beyond the end stays unset
  KeptAttributes(const KeptAttributes&) = delete;
  KeptAttributes& operator=(const KeptAttributes&) = delete;
  ~KeptAttributes() {
    if (size_ > sizeof here_) support::give_block(block_, size_);
  }
  /// Room for all bytes, which the caller fills. Once.
  char* room(std::size_t size) {
    if (size > sizeof here_) block_ = static_cast<char*>(support::take_block(size));
    size_ = size;
    return size > sizeof here_ ? block_ : here_;
  }
  void keep(std::string_view bytes) { std::memcpy(room(bytes.size()), bytes.data(), bytes.size()); }
  operator std::string_view() const {
    return {size_ > sizeof here_ ? block_ : here_, size_};
  }  // NOLINT: conversion wanted

 private:
  std::size_t size_ = 0;
  union {
    char here_[56];
    char* block_;
  };
};

struct ReduceAttributes {
  std::int32_t axis = 0;
  std::int64_t weight = 1;  ///< MomentsMerge: elements that each input (mean, m2) stands for
};
AttributeBytes encode(const ReduceAttributes& a);
ReduceAttributes decode_reduce(std::string_view bytes);

struct IotaAttributes {
  static constexpr std::int32_t kNumber = -1;  ///< the value is the element's number in row-major order
  std::int32_t axis = 0;                       ///< else the coordinate along this axis; int64
};
/// IotaAttributes::kNumber as the payload of a GraphNode.
inline constexpr std::uint32_t kNumberPayload = static_cast<std::uint32_t>(IotaAttributes::kNumber);
AttributeBytes encode(const IotaAttributes& a);
IotaAttributes decode_iota(std::string_view bytes);

/// The user's view of an Index, for its error. Of Gather the axis is all: IotaAttributes.
struct IndexAttributes {
  enum class Called : std::uint8_t {
    Index,
    Take,
    TakeAlongAxis,
    SegmentSum,
    SegmentMin,
    SegmentMax,
    SegmentMean,
    SegmentVar,
    SegmentCount,
    Set,
    Add,
    Multiply,
    Minimum,
    Maximum,
    Put,
    PutAlongAxis,
    Compress,
    Min,  ///< no index, as Max: 1 where nothing is selected
    Max,
    Mask  ///< no index: twice as many as a mask has more true elements than a value has rows
  } called{};
  std::uint8_t axis = 0;  ///< of the array that is indexed
  bool part = false;      ///< these are some of the user's indices: their numbers are not his
  [[nodiscard]] std::uint32_t payload() const {
    return static_cast<std::uint32_t>(called) | std::uint32_t{axis} << 8 | (part ? 1U << 16 : 0);
  }
  static IndexAttributes of(std::uint32_t payload) {
    return {static_cast<Called>(payload & 255), static_cast<std::uint8_t>(payload >> 8 & 255),
            (payload >> 16 & 1) != 0};
  }
};
AttributeBytes encode(const IndexAttributes& a);
IndexAttributes decode_index(std::string_view bytes);
std::string_view to_string(IndexAttributes::Called called);

/// The choice that a Routine has.
struct RoutineAttributes {
  enum class Way : std::uint8_t {
    Usual,    ///< ascending; the first place
    Reversed  ///< Sort, Argsort: descending; Searchsorted: the last place; Segment ops: by the run of each element
  } way{};
};
AttributeBytes encode(const RoutineAttributes& a);
/// The shape of the result of a Routine that is_matrices; none where its inputs have no such shapes.
Dims matrices_shape(Op op, const Dims& a, const Dims& b);
RoutineAttributes decode_routine(std::string_view bytes);

/// The attributes of a Scalar that is of class Other whatever its value.
inline constexpr std::string_view kOpaque = "opaque";

/// Where an Update puts its value: element i of the value goes to start + i * step along each axis; steps are not 0 and
/// no element leaves the base.
struct UpdateAttributes {
  Dims start, step;
  [[nodiscard]] bool dense() const;  ///< every step is 1
};
AttributeBytes encode(const UpdateAttributes& a);
void encode(const UpdateAttributes& a, KeptAttributes& to);
UpdateAttributes decode_update(std::string_view bytes);

AttributeBytes encode(const IndexMap& m);
void encode(const IndexMap& m, KeptAttributes& to);
IndexMap decode_view(std::string_view bytes);

}  // namespace tarry::graph
