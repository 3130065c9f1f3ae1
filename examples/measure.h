// Shared by the measuring examples: best time of several runs, the machine's copy rate, pseudo-random inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <tarry/tarry.h>

namespace measure {

/// Seconds that `body` takes.
inline double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of the fastest of `repeat` runs: what disturbs a run only ever makes it slower.
inline double best_seconds(int repeat, const std::function<void()>& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeat; ++i) best = std::min(best, seconds(body));
  return best;
}

/// Bytes read plus bytes written per second by memcpy of `bytes` on all hardware threads.
inline double host_copy_rate(std::size_t bytes, int repeat) {
  const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t share = bytes / workers;
  std::vector<unsigned char> from(bytes, 1), to(bytes);
  const double time = best_seconds(repeat, [&] {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < workers; ++w) {
      threads.emplace_back([&, w] { std::memcpy(to.data() + w * share, from.data() + w * share, share); });
    }
  });
  return 2.0 * static_cast<double>(share * workers) / time;
}

/// Bytes per second that a copy of `bytes` reaches on `device`, where the caller's Scope has placed it: on a GPU by the
/// plainest kernel there is, y = -x. The CPU evaluates that once as well: what is recorded there then serves a GPU too.
inline double copy_rate(tarry::Device device, std::size_t bytes, int repeat) {
  const tarry::Array x = tarry::asarray(std::vector<float>(bytes / sizeof(float), 1.0F));
  const auto run = [&] {
    const tarry::Array y = -x;
    tarry::evaluate(y);
    tarry::synchronize();
  };
  run();  // uploads and compiles
  if (device.kind == tarry::DeviceKind::Cpu) return host_copy_rate(bytes, repeat);
  return 2.0 * static_cast<double>(bytes) / best_seconds(repeat, run);
}

/// The device of a --device option: "cpu", "cuda", or "" for the default.
inline tarry::Device device(const std::string& name) {
  if (name.empty()) return tarry::default_device();
  return name == "cpu" ? tarry::cpu : tarry::cuda();
}

/// `n` values spread evenly over [low, high), the same in every run.
inline std::vector<float> uniform(std::size_t n, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& v : values) v = low + (high - low) * (static_cast<float>(random() >> 8U) * 0x1p-24F);
  return values;
}

/// `n` values of a normal distribution, the same in every run.
inline std::vector<float> normal(std::size_t n, double mean, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(distribution(random));
  return values;
}

}  // namespace measure
