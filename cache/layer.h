// Layer: a place on disk that holds kernels. What cannot be used is a miss; nothing here throws for a reason of the
// file system. Layers are searched in order, at most the first of them is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "cache/entry_format.h"

namespace tarry::cache {

enum class Access : std::uint8_t { ReadWrite, ReadOnly };

struct Written {
  std::error_code error;
  std::int64_t evicted = 0;  ///< entries removed to stay below the capacity
  bool warned = false;       ///< the layer has said itself why it failed
};

/// A find of visit(): an entry, or the remains of one.
struct Found {
  std::filesystem::path file;    ///< the file that holds it; every entry of a bundle is in the same
  std::uint64_t bytes = 0;       ///< its size, with the image
  std::uint64_t shared = 0;      ///< of these, what was visited before with another entry of the same bundle
  std::int64_t used = 0;         ///< seconds since 1970 of its last use, to the hour; of a bundle when it was made
  const Entry* entry = nullptr;  ///< for the time of the call; null where it is damaged
  std::string defect;            ///< what is wrong with it
};

using Visitor = std::function<void(const Found&)>;

class Layer {
 public:
  Layer() = default;
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// The entry of this key material, or nullopt where it is absent or damaged.
  virtual std::optional<Entry> read(const std::string& material) = 0;
  /// Removes the entry: its image did not load. ReadOnly: does nothing.
  virtual void discard(const std::string& material) = 0;
  /// Adds or replaces an entry. ReadOnly: an error.
  virtual Written write(const Entry& entry) = 0;

  /// The lock that whoever compiles this kernel holds meanwhile (FlightLock). ReadOnly: "".
  [[nodiscard]] virtual std::filesystem::path lock_file(const std::string& /*material*/) const { return {}; }

  /// Calls `visitor` for every entry and for everything damaged, in no particular order. Changes nothing.
  virtual void visit(const Visitor& visitor) = 0;

  struct Contents {
    std::uint64_t kernels = 0, bytes = 0;
  };
  /// Counted without looking into the entries.
  [[nodiscard]] virtual Contents contents() const = 0;
  [[nodiscard]] virtual Access access() const = 0;
  [[nodiscard]] virtual const std::filesystem::path& path() const = 0;  ///< directory or bundle
  /// "/path (12 kernels, 0.3 MiB)"
  [[nodiscard]] std::string describe() const;
};

}  // namespace tarry::cache
