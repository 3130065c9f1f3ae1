// Images that are loaded now. The entries of one batch come from files of their own and hold the same image; they get
// one copy of it, so that the device, which knows images by address, loads it once.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "support/fork.h"
#include "support/hash.h"

namespace tarry::cache {

class SharedImages {
 public:
  /// The copy of these bytes that somebody holds, or `image` itself. Thread-safe.
  std::shared_ptr<const std::string> share(std::string image) {
    const support::Hash128 checksum = support::checksum_bytes(image);
    const std::lock_guard lock(mutex_);
    std::weak_ptr<const std::string>& known = images_[checksum];
    if (auto held = known.lock(); held && *held == image) return held;
    auto made = std::make_shared<const std::string>(std::move(image));
    known = made;
    if (images_.size() > 2 * live_) forget_unused();
    return made;
  }

 private:
  /// At a cost that stays constant per image.
  void forget_unused() {
    std::erase_if(images_, [](const auto& image) { return image.second.expired(); });
    live_ = std::max<std::size_t>(images_.size(), 64);
  }

  support::Mutex mutex_;
  std::unordered_map<support::Hash128, std::weak_ptr<const std::string>, support::Hash128Hasher> images_;
  std::size_t live_ = 64;
};

}  // namespace tarry::cache
