// A compiler and loader for cache tests: its image lists what was compiled, so a wrong binary cannot go unnoticed.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cache/kernel_cache.h"
#include "support/env.h"
#include "support/log.h"
#include "support/temporary.h"

namespace tarry::test {

/// A switch that has another value while this lives.
class ScopedSwitch {
 public:
  ScopedSwitch(std::string name, std::string value) : name_(std::move(name)) { set(std::move(value)); }
  ~ScopedSwitch() { support::env::set(name_, std::nullopt); }
  ScopedSwitch(const ScopedSwitch&) = delete;
  ScopedSwitch& operator=(const ScopedSwitch&) = delete;
  void set(std::string value) { support::env::set(name_, std::move(value)); }

 private:
  std::string name_;
};

/// Collects what is logged instead of printing it.
class CapturedLog {
 public:
  CapturedLog() {
    support::log::set_sink([this](support::log::Level, std::string_view message) {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(message);
    });
  }
  ~CapturedLog() { support::log::set_sink(nullptr); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  [[nodiscard]] std::vector<std::string> messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
  ScopedSwitch level_{"TARRY_LOG", "warning"};
};

/// A fresh directory, and switches that name nothing but it.
class CacheDirectory {
 public:
  [[nodiscard]] std::filesystem::path base() const { return base_.path(); }
  [[nodiscard]] std::filesystem::path root() const { return base_.path() / "cache"; }
  /// All files below root(), whatever they are.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(root(), error), end; !error && it != end;
         it.increment(error)) {
      std::error_code vanished;
      if (!it->is_directory(vanished) && !vanished) found.push_back(it->path());
    }
    return found;
  }
  /// A file that another process removes meanwhile, such as the lock of a kernel that is compiled, counts nothing.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t total = 0;
    for (const auto& file : files()) {
      std::error_code vanished;
      const std::uint64_t found = std::filesystem::file_size(file, vanished);
      if (!vanished) total += found;
    }
    return total;
  }

 private:
  support::ScopedTemporaryDirectory base_;

 public:
  ScopedSwitch dir{"TARRY_CACHE_DIR", root().string()};
  ScopedSwitch path{"TARRY_CACHE_PATH", ""};
  ScopedSwitch size{"TARRY_CACHE_SIZE", ""};
  ScopedSwitch strict{"TARRY_CACHE_STRICT", ""};
  ScopedSwitch require_cached{"TARRY_REQUIRE_CACHED", ""};
};

inline void write(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

/// The one file of a cache that holds one kernel.
inline std::filesystem::path only_file(const CacheDirectory& directory) {
  const auto files = directory.files();
  if (files.size() != 1) throw std::runtime_error(std::to_string(files.size()) + " files, not one");
  return files[0];
}

struct FakeExecutable : cache::Executable {
  explicit FakeExecutable(std::string t) : text(std::move(t)) {}
  std::string text;
};

inline cache::KernelRequest request(int number, std::size_t text_size = 40) {
  const std::string entry = "kernel_" + std::to_string(number);
  std::string text = "void " + entry + "() {}";
  if (text.size() < text_size) text.append(text_size - text.size(), '/');
  return {{text, "-O3", "fake_1", "strict"}, entry};
}

inline std::vector<cache::KernelRequest> requests(int first, int count, std::size_t text_size = 40) {
  std::vector<cache::KernelRequest> all;
  for (int i = 0; i < count; ++i) all.push_back(request(first + i, text_size));
  return all;
}

/// Kernels whose hashes differ in a build with short hashes too: equal ones may overwrite each other between processes.
inline std::vector<cache::KernelRequest> distinct_requests(std::size_t wanted, std::size_t text_size = 40) {
  std::vector<cache::KernelRequest> chosen;
  for (int number = 0; chosen.size() < wanted; ++number) {
    const cache::KernelRequest next = request(number, text_size);
    const auto clashes = [&](const cache::KernelRequest& r) { return r.key.hash() == next.key.hash(); };
    if (std::none_of(chosen.begin(), chosen.end(), clashes)) chosen.push_back(next);
  }
  return chosen;
}

/// True if each kernel is the one that was asked for.
inline bool right(const std::vector<cache::KernelRequest>& asked, const std::vector<cache::Loaded>& got) {
  if (asked.size() != got.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto* executable = dynamic_cast<const FakeExecutable*>(got[i].executable.get());
    if (executable == nullptr || executable->text != asked[i].key.text) return false;
  }
  return true;
}

inline std::size_t count(const std::vector<cache::Loaded>& got, cache::Hit hit) {
  std::size_t n = 0;
  for (const cache::Loaded& loaded : got) n += loaded.hit == hit ? 1 : 0;
  return n;
}

struct FakeBackend {
  std::string compiler = "fake 1.0", log = "0 spills";
  std::function<void()> on_compile = [] {};
  std::function<void(const cache::KernelRequest&, const cache::Binary&)> on_load = [](const auto&, const auto&) {};
  std::atomic<std::size_t> compiled{0}, batches{0}, largest_batch{0};

  cache::Maker backend() {
    return {
        .compile =
            [this](std::span<const cache::KernelRequest* const> batch) {
              ++batches;
              compiled += batch.size();
              std::size_t largest = largest_batch;
              while (largest < batch.size() && !largest_batch.compare_exchange_weak(largest, batch.size())) {
              }
              on_compile();
              std::string image;
              for (const auto* r : batch) image += r->entry + "=" + r->key.text + "\n";
              return cache::Binary{std::make_shared<const std::string>(std::move(image)), compiler, log};
            },
        .load = [this](const cache::KernelRequest& r,
                       const cache::Binary& binary) -> std::shared_ptr<cache::Executable> {
          on_load(r, binary);
          const std::string start = r.entry + "=";
          const std::size_t at = binary.image->find(start);
          if (at == std::string::npos) throw std::runtime_error("no such symbol: " + r.entry);
          const std::size_t begin = at + start.size();
          return std::make_shared<FakeExecutable>(binary.image->substr(begin, binary.image->find('\n', begin) - begin));
        },
        .compiler = [this] { return compiler; },
    };
  }

  /// The result of a fresh process.
  std::vector<cache::Loaded> get_fresh(const std::vector<cache::KernelRequest>& asked,
                                       cache::CacheStats* stats = nullptr) {
    cache::KernelCache cache;
    auto got = cache.get(asked, backend());
    if (stats != nullptr) *stats = cache.stats();
    return got;
  }
};

}  // namespace tarry::test
