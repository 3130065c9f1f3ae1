// Where a strided coordinate stays within an extent.
#include "graph/preimage.h"
#include "tests/helpers/test.h"

namespace ta = tarry;

TEST_CASE("preimage: the coordinates that a stride keeps within an extent are those that counting finds", "[graph]") {
  for (const std::int64_t step : {-3, -2, -1, 1, 2, 3})
    for (std::int64_t extent = 0; extent < 7; ++extent)
      for (std::int64_t start = -9; start <= 9; ++start) {
        const auto [low, high] = ta::graph::preimage(start, step, extent);
        for (std::int64_t c = -20; c <= 20; ++c) {
          const std::int64_t at = start + step * c;
          CHECK((low <= c && c < high) == (0 <= at && at < extent));
        }
      }
}
