// KernelCache: from key material to a loaded executable: memory LRU, single flight per kernel, disk layers.
// Knows bytes, not nodes and not devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/cache.h>

#include "support/hash.h"

namespace tarry::cache {

inline constexpr std::uint32_t kFormatVersion = 1;

/// Everything that can change a binary. Stored with the entry and compared, not only hashed.
struct KernelKey {
  std::string text;                            ///< complete source of the kernel
  std::string options;                         ///< compiler options
  std::string target;                          ///< "sm_90", "x86-64-v3"
  std::string mode;                            ///< "strict", "relaxed"
  [[nodiscard]] std::string material() const;  ///< canonical bytes of all of it and the format version
  [[nodiscard]] support::Hash128 hash() const;
};

/// The contents of KernelKey::material().
struct KeyFields {
  std::string_view format, target, mode, options, text;
};
/// The key as people write it: 32 hexadecimal digits, the hash of the material.
std::string key_of(std::string_view material);
/// Views into `material`; nullopt for bytes that no version of material() made.
std::optional<KeyFields> parse_material(std::string_view material);

/// One kernel that a plan needs.
struct KernelRequest {
  KernelKey key;
  std::string entry;           ///< symbol to look up in the binary
  const void* user = nullptr;  ///< the caller's own data (its KernelSource), passed to compile unchanged
};

/// A compiled image; kernels of one batch share it.
struct Binary {
  std::shared_ptr<const std::string> image;
  std::string compiler;  ///< name and version, e.g. "nvrtc 13.0"; the words that Backend::compiler() uses
  std::string log;       ///< what the compiler said (registers, spills)
};

/// A kernel ready to launch; the device defines what is inside.
class Executable {
 public:
  virtual ~Executable() = default;
};

enum class Hit : std::uint8_t {
  Memory,
  Disk,
  Compiled,
  None,  ///< no layer holds the kernel and nothing here compiles: it has no executable
};

using CacheStats = CacheCounters;

/// How the owner compiles and loads. Both may throw; a throw reaches every caller that waits for the same kernel.
struct Backend {
  /// Compiles up to 8 requests into one image; nullopt where nothing here can compile, whatever the kernels.
  std::function<std::optional<Binary>(std::span<const KernelRequest* const>)> compile;
  std::function<std::shared_ptr<Executable>(const KernelRequest&, const Binary&)> load;
  std::function<std::string()> compiler;  ///< name and version of the compiler that is present, "" where none
};

struct Loaded {
  std::shared_ptr<Executable> executable;  ///< null for Hit::None
  Hit hit{};
  double compile_seconds = 0;  ///< this kernel's share of its batch; 0 where nothing was compiled
};

class KernelCache {
 public:
  explicit KernelCache(std::size_t memory_capacity = 4096);
  ~KernelCache();
  /// One Loaded per request, in order. Kernels that no layer holds compile in batches of at most 8, batches in
  /// parallel; the same kernel asked for by many threads compiles once.
  std::vector<Loaded> get(std::span<const KernelRequest> requests, const Backend& backend);
  /// The same of what memory and disk hold; the others are Hit::None, and nothing is compiled, thrown or noted for
  /// them.
  std::vector<Loaded> find(std::span<const KernelRequest> requests, const Backend& backend);
  [[nodiscard]] CacheStats stats() const;
  /// The latest kernels that no disk layer held, explained by what is in the layers now.
  [[nodiscard]] std::vector<CacheMiss> misses() const;
  void clear_memory();  ///< forgets loaded kernels (tests)
 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::cache
