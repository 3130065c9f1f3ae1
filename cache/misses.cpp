// explain: what is known about a miss, else what comes nearest.
#include "cache/misses.h"

#include "cache/explain.h"
#include "cache/kernel_key.h"

namespace tarry::cache {

std::vector<CacheMiss> explain(std::span<const Miss> misses, std::span<Layer* const> layers) {
  std::vector<Subject> wanted;
  for (const Miss& miss : misses) wanted.push_back({miss.material->bytes, miss.name});
  const std::vector<std::optional<Nearest>> nearest = find_nearest(wanted, layers);
  std::vector<CacheMiss> explained;
  for (std::size_t i = 0; i < misses.size(); ++i) {
    const Miss& miss = misses[i];
    CacheMiss e;
    e.kernel = miss.name;
    e.key = miss.material->hash.hex();
    if (const auto fields = parse_material(miss.material->bytes)) e.target = fields->target;
    if (!miss.component.empty()) {
      e.component = miss.component;
      e.nearest = e.key;
      e.explanation = miss.cause;
    } else {
      if (nearest[i]) e.nearest = nearest[i]->key;
      if (nearest[i] && !nearest[i]->differences.empty()) e.component = nearest[i]->differences.front().component;
      e.explanation = describe(nearest[i]);
    }
    explained.push_back(std::move(e));
  }
  return explained;
}

}  // namespace tarry::cache
