// Layer::describe, for people.
#include "cache/layer.h"

#include <fmt/format.h>

namespace tarry::cache {

std::string Layer::describe() const {
  const Contents held = contents();
  return fmt::format("{} ({} kernel{}, {:.1f} MiB)", path().string(), held.kernels, held.kernels == 1 ? "" : "s",
                     static_cast<double>(held.bytes) / (1 << 20));
}

}  // namespace tarry::cache
