// Grids of coordinates, triangles, and numbers spaced by a factor.
#include <tarry/create.h>

#include <cmath>

#include "tests/helpers/devices.h"
#include "tests/helpers/integers.h"

namespace ta = tarry;
using ta::GridOrder;
using ta::test::in_every_way;
using ta::test::ints;
using ta::test::Ints;

namespace {

Ints values(const ta::Array& x) { return ta::astype(x, ta::int64).to_vector<std::int64_t>(); }

}  // namespace

TEST_CASE("meshgrid: each array along its axis, the first two exchanged in a picture", "[grids]") {
  in_every_way([] {
    const ta::Array x = ints({2}), y = ints({3}, 10), z = ints({4}, 20);
    const auto picture = ta::meshgrid({x, y});
    CHECK(picture[0].shape() == ta::Shape{3, 2});
    CHECK(values(picture[0]) == Ints{0, 1, 0, 1, 0, 1});
    CHECK(values(picture[1]) == Ints{10, 10, 11, 11, 12, 12});
    CHECK(values(ta::meshgrid({x, y}, GridOrder::IJ)[1]) == Ints{10, 11, 12, 10, 11, 12});
    CHECK(ta::meshgrid({x, y, z})[2].shape() == ta::Shape{3, 2, 4});
    CHECK(ta::meshgrid({x, y, z}, GridOrder::IJ)[0].shape() == ta::Shape{2, 3, 4});
    CHECK(values(ta::meshgrid({x})[0]) == Ints{0, 1});
    CHECK(values(ta::meshgrid({x, ta::Array(7)})[1]) == Ints{7, 7});
    CHECK(ta::meshgrid({x, ta::zeros({0})})[0].shape() == ta::Shape{0, 2});
  });
}

TEST_CASE("meshgrid: a function on a grid is one kernel that reads the coordinates alone", "[grids]") {
  const ta::Array x = ta::asarray(ta::test::ramp(100)), y = ta::asarray(ta::test::ramp(50));
  const auto grid = ta::meshgrid({x, y});
  const ta::Counters c = ta::plan(grid[0] * grid[1]).counters();
  CHECK(c.kernels == 1);
  CHECK(c.bytes_read == 150 * 4);
}

TEST_CASE("tril, triu: at any diagonal, of stacks, empty ones and bool", "[grids]") {
  in_every_way([] {
    const ta::Array x = ints({3, 4}, 1);
    CHECK(values(ta::tril(x)) == Ints{1, 0, 0, 0, 5, 6, 0, 0, 9, 10, 11, 0});
    CHECK(values(ta::triu(x)) == Ints{1, 2, 3, 4, 0, 6, 7, 8, 0, 0, 11, 12});
    CHECK(values(ta::tril(x, 1)) == Ints{1, 2, 0, 0, 5, 6, 7, 0, 9, 10, 11, 12});
    CHECK(values(ta::triu(x, -1)) == Ints{1, 2, 3, 4, 5, 6, 7, 8, 0, 10, 11, 12});
    CHECK(values(ta::tril(x, INT64_MAX)) == values(x));
    CHECK(values(ta::triu(x, INT64_MAX)) == Ints(12));
    CHECK(values(ta::tril(x, INT64_MIN)) == Ints(12));
    CHECK(values(ta::tril(ints({2, 2, 2}, 1))) == Ints{1, 0, 3, 4, 5, 0, 7, 8});
    CHECK(ta::triu(ta::zeros({0, 3})).shape() == ta::Shape{0, 3});
    CHECK(ta::tril(ta::ones({2, 2}, ta::bool_)).to_vector<bool>() == std::vector<bool>{true, false, true, true});
    CHECK(values(ta::tril(x) + ta::triu(x, 1)) == values(x));
  });
}

TEST_CASE("logspace, geomspace: powers and equal factors, their ends exact", "[grids]") {
  in_every_way([] {
    const auto powers = ta::logspace(0, 3, 4, {.base = 2, .dtype = ta::float64}).to_vector<double>();
    for (std::size_t i = 0; i < 4; ++i) CHECK(powers[i] == Approx(std::exp2(i)));
    CHECK(ta::logspace(0.0, 1.0, 2, {.endpoint = false}).to_vector<double>()[1] == Approx(std::sqrt(10)));
    CHECK(ta::logspace(0.0F, 1.0F, 3).dtype() == ta::float32);
    for (const auto& [first, last] :
         {std::pair{1.0, 1000.0}, {-8.0, -1.0}, {1e-300, 1e300}, {5e-324, 1e308}, {3.0, 3.0}}) {
      const auto found = ta::geomspace(first, last, 7).to_vector<double>();
      INFO("from " << first << " to " << last);
      CHECK(found.front() == first);
      CHECK(found.back() == last);
      for (std::size_t i = 0; i < 7; ++i) {
        const double exponent = static_cast<double>(i) / 6;
        const double expected = std::copysign(
            std::exp(std::log(std::fabs(first)) * (1 - exponent) + std::log(std::fabs(last)) * exponent), first);
        CHECK(found[i] == Approx(expected).epsilon(1e-10));
      }
    }
    CHECK(ta::geomspace(1.0, 16.0, 4, {.endpoint = false}).to_vector<double>()[1] == Approx(2));
    CHECK(ta::geomspace(1.0, 2.0, 0).shape() == ta::Shape{0});
    CHECK(ta::geomspace(2.0, 3.0, 1).item<double>() == 2);
  });
}

TEST_CASE("empty: zeros that take no memory; broadcast_arrays: one shape for all", "[grids][views]") {
  in_every_way([] {
    CHECK(ta::empty({2, 3}).dtype() == ta::float32);
    CHECK(values(ta::empty({2}, ta::int16)) == Ints{0, 0});
    CHECK(ta::empty_like(ints({2, 3})).shape() == ta::Shape{2, 3});
    CHECK(ta::empty_like(ints({2}), ta::bool_).dtype() == ta::bool_);
    const auto both = ta::broadcast_arrays({ints({3}), ta::array({{10}, {20}})});
    CHECK(values(both[0]) == Ints{0, 1, 2, 0, 1, 2});
    CHECK(values(both[1]) == Ints{10, 10, 10, 20, 20, 20});
    CHECK(ta::broadcast_arrays({ints({1, 3}), ta::zeros({0, 1})})[0].shape() == ta::Shape{0, 3});
  });
}
