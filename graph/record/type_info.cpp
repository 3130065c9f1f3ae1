// Facts about dtypes. result_type of many stands beside promotion.
#include <tarry/type_info.h>

#include <algorithm>
#include <string>

#include "graph/record/record.h"
#include "support/check.h"

namespace tarry {
inline namespace v0 {

FloatInfo finfo(Dtype dtype, Where where) {
  switch (dtype) {
    case Dtype::Float16: return {16, 0x1p-10, 65504, -65504, 0x1p-14, dtype};
    case Dtype::BFloat16: return {16, 0x1p-7, 0x1.fep127, -0x1.fep127, 0x1p-126, dtype};
    case Dtype::Float32:
    case Dtype::Complex64:
      return {static_cast<int>(8 * itemsize(dtype)), 0x1p-23, 0x1.fffffep127, -0x1.fffffep127, 0x1p-126, float32};
    case Dtype::Float64:
    case Dtype::Complex128:
      return {static_cast<int>(8 * itemsize(dtype)),
              0x1p-52,
              0x1.fffffffffffffp1023,
              -0x1.fffffffffffffp1023,
              0x1p-1022,
              float64};
    default:
      TARRY_THROW(InvalidDtype, "finfo", where, std::string(tarry::name(dtype)) + " is no floating dtype; see iinfo");
  }
}

IntegerInfo iinfo(Dtype dtype, Where where) {
  if (!is_integral(dtype)) {
    TARRY_THROW(InvalidDtype, "iinfo", where, std::string(tarry::name(dtype)) + " is no integer dtype; see finfo");
  }
  const int bits = static_cast<int>(8 * itemsize(dtype));
  if (tarry::info(dtype).kind == DtypeKind::UInt) return {bits, 0, ~std::uint64_t{0} >> (64 - bits), dtype};
  return {bits, INT64_MIN >> (64 - bits), ~std::uint64_t{0} >> (65 - bits), dtype};
}

bool isdtype(Dtype dtype, std::string_view kind, Where where) {
  const DtypeKind of = tarry::info(dtype).kind;
  if (kind == "bool") return of == DtypeKind::Bool;
  if (kind == "signed integer") return of == DtypeKind::Int;
  if (kind == "unsigned integer") return of == DtypeKind::UInt;
  if (kind == "integral") return is_integral(dtype);
  if (kind == "real floating") return of == DtypeKind::Float;
  if (kind == "complex floating") return of == DtypeKind::Complex;
  if (kind == "numeric") return of != DtypeKind::Bool;
  TARRY_THROW(InvalidValue, "isdtype", where,
              "\"" + std::string(kind) +
                  "\" is no kind of dtype: bool, signed integer, unsigned integer, integral, "
                  "real floating, complex floating or numeric");
}

bool can_cast(Dtype from, Dtype to) noexcept { return graph::promote(from, to) == to; }

Dtype dtype_named(std::string_view name, Where where) {
  const DtypeInfo* const found = std::ranges::find(kDtypeTable, name, [](const DtypeInfo& i) { return i.name; });
  if (found == std::end(kDtypeTable)) {
    TARRY_THROW(InvalidDtype, "dtype_named", where, "no dtype is named \"" + std::string(name) + "\"");
  }
  return static_cast<Dtype>(found - kDtypeTable);
}

Dtype default_float() noexcept { return graph::context().default_float; }

}  // namespace v0
}  // namespace tarry
