// Loaded kernels of this process, least recently used first out. Not thread-safe: KernelCache holds its lock.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "cache/types.h"
#include "support/hash.h"

namespace tarry::cache {

/// Key material with its hash. Equality compares the bytes; the hash only chooses where to look.
struct Material {
  explicit Material(std::string b) : bytes(std::move(b)), hash(support::hash_bytes(bytes)) {}
  std::string bytes;
  support::Hash128 hash;
};
using MaterialPtr = std::shared_ptr<const Material>;

struct MaterialHasher {
  std::size_t operator()(const MaterialPtr& m) const noexcept { return m->hash.lo; }
};
struct MaterialEqual {
  bool operator()(const MaterialPtr& a, const MaterialPtr& b) const noexcept {
    return a == b || (a->hash == b->hash && a->bytes == b->bytes);
  }
};
template <class T>
using MaterialMap = std::unordered_map<MaterialPtr, T, MaterialHasher, MaterialEqual>;

class MemoryLayer {
 public:
  explicit MemoryLayer(std::size_t capacity) : capacity_(capacity) {}

  /// Null where absent; a hit becomes the most recently used.
  std::shared_ptr<Executable> find(const MaterialPtr& material) {
    const auto found = index_.find(material);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->executable;
  }

  /// Returns what had to go, for the caller to destroy outside its lock: unloading a kernel may wait for the device.
  [[nodiscard]] std::shared_ptr<Executable> insert(const MaterialPtr& material,
                                                   std::shared_ptr<Executable> executable) {
    if (capacity_ == 0 || index_.contains(material)) return nullptr;
    std::list<Item> item;
    item.push_back({material, std::move(executable)});
    index_.emplace(material, item.begin());
    order_.splice(order_.begin(), item);
    if (order_.size() <= capacity_) return nullptr;
    std::shared_ptr<Executable> removed = std::move(order_.back().executable);
    index_.erase(order_.back().material);
    order_.pop_back();
    return removed;
  }

  /// Empties this and returns what was in it, again for the caller to destroy.
  [[nodiscard]] MemoryLayer clear() { return std::exchange(*this, MemoryLayer(capacity_)); }

 private:
  struct Item {
    MaterialPtr material;
    std::shared_ptr<Executable> executable;
  };
  std::size_t capacity_;
  std::list<Item> order_;  // most recently used first
  MaterialMap<std::list<Item>::iterator> index_;
};

}  // namespace tarry::cache
