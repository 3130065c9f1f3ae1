// mmap and madvise.
#include "runtime/device/file_buffer.h"

#include <cerrno>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "support/fault.h"

namespace tarry::runtime {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::shared_ptr<FileBuffer> FileBuffer::map(support::OpenFile file, std::size_t offset, std::size_t bytes,
                                            std::error_code& why) {
  if (bytes == 0) return std::shared_ptr<FileBuffer>(new FileBuffer(std::move(file), offset, Mapping{}, 0, 0));
  const std::size_t first = offset % page_bytes();  // mappings begin at pages
  Mapping mapping{nullptr, first + bytes};
  std::error_code pretended;
  if (support::fault::fails(support::fault::Site::File)) pretended = std::make_error_code(std::errc::no_such_device);
  if (support::fault::fails(support::fault::Site::Allocation))
    pretended = std::make_error_code(std::errc::not_enough_memory);
  if (!pretended)
    mapping.memory =
        mmap(nullptr, mapping.bytes, PROT_READ, MAP_SHARED, file.descriptor(), static_cast<off_t>(offset - first));
  if (pretended || mapping.memory == MAP_FAILED) {
    why = pretended ? pretended : std::error_code(errno, std::generic_category());
    return nullptr;
  }
  madvise(mapping.memory, mapping.bytes, MADV_SEQUENTIAL);  // advice: what is read next is asked for early
  return std::shared_ptr<FileBuffer>(new FileBuffer(std::move(file), offset, mapping, first, bytes));
}

FileBuffer::~FileBuffer() {
  if (mapping_.memory != nullptr) munmap(mapping_.memory, mapping_.bytes);
}

void FileBuffer::read(std::size_t at, std::size_t count, void* to) const {
  for (auto* out = static_cast<std::byte*>(to); count > 0;) {
    const ssize_t got = pread(file_.descriptor(), out, count, static_cast<off_t>(offset_ + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Buffer::read(at, count, out);  // the mapping says what is wrong
    out += got;
    at += static_cast<std::size_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

void FileBuffer::drop(std::size_t from, std::size_t to) const noexcept {
  const std::size_t page = page_bytes();
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (start + from + page - 1) / page * page, end = (start + to) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace tarry::runtime
