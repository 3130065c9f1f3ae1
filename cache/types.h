// Values that go into the kernel cache and come out: requests, compiled images, executables, and how their owner makes
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cache/kernel_key.h"

namespace tarry::cache {

/// One kernel that a plan needs.
struct KernelRequest {
  KernelKey key;
  std::string entry;           ///< symbol to look up in the binary
  const void* user = nullptr;  ///< the caller's own data (its KernelSource), passed to compile unchanged
};

/// A compiled image; kernels of one batch share it.
struct Binary {
  std::shared_ptr<const std::string> image;
  std::string compiler;  ///< name and version, e.g. "nvrtc 13.0"; the words that Maker::compiler() uses
  std::string log;       ///< what the compiler said (registers, spills)
};

/// A kernel ready to launch; the device defines what is inside.
class Executable {
 public:
  virtual ~Executable() = default;
  std::int64_t spilled_bytes = 0;  ///< by the compiler's report: stored and loaded for want of registers
};

enum class Hit : std::uint8_t {
  Memory,
  Disk,
  Compiled,
  None,  ///< no layer holds the kernel and nothing here compiles: it has no executable
};

/// How the owner compiles and loads. Both may throw; a throw reaches every caller that waits for the same kernel.
struct Maker {
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

}  // namespace tarry::cache
