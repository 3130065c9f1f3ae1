// NumberTable: an open-addressing hash table of 64-bit keys that is cleared in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tarry::graph {

/// 64-bit keys to numbers; cleared in constant time.
class NumberTable {
 public:
  void clear();
  /// The number of `key`, and whether it is new; then it becomes `value`.
  std::pair<std::uint32_t, bool> insert(std::uint64_t key, std::uint32_t value);
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t key);

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t value = 0, epoch = 0;
  };
  Entry& at(std::uint64_t key);
  std::vector<Entry> entries_ = std::vector<Entry>(256);
  std::size_t size_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace tarry::graph
