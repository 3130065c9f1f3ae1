// Rows of a benchmark: each is evaluated over and over on one device.
#pragma once

#include <tarry/tarry.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/timing.h"

namespace bench {

using Arrays = std::vector<tarry::Array>;

struct Row {
  std::string name;
  double bytes;  ///< that it moves at least
  std::function<Arrays()> make;
};

inline void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "cpu or cuda; the default device unless given")
      ->check(CLI::IsMember({"cpu", "cuda"}));
}
inline tarry::Device device_named(const std::string& device) {
  return device.empty() ? tarry::default_device() : device == "cpu" ? tarry::cpu : tarry::cuda(0);
}

/// A line each: name, milliseconds, least bytes, launches.
inline void print_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    tarry::Report report;
    const Timing t = measure([&] { report = tarry::evaluate(row.make()); }, [] { tarry::synchronize(); });
    std::printf("%s %.4f %.0f %lld\n", row.name.c_str(), 1e3 * t.back_to_back, row.bytes,
                static_cast<long long>(report.counters().launches));
    std::fflush(stdout);
  }
}

}  // namespace bench
