// The devices a test body runs on, and small things tests of values share.
#pragma once

#include <tarry/tarry.h>

#include <functional>
#include <initializer_list>
#include <ranges>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/record/record.h"
#include "support/env.h"
#include "tests/helpers/test.h"

namespace tarry::test {

/// Runs `body` with new arrays placed on every device of this machine.
inline void on_every_device(const std::function<void(Device)>& body) {
  for (Device device : devices()) {
    INFO("device " << device.str());
    const Scope placed(device);
    body(device);
  }
}

/// Sets a switch for the time of a test.
class Setting {
 public:
  Setting(std::string name, std::string value) : name_(std::move(name)) { support::env::set(name_, std::move(value)); }
  ~Setting() { support::env::set(name_, std::nullopt); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string name_;
};

/// Runs `body` on every device, then on the CPU without each of the switches.
inline void in_every_way(const std::function<void()>& body,
                         std::initializer_list<const char*> left_out = {"compile", "fusion"}) {
  on_every_device([&](Device) { body(); });
  for (const char* off : left_out) {
    const Setting without("TARRY_DISABLE", off);
    INFO("without " << off);
    const Scope placed(cpu);
    body();
  }
}

/// 0.5, 1.0, 1.5, ...
inline std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 0.5f * static_cast<float>(i + 1);
  return v;
}

/// The recorded graph behind arrays.
template <class Arrays>
graph::Snapshot snapshot_of_all(const Arrays& arrays) {
  std::vector<graph::Edge> roots;
  for (const Array& a : arrays) roots.push_back(detail::edge(a, "test", {}));
  const std::lock_guard lock(graph::engine_mutex());
  graph::Node* blocked = nullptr;
  return graph::take_snapshot(roots, &blocked);
}

inline graph::Snapshot snapshot_of(std::initializer_list<const Array*> arrays) {
  return snapshot_of_all(std::views::transform(arrays, [](const Array* a) -> const Array& { return *a; }));
}

}  // namespace tarry::test
