// Writing at places that are computed, below the public functions.
#pragma once

#include <span>
#include <string_view>

#include "graph/record/gather.h"
#include "graph/record/record.h"

namespace tarry::graph {

/// The effect of a new value on the old element.
enum class Write : std::uint8_t { Set, Add, Multiply, Minimum, Maximum };
[[nodiscard]] Write write_of(Put how);

/// The elementwise op of a write that is not Set.
Op join_of(Write write);
/// The user's function.
IndexAttributes::Called called(Write write);

/// The number of each element of `shape` in row-major order; of no device.
Edge record_numbers(std::span<const std::int64_t> shape, Where where);
/// v in `dtype`, of a shape that broadcasts to `shape`. Throws for `op` where it does not or does not fit.
Edge record_value(std::string_view op, Dtype dtype, const Operand& v, std::span<const std::int64_t> shape);
/// x with rows of `value` written at `rows`, numbers of what the leading axes of x count. The last axes of x, as many
/// as value has behind those of `rows`, are a row. numerics.md says what several rows for one place give.
Edge record_scatter(std::string_view op, Write write, const Edge& x, const Edge& rows, const Edge& value, Where where);

}  // namespace tarry::graph
