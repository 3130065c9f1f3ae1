// A fuzz target: one reader of files that anybody may have written. libFuzzer calls the first function, as does
// driver.cpp where a compiler has no libFuzzer. It returns, or it has found a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tarry::test {

/// Inputs to start from: whole files of every kind, and those that once were read wrongly.
std::vector<std::string> seeds();

/// Bytes as a file that has no name on a disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(fd_, bytes.data() + done, bytes.size() - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

/// Ends the process as a sanitizer would: something else than a result or a typed error came out.
[[noreturn]] void found(std::string_view what);

}  // namespace tarry::test
