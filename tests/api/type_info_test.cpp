// Facts about dtypes: limits, kinds, promotion of many, names.
#include <tarry/type_info.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/helpers/test.h"

namespace ta = tarry;
using ta::TypeOperand;

namespace {

ta::Dtype common(const std::vector<TypeOperand>& values) { return ta::result_type(values); }

template <class T>
void has_limits_of_type() {
  const ta::IntegerInfo info = ta::iinfo(ta::dtype_of<T>);
  CHECK(info.bits == 8 * static_cast<int>(sizeof(T)));
  CHECK(info.min == static_cast<std::int64_t>(std::numeric_limits<T>::min()));
  CHECK(info.max == static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

}  // namespace

TEST_CASE("type_info: integers have the limits of their C++ types", "[api][dtype]") {
  has_limits_of_type<std::int8_t>();
  has_limits_of_type<std::int16_t>();
  has_limits_of_type<std::int32_t>();
  has_limits_of_type<std::int64_t>();
  has_limits_of_type<std::uint8_t>();
  has_limits_of_type<std::uint16_t>();
  has_limits_of_type<std::uint32_t>();
  has_limits_of_type<std::uint64_t>();
}

TEST_CASE("type_info: floats have the limits of their formats", "[api][dtype]") {
  CHECK(ta::finfo(ta::float64).max == std::numeric_limits<double>::max());
  CHECK(ta::finfo(ta::float64).smallest_normal == std::numeric_limits<double>::min());
  CHECK(ta::finfo(ta::float32).eps == static_cast<double>(std::numeric_limits<float>::epsilon()));
  CHECK(ta::finfo(ta::complex64).dtype == ta::float32);
  for (const ta::Dtype half : {ta::float16, ta::bfloat16}) {
    const ta::FloatInfo info = ta::finfo(half);
    const auto survives = [&](double value) {  // the dtype has this number
      return ta::astype(ta::full({}, value, half), ta::float64).item<double>() == value;
    };
    CHECK(survives(info.max));
    CHECK(survives(1 + info.eps));
    CHECK(!survives(1 + info.eps / 2));
    CHECK(survives(info.smallest_normal));
  }
}

TEST_CASE("type_info: a dtype is of the kinds that the standard names", "[api][dtype]") {
  CHECK(ta::isdtype(ta::bool_, "bool"));
  CHECK(ta::isdtype(ta::int8, "signed integer"));
  CHECK(!ta::isdtype(ta::uint8, "signed integer"));
  CHECK(ta::isdtype(ta::uint8, "integral"));
  CHECK(ta::isdtype(ta::bfloat16, "real floating"));
  CHECK(ta::isdtype(ta::complex64, "complex floating"));
  CHECK(!ta::isdtype(ta::bool_, "numeric"));
}

TEST_CASE("type_info: result_type promotes arrays and dtypes, and numbers are weak beside them", "[api][dtype]") {
  CHECK(common({ta::int8, ta::uint8}) == ta::int16);
  CHECK(common({ta::uint64, ta::float32, ta::int8}) == ta::float32);
  CHECK(common({ta::zeros({2}, ta::uint8), 300}) == ta::uint8);
  CHECK(common({ta::int64, 1.5}) == ta::float64);
  CHECK(common({1.5, ta::int8}) == ta::float32);
  CHECK(common({true, 2}) == ta::int64);
  CHECK(common({2, 1.5F}) == ta::float32);
  CHECK_THROWS_WITH(common({ta::uint64, ta::int8}), Catch::Contains("no integer dtype holds both"));
}

TEST_CASE("type_info: casts that promotion makes can be made", "[api][dtype]") {
  CHECK(ta::can_cast(ta::int8, ta::int16));
  CHECK(ta::can_cast(ta::int64, ta::float32));
  CHECK(!ta::can_cast(ta::int16, ta::int8));
  CHECK(!ta::can_cast(ta::uint64, ta::int64));
}

TEST_CASE("type_info: every dtype is found by its name", "[api][dtype]") {
  for (const ta::DtypeInfo& info : ta::kDtypeTable) CHECK(ta::name(ta::dtype_named(info.name)) == info.name);
  CHECK(ta::default_float() == ta::float32);
}
