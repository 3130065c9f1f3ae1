// Words of switches, devices and leaves.
#include "runtime/evaluate/plan_key.h"

#include <utility>

#include "runtime/plan/route.h"
#include "runtime/plan/settings.h"
#include "runtime/warm/recording.h"

namespace tarry::runtime {
namespace {

std::uint64_t first_word(Device placed, const PlanQuestion& asked) {
  const bool unplaced = asked.backend->target().is_cuda() && placed.kind == DeviceKind::Unplaced;
  return asked.words | static_cast<std::uint64_t>(!asked.compiled) << 32U | static_cast<std::uint64_t>(unplaced) << 33U;
}

std::uint64_t leaf_bits(const graph::Storage& leaf, bool donated, const Backend& b) {
  const bool on_device = leaf.buffer->device == b.device();
  const bool pooled = leaf.buffer->owner == graph::Owner::Pool;
  const bool hosts = !on_device && leaf.buffer->device.kind == DeviceKind::Cpu;
  return static_cast<std::uint64_t>(on_device + 2 * pooled + 4 * donated + 8 * hosts);
}

}  // namespace

PlanQuestion plan_question(Device placed) {
  const Settings now = settings();
  if (!now.quick || recording_active()) return {};
  try {
    Backend& b = backend(device_of(placed));
    return {&b, now.words, compiles(b)};
  } catch (const Error&) {  // the evaluate itself will say why
    return {};
  }
}

void finish_key(graph::KeyWalk& o, const PlanQuestion& asked) {
  o.drop_appended();
  o.head(0) = first_word(o.placed, asked);
  o.head(1) = asked.backend->serial();
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < o.leaves.size(); ++i) {
    bits |= leaf_bits(*o.leaves[i], o.donated[i] != 0, *asked.backend) << (i % 16 * 4);
    if (i % 16 == 15 || i + 1 == o.leaves.size()) o.append(std::exchange(bits, 0));
  }
}

void put_layout(const std::vector<std::shared_ptr<graph::Storage>>& leaves, Device placed, const PlanQuestion& asked,
                std::vector<std::uint64_t>& words) {
  words.clear();
  words.push_back(first_word(placed, asked));
  words.push_back(asked.backend->serial());
  for (const std::shared_ptr<graph::Storage>& leaf : leaves) {
    const auto flags = static_cast<std::uint64_t>(leaf->contiguous) | static_cast<std::uint64_t>(leaf->any_byte) << 1;
    words.push_back(leaf_bits(*leaf, false, *asked.backend) << 2 | flags);
    words.push_back(static_cast<std::uint64_t>(leaf->offset));
    if (leaf->contiguous) continue;
    for (const std::int64_t stride : leaf->strides) words.push_back(static_cast<std::uint64_t>(stride));
  }
}

}  // namespace tarry::runtime
