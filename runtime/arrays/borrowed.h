// Borrowed memory: announced changes, and TARRY_CHECK=borrow, which finds those that were not announced.
#pragma once

#include <tarry/dtype.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "graph/node.h"
#include "graph/storage.h"
#include "support/hash.h"

namespace tarry::runtime {

/// The record of TARRY_CHECK=borrow on borrowed memory.
class BorrowCheck final : public graph::UseCheck {
 public:
  BorrowCheck(const graph::Storage& storage, Dtype dtype, std::span<const std::int64_t> shape, Where where)
      : storage_(storage), dtype_(dtype), shape_(shape), where_(where) {}
  /// Hashes the bytes, unless their hash is known.
  void remember() override;
  /// Throws InvalidArgument where they are others.
  void use() override;

 private:
  [[nodiscard]] support::Hash128 hash() const;
  const graph::Storage& storage_;  // that owns this
  const Dtype dtype_;
  const graph::Dims shape_;
  const Where where_;  // of the borrow
  std::mutex mutex_;
  std::optional<support::Hash128> hash_;
};

/// Attaches a check where the switch asks for it.
void watch(graph::Storage& storage, Dtype dtype, std::span<const std::int64_t> shape, Where where);

/// Evaluates what was recorded from the borrowed array, gives others who hold it a copy, and returns the array's next
/// version over the same memory. Throws InvalidArgument where it is not borrowed; then, and where the evaluate or the
/// copy fails, nothing has changed.
graph::Edge touch(const graph::Edge& array, Where where);

}  // namespace tarry::runtime
