// Dtypes, indices and places that a program learns when it runs.
#include <tarry/dynamic.h>

#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/same_bits.h"

namespace ta = tarry;
using ta::Index;
using ta::Where;

TEST_CASE("dynamic: a list of indices reads what the same indices between parentheses read", "[api][dynamic]") {
  const ta::Array x = ta::reshape(ta::arange(24), {2, 3, 4});
  const ta::Array places = ta::array({2, 0});
  const std::vector<Index> indices{1, ta::slice(ta::none, ta::none, -1), places};
  CHECK(ta::index(x, indices).to_vector<std::int64_t>() ==
        x(1, ta::slice(ta::none, ta::none, -1), places).to_vector<std::int64_t>());
  CHECK(ta::index(x, {}).shape() == x.shape());
}

TEST_CASE("dynamic: writing to a list of indices changes one handle and keeps the others", "[api][dynamic]") {
  ta::Array x = ta::zeros({4}, ta::int32);
  const ta::Array before = x, all = ta::array({1, 2, 3, 4});
  ta::set(x, std::vector<Index>{ta::slice(1, 3)}, 7);
  CHECK(x.to_vector<int>() == std::vector{0, 7, 7, 0});
  CHECK(before.to_vector<int>() == std::vector{0, 0, 0, 0});
  ta::set(x, std::vector<Index>{ta::slice(0, 4)}, all);
  CHECK(x.to_vector<int>() == std::vector{1, 2, 3, 4});
  CHECK(ta::with_set(x, std::vector<Index>{-1}, 9).to_vector<int>() == std::vector{1, 2, 3, 9});
}

TEST_CASE("dynamic: an error names the place that the program gives", "[api][dynamic]") {
  const ta::Array x = ta::zeros({3});
  const Where line("script.py", 12);
  CHECK_THROWS_WITH(ta::index(x, std::vector<Index>{5}, line),
                    "[index] index 5 is out of range for axis 0 of extent 3 in float32 (3,) (at script.py:12)");
  CHECK_THROWS_WITH(ta::item(x, line), "[item] float32 (3,) has not one element (at script.py:12)");
  CHECK_THROWS_WITH(ta::roll(x, std::vector<std::int64_t>{1, 2}, 0, line),
                    "[roll] 2 shifts for 1 axes of float32 (3,) (at script.py:12)");
}

TEST_CASE("dynamic: a number written as any dtype is read back", "[api][dynamic]") {
  for (int d = 0; d < ta::kDtypeCount; ++d) {
    const auto dtype = static_cast<ta::Dtype>(d);
    if (!ta::info(dtype).available) continue;
    unsigned char element[8] = {};
    ta::store_element(element, dtype, 1);
    CHECK(ta::load_element(element, dtype).to_double() == 1);
    CHECK(ta::item(ta::full({1, 1}, 1, dtype)).to_double() == 1);
    const ta::HostBytes bytes = ta::host_bytes(ta::ones({3}, dtype));
    REQUIRE(bytes.size() == 3 * ta::itemsize(dtype));
    CHECK(ta::load_element(bytes.data() + 2 * ta::itemsize(dtype), dtype).to_double() == 1);
  }
  CHECK(ta::item(ta::Array(std::uint64_t{1} << 63)).as_uint() == std::uint64_t{1} << 63);
  CHECK(ta::item(ta::Array(-5)).as_int() == -5);
}
