// Attributes of ops and their one canonical byte form (little-endian, fixed width): hashed, compared and recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/shape.h"

namespace tarry::graph {

struct ReduceAttributes {
  std::int32_t axis = 0;
  std::int64_t weight = 1;  ///< MomentsMerge: elements that each input (mean, m2) stands for
};
std::string encode(const ReduceAttributes& a);
ReduceAttributes decode_reduce(std::string_view bytes);

struct IotaAttributes {
  static constexpr std::int32_t kNumber = -1;  ///< the value is the element's number in row-major order
  std::int32_t axis = 0;                       ///< else the coordinate along this axis; int64
};
/// IotaAttributes::kNumber as the payload of a GraphNode.
inline constexpr std::uint32_t kNumberPayload = static_cast<std::uint32_t>(IotaAttributes::kNumber);
std::string encode(const IotaAttributes& a);
IotaAttributes decode_iota(std::string_view bytes);

/// The attributes of a Scalar that is of class Other whatever its value.
inline constexpr std::string_view kOpaque = "opaque";

/// Where an Update puts its value: element i of the value goes to start + i * step along each axis; steps are not 0 and
/// no element leaves the base.
struct UpdateAttributes {
  Dims start, step;
  [[nodiscard]] bool dense() const;  ///< every step is 1
};
std::string encode(const UpdateAttributes& a);
UpdateAttributes decode_update(std::string_view bytes);

std::string encode(const IndexMap& m);
IndexMap decode_view(std::string_view bytes);

}  // namespace tarry::graph
