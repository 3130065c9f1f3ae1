// Where warm puts kernels: a directory or a bundle.
#pragma once

#include <tarry/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "cache/entry_format.h"

namespace tarry::runtime {

/// Safe for any number of threads.
class WarmStore {
 public:
  virtual ~WarmStore() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  virtual std::optional<cache::Entry> find(const std::string& material) = 0;
  virtual std::error_code add(const cache::Entry& entry) = 0;
  virtual void finish() = 0;  ///< after the last add; throws InvalidArgument where the result cannot be written
  [[nodiscard]] static std::int64_t size_of(const cache::Entry& entry) {
    return static_cast<std::int64_t>(cache::encode(entry).size());
  }
};

/// `out` as WarmOptions::out says. Throws InvalidArgument where it cannot be used.
std::unique_ptr<WarmStore> open_warm_store(const std::string& out, Where where);

}  // namespace tarry::runtime
