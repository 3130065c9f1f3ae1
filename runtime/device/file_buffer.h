// FileBuffer: elements of a file as memory of the host. Nothing is read before a kernel or a copy asks for it.
#pragma once

#include <cstddef>
#include <memory>
#include <system_error>

#include "graph/storage.h"
#include "support/file.h"

namespace tarry::runtime {

/// Part of a file, mapped for reading. The file keeps its size and contents while the buffer lives.
class FileBuffer final : public graph::Buffer {
 public:
  /// `bytes` from `offset` on, which the file has; nullptr where the system refuses, and then `why` says why.
  static std::shared_ptr<FileBuffer> map(support::OpenFile file, std::size_t offset, std::size_t bytes,
                                         std::error_code& why);
  ~FileBuffer() override;

  /// From the file: copies of memory that nobody has touched would first map it page by page.
  void read(std::size_t at, std::size_t count, void* to) const override;

  /// Lets go of the pages between two places of the buffer that lie wholly within. Their contents stay in the file, and
  /// mostly in the system's cache of it.
  void drop(std::size_t from, std::size_t to) const noexcept;

 private:
  struct Mapping {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  FileBuffer(support::OpenFile file, std::size_t offset, Mapping mapping, std::size_t first, std::size_t size)
      : Buffer(cpu, graph::Owner::Mapped, static_cast<std::byte*>(mapping.memory) + first, size),
        file_(std::move(file)),
        offset_(offset),
        mapping_(mapping) {}

  const support::OpenFile file_;
  const std::size_t offset_;  ///< of the first element in the file
  const Mapping mapping_;
};

}  // namespace tarry::runtime
