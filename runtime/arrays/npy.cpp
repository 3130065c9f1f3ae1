// save_npy, load_npy and open_npy: arrays in files.
#include <tarry/create.h>
#include <tarry/io.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "graph/record/record.h"
#include "runtime/arrays/host_storage.h"
#include "runtime/arrays/npy_header.h"
#include "runtime/device/file_buffer.h"
#include "runtime/evaluate/chunks.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/out_of_memory.h"
#include "support/saved_file.h"

namespace tarry {
inline namespace v0 {
namespace {

void swap_bytes(char* data, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

/// False where the elements cannot be read to their end.
bool read_to(char* data, const support::OpenFile& file, std::uint64_t offset, std::size_t bytes) {
  if (support::fault::fails(support::fault::Site::File)) return false;
  while (bytes > 0) {
    const ssize_t got = ::pread(file.descriptor(), data, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // 0: somebody cut the file
    data += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// x with its dimensions the other way round: what row-major elements are where they are meant column-major.
Array transposed(const Array& x, std::string_view op, Where where) {
  const graph::Edge e = detail::edge(x, op, where);
  graph::IndexMap map;
  const auto rank = static_cast<std::int32_t>(e.node()->rank);
  for (std::int32_t d = 0; d < rank; ++d) map.push_back({rank - 1 - d, 0, 1});
  const auto shape = e.node()->shape();
  return detail::wrap(graph::record_view(e, map, std::vector<std::int64_t>(shape.rbegin(), shape.rend()), where));
}

/// The shape of the row-major array whose elements follow the header.
std::vector<std::int64_t> stored_shape(const runtime::NpyHeader& h) {
  return h.fortran_order ? std::vector<std::int64_t>(h.shape.rbegin(), h.shape.rend()) : h.shape;
}

/// A file that elements are written to as they come, touched with the first of them: they may be of that very file.
class NpyWriter final : public runtime::Sink {
 public:
  NpyWriter(const std::string& path, Dtype dtype, std::span<const std::int64_t> shape, Where where)
      : path_(path), where_(where), header_(runtime::npy_header(dtype, shape)), file_(path) {}
  [[nodiscard]] bool takes_pieces() const { return file_.appears_whole(); }
  void write(std::size_t offset, const void* data, std::size_t bytes) override {
    if (!std::exchange(begun_, true)) check(file_.write(0, header_.data(), header_.size()));
    check(file_.write(header_.size() + offset, data, bytes));
  }
  void commit() { check(file_.commit()); }

 private:
  void check(std::error_code error) const {
    if (error) TARRY_THROW(InvalidArgument, "save_npy", where_, "cannot write " + path_ + ": " + error.message());
  }
  const std::string& path_;
  const Where where_;
  const std::string header_;
  support::SavedFile file_;
  bool begun_ = false;
};

}  // namespace

void save_npy(const std::string& path, const Array& x, Where location) try {
  const Where where = location;
  const graph::Edge e = detail::defined_edge(x, "save_npy", where);
  const graph::Node& n = *e.node();
  if (runtime::npy_type_code(n.dtype).empty()) {
    TARRY_THROW(InvalidDtype, "save_npy", where,
                "the format has no name for " + std::string(name(n.dtype)) + "; convert with astype(x, float32) first");
  }
  NpyWriter file(path, n.dtype, n.shape(), where);
  if (!file.takes_pieces() || !runtime::stream(e, file, where)) {
    const std::shared_ptr<const void> data = runtime::host_data(e, where);
    file.write(0, data.get(), static_cast<std::size_t>(graph::element_count(n.shape())) * itemsize(n.dtype));
  }
  file.commit();
}
TARRY_OR_OUT_OF_MEMORY("save_npy", location)

Array load_npy(const std::string& path, Where location) try {
  const Where where = location;
  const support::OpenFile file = runtime::open_npy_file(path, "load_npy", where);
  const runtime::NpyHeader h = runtime::read_npy_header(file, path, "load_npy", where);
  const std::vector<std::int64_t> shape = stored_shape(h);
  std::shared_ptr<graph::Storage> storage = runtime::host_storage("load_npy", h.dtype, shape, where);
  auto* const data = static_cast<char*>(storage->buffer->data);
  if (!read_to(data, file, h.offset, h.count * itemsize(h.dtype)))
    TARRY_THROW(InvalidArgument, "load_npy", where, "cannot read the elements of " + path);
  if (h.big_endian) swap_bytes(data, h.count, itemsize(h.dtype));
  if (h.dtype == bool_) runtime::normalise_bools(data, h.count);
  const Array stored =
      detail::wrap(graph::make_input(h.dtype, shape, std::move(storage), graph::context().device, where));
  return h.fortran_order ? transposed(stored, "load_npy", where) : stored;
}
TARRY_OR_OUT_OF_MEMORY("load_npy", location)

Array open_npy(const std::string& path, Where location) try {
  const Where where = location;
  support::OpenFile file = runtime::open_npy_file(path, "open_npy", where);
  const runtime::NpyHeader h = runtime::read_npy_header(file, path, "open_npy", where);
  if (h.big_endian && itemsize(h.dtype) > 1) {
    TARRY_THROW(InvalidArgument, "open_npy", where,
                path + " holds big-endian elements, which kernels cannot read in place; load_npy converts them");
  }
  if (h.offset % itemsize(h.dtype) != 0) {
    TARRY_THROW(InvalidArgument, "open_npy", where,
                "the elements of " + path + " begin at byte " + std::to_string(h.offset) +
                    ", not at a multiple of their " + std::to_string(itemsize(h.dtype)) +
                    " bytes; load_npy copies them");
  }
  std::error_code error;
  auto storage = std::make_shared<graph::Storage>();
  storage->buffer = runtime::FileBuffer::map(std::move(file), h.offset, h.count * itemsize(h.dtype), error);
  if (error == std::errc::not_enough_memory) {
    TARRY_THROW(OutOfMemory, "open_npy", where, "there is no room to map " + path + " into memory: " + error.message());
  }
  if (!storage->buffer) {
    TARRY_THROW(InvalidArgument, "open_npy", where, "cannot map " + path + " into memory: " + error.message());
  }
  const std::vector<std::int64_t> shape = stored_shape(h);
  storage->strides = graph::row_major_strides(shape);
  storage->any_byte = h.dtype == bool_;
  const Array stored =
      detail::wrap(graph::make_input(h.dtype, shape, std::move(storage), graph::context().device, where));
  return h.fortran_order ? transposed(stored, "open_npy", where) : stored;
}
TARRY_OR_OUT_OF_MEMORY("open_npy", location)

}  // namespace v0
}  // namespace tarry
