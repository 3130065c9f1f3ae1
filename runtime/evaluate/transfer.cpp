// Transfers and host reads.
#include "runtime/evaluate/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "codegen/interpret/interpreter.h"
#include "graph/record/record.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/reading.h"
#include "runtime/plan/compiled_plan.h"
#include "runtime/rethrow.h"
#include "support/check.h"

namespace tarry::runtime {
namespace {

constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

void wait_for(const graph::Buffer& b) {
  if (b.last_write != 0) backend(b.device).wait(b.last_write, kForever);
}

}  // namespace

void pack(void* to, const void* from, std::int64_t offset, const graph::Dims& strides,
          std::span<const std::int64_t> shape, std::size_t size) {
  const std::int64_t count = graph::element_count(shape);
  if (count == 0) return;
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from) + offset * static_cast<std::int64_t>(size);
  const int rank = static_cast<int>(shape.size());
  graph::Dims index = graph::Dims::filled(rank, 0);
  std::int64_t at = 0;
  const std::int64_t row = rank ? shape.back() : 1;
  const std::int64_t step = rank ? strides[rank - 1] : 0;
  for (std::int64_t done = 0; done < count; done += row) {
    if (step == 1) {
      std::memcpy(out, in + at * static_cast<std::int64_t>(size), static_cast<std::size_t>(row) * size);
      out += static_cast<std::size_t>(row) * size;
    } else {
      for (std::int64_t i = 0; i < row; ++i, out += size)
        std::memcpy(out, in + (at + i * step) * static_cast<std::int64_t>(size), size);
    }
    for (int d = rank - 1; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[static_cast<std::size_t>(d)]) break;
      at -= strides[d] * shape[static_cast<std::size_t>(d)];
      index[d] = 0;
    }
  }
}

namespace {

/// The same elements, lazy.
graph::Edge copied(const graph::Edge& e, Where where) {
  const auto shape = e.node()->shape();
  return graph::record_view(e, graph::broadcast_map(shape, shape), shape, where);
}

/// The elements where they are, row-major. Strided memory of a GPU is packed there.
std::shared_ptr<graph::Storage> row_major(const std::shared_ptr<graph::Storage>& s, std::span<const std::int64_t> shape,
                                          Dtype dtype) {
  const Device device = s->buffer->device;
  if (device.kind != DeviceKind::Cuda || s->contiguous) return s;
  const graph::Edge packed = copied(graph::make_input(dtype, shape, s, device, Where{}), Where{});
  evaluate({&packed, 1}, Where{});
  const std::lock_guard lock(graph::engine_mutex());
  return packed.node()->extra->results.front();
}

/// Counts and notes an upload that is about to begin.
void note_upload(Crossings& crossings, Backend& to, Device from, std::size_t bytes, std::string reason) {
  Counters& c = crossings.counters;
  if (!crossings.busy) crossings.busy = bytes != 0 && !to.wait(to.record(), std::chrono::nanoseconds::zero());
  ++c.uploads;
  c.bytes_uploaded += static_cast<std::int64_t>(bytes);
  if (*crossings.busy) c.bytes_overlapped += static_cast<std::int64_t>(bytes);
  if (crossings.transfers)
    crossings.transfers->push_back({from, to.device(), static_cast<std::int64_t>(bytes), std::move(reason)});
}

const char* reason_of(const graph::Storage& s) {
  if (s.replica) return "on another device before";
  return s.version > 0 ? "touched" : "first use";
}

}  // namespace

std::shared_ptr<graph::Buffer> bring(const std::shared_ptr<graph::Storage>& value, const graph::Dims& shape,
                                     Dtype dtype, Backend& to, Crossings& crossings) {
  graph::Storage& storage = *value;
  const auto is_there = [&] { return storage.replica && storage.replica->device == to.device(); };
  {
    const std::lock_guard lock(storage.replica_mutex);
    if (is_there()) return storage.replica;
  }
  const std::shared_ptr<graph::Storage> source_value = row_major(value, shape.span(), dtype);
  const graph::Buffer& there = *source_value->buffer;
  const std::lock_guard lock(storage.replica_mutex);
  if (is_there()) return storage.replica;
  const std::size_t size = itemsize(dtype);
  const auto count = static_cast<std::size_t>(graph::element_count(shape.span()));
  constexpr std::size_t kMost = graph::Graph::kUnaddressable;  // more overflows, and no device has it
  const std::size_t bytes = count < kMost / size ? count * size : kMost;
  std::shared_ptr<graph::Buffer> copy = to.allocate(bytes);
  if (there.device.kind == DeviceKind::Cuda) {
    if (crossings.transfers)
      crossings.transfers->push_back({there.device, to.device(), static_cast<std::int64_t>(bytes), reason_of(storage)});
    wait_for(there);
    if (bytes)
      backend(there.device).download(copy->data, there, static_cast<std::size_t>(source_value->offset) * size, bytes);
    ++crossings.counters.downloads;
    crossings.counters.bytes_downloaded += static_cast<std::int64_t>(bytes);
  } else {
    note_upload(crossings, to, there.device, bytes, reason_of(storage));
    if (!storage.contiguous) {
      std::vector<unsigned char> packed(bytes);
      pack(packed.data(), storage.buffer->data, storage.offset, storage.strides, shape.span(), size);
      if (bytes) to.upload(*copy, packed.data(), bytes);
    } else if (bytes) {
      const std::size_t first = static_cast<std::size_t>(storage.offset) * size;
      to.upload(
          *copy, [&](void* out, std::size_t at, std::size_t part) { storage.buffer->read(first + at, part, out); },
          bytes);
    }
  }
  storage.replica = copy;
  storage.parts.clear();
  return copy;
}

namespace {

/// One of several values in a block of memory.
class PartBuffer final : public graph::Buffer {
 public:
  PartBuffer(std::shared_ptr<graph::Buffer> block, std::size_t at, std::size_t size)
      : Buffer(block->device, block->owner, static_cast<std::byte*>(block->data) + at, size), block_(std::move(block)) {
    last_write = block_->last_write;
  }

 private:
  const std::shared_ptr<graph::Buffer> block_;
};

struct Packed {
  const Wanted* wanted;
  std::size_t at, bytes;  // in the block
};

/// The part of `values` that travels together, from the first byte of a block on.
std::vector<Packed> find_small(std::span<const Wanted> values, const Backend& to) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;  // 1.2 us of a bus of 55 GB/s, where a copy of its own takes 3
  constexpr std::size_t kMost = std::size_t{4} << 20;    // of a block, which lives as long as any of its values
  std::vector<Packed> found;
  std::size_t end = 0;
  for (const Wanted& w : values) {
    graph::Storage& s = *w.value;
    const auto bytes = static_cast<std::size_t>(graph::element_count(w.shape.span())) * itemsize(w.dtype);
    if (s.buffer->device.kind == DeviceKind::Cuda || !s.contiguous || bytes == 0 || bytes > kSmall ||
        end + bytes > kMost)
      continue;
    if (std::any_of(found.begin(), found.end(), [&](const Packed& p) { return p.wanted->value == w.value; })) continue;
    {
      const std::lock_guard lock(s.replica_mutex);
      if (s.replica && s.replica->device == to.device()) continue;
    }
    found.push_back({&w, end, bytes});
    end += arena_bytes(bytes);
  }
  return found;
}

}  // namespace

void bring_small(std::span<const Wanted> values, Backend& to, Crossings& crossings) {
  if (values.size() < 2) return;
  const std::vector<Packed> packed = find_small(values, to);
  if (packed.size() < 2) return;
  const std::size_t bytes = packed.back().at + packed.back().bytes;
  const std::shared_ptr<graph::Buffer> block = to.allocate(bytes);
  for (const Packed& p : packed)
    note_upload(crossings, to, p.wanted->value->buffer->device, p.bytes,
                reason_of(*p.wanted->value) + std::string(", with others"));
  to.upload(
      *block,
      [&](void* out, std::size_t at, std::size_t part) {
        for (const Packed& p : packed) {
          const std::size_t from = std::max(at, p.at), until = std::min(at + part, p.at + p.bytes);
          if (from >= until) continue;
          const graph::Storage& s = *p.wanted->value;
          const std::size_t first = static_cast<std::size_t>(s.offset) * itemsize(p.wanted->dtype);
          s.buffer->read(first + from - p.at, until - from, static_cast<std::byte*>(out) + (from - at));
        }
      },
      bytes);
  for (const Packed& p : packed) {
    graph::Storage& s = *p.wanted->value;
    const std::lock_guard lock(s.replica_mutex);
    if (s.replica && s.replica->device == to.device()) continue;  // another thread was faster
    s.replica = std::make_shared<PartBuffer>(block, p.at, p.bytes);
    s.parts.clear();
  }
}

std::shared_ptr<graph::Storage> bring_converted(const graph::Storage& value, const graph::Dims& shape, Dtype from,
                                                Dtype dtype, Backend& to, Crossings& crossings) {
  const auto convert = codegen::scalar_function(graph::Op::Cast, from, dtype);
  const std::size_t wide = itemsize(from), narrow = itemsize(dtype);
  const std::size_t bytes = static_cast<std::size_t>(graph::element_count(shape.span())) * narrow;
  auto there = std::make_shared<graph::Storage>();
  there->buffer = to.allocate(bytes);
  there->strides = graph::row_major_strides(shape.span());
  const std::size_t first = static_cast<std::size_t>(value.offset) * wide;
  const auto fill = [&](void* out, std::size_t at, std::size_t part) {
    alignas(16) std::array<std::byte, 1 << 14> block;
    for (std::size_t done = 0; done < part;) {
      const std::size_t count = std::min((part - done) / narrow, block.size() / wide);
      value.buffer->read(first + (at + done) / narrow * wide, count * wide, block.data());
      auto* const to_block = static_cast<std::byte*>(out) + done;
      for (std::size_t i = 0; i < count; ++i) convert(to_block + i * narrow, block.data() + i * wide, nullptr, nullptr);
      done += count * narrow;
    }
  };
  note_upload(crossings, to, value.buffer->device, bytes, fmt::format("{} as {}", reason_of(value), name(dtype)));
  if (bytes) to.upload(*there->buffer, fill, bytes);
  return there;
}

std::shared_ptr<graph::Storage> ready_storage(const graph::Edge& edge, Where where) {
  evaluate({&edge, 1}, where);
  std::unique_lock lock(graph::engine_mutex());
  graph::Node* n = edge.node();
  if (n->state.load(std::memory_order_acquire) == graph::State::Failed) std::rethrow_exception(n->extra->error);
  std::shared_ptr<graph::Storage> value = n->extra->results.at(edge.output());
  lock.unlock();
  if (value->faults) value->faults->rethrow();
  return value;
}

namespace {

/// Waits for the elements of `n` and copies them; what fails then is a kernel or the device, and the error says whose
/// values were read.
void download(void* to, const graph::Buffer& from, std::size_t offset, std::size_t bytes, const graph::Node& n,
              Where where) {
  try {
    wait_for(from);
    backend(from.device).download(to, from, offset, bytes);
  } catch (const Error& e) {
    rethrow(e, "read", where,
            fmt::format("{} (reading {} {} {} at {}){}", e.what(), graph::name(n.op), name(n.dtype),
                        graph::to_string(n.shape()), n.where().str(), describe_recent_work(e, from.device)));
  }
}

}  // namespace

void normalise_bools(void* bytes, std::size_t count) {
  auto* const b = static_cast<std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i) b[i] = b[i] != 0 ? 1 : 0;
}

void read(const graph::Edge& edge, void* destination, Where where) {
  const std::shared_ptr<graph::Storage> value = ready_storage(edge, where);
  const Reading reading(*value);
  const graph::Node* n = edge.node();
  const std::shared_ptr<graph::Storage> s = row_major(value, n->shape(), n->dtype);
  const std::size_t size = itemsize(n->dtype);
  const std::size_t bytes = static_cast<std::size_t>(graph::element_count(n->shape())) * size;
  if (bytes == 0) return;
  if (s->buffer->device.kind == DeviceKind::Cuda) {
    download(destination, *s->buffer, static_cast<std::size_t>(s->offset) * size, bytes, *n, where);
  } else if (s->contiguous) {
    std::memcpy(destination,
                static_cast<const unsigned char*>(s->buffer->data) + s->offset * static_cast<std::int64_t>(size),
                bytes);
  } else {
    pack(destination, s->buffer->data, s->offset, s->strides, n->shape(), size);
  }
  if (s->any_byte) normalise_bools(destination, bytes);
}

namespace {

/// Memory of the host that can be shared as it is.
bool is_plain(const graph::Storage& s, std::span<const std::int64_t> shape) {
  if (s.buffer->device.kind == DeviceKind::Cuda || !s.contiguous) return false;
  const auto* const first = static_cast<const std::uint8_t*>(s.buffer->data) + s.offset;  // bools: a byte each
  return !s.any_byte || std::all_of(first, first + graph::element_count(shape), [](std::uint8_t b) { return b <= 1; });
}

/// The elements of a box of `s`, of an array like `n`; those of a row lie side by side at the destination.
void read_box(const graph::Storage& s, const graph::Node& n, const graph::Dims& lo, const graph::Dims& extent,
              const graph::Dims& strides, std::byte* to, Where where) {
  const std::size_t size = itemsize(n.dtype);
  const int last = extent.size() - 1;
  const bool device = s.buffer->device.kind == DeviceKind::Cuda, run = s.strides[last] == 1;
  const std::int64_t pieces = run ? 1 : extent[last];
  const std::size_t bytes = static_cast<std::size_t>(run ? extent[last] : 1) * size;
  graph::Dims index = graph::Dims::filled(extent.size(), 0);
  for (std::int64_t left = graph::element_count(extent.span()) / extent[last]; left > 0; --left) {
    std::int64_t from = s.offset, at = 0;
    for (int d = 0; d <= last; ++d) {
      from += (lo[d] + index[d]) * s.strides[d];
      at += index[d] * strides[d];
    }
    for (std::int64_t i = 0; i < pieces; ++i) {
      const std::size_t first = static_cast<std::size_t>(from + i * s.strides[last]) * size;
      std::byte* const out = to + static_cast<std::size_t>(at + i) * size;
      device ? download(out, *s.buffer, first, bytes, n, where) : s.buffer->read(first, bytes, out);
    }
    for (int d = last; d-- > 0;) {
      if (++index[d] < extent[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace

void read_boxes(const graph::Edge& edge, std::span<const BoxPlace> boxes, const graph::Dims& strides, void* destination,
                Where where) {
  const graph::Node& n = *edge.node();
  const graph::State state = n.state.load(std::memory_order_acquire);
  const bool whole = state == graph::State::Ready || state == graph::State::Failed;
  std::vector<graph::Edge> parts;
  for (const BoxPlace& b : boxes) {
    if (whole) break;
    graph::IndexMap map;
    for (int d = 0; d < b.lo.size(); ++d) map.push_back({d, b.lo[d], 1});
    parts.push_back(graph::record_view(edge, map, b.extent.span(), where));
  }
  evaluate(parts, where);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const BoxPlace& b = boxes[i];
    const std::shared_ptr<graph::Storage> s = ready_storage(whole ? edge : parts[i], where);
    const Reading reading(*s);
    std::byte* const to = static_cast<std::byte*>(destination) + static_cast<std::size_t>(b.at) * itemsize(n.dtype);
    read_box(*s, n, whole ? b.lo : graph::Dims::filled(b.lo.size(), 0), b.extent, strides, to, where);
  }
}

std::shared_ptr<graph::Storage> shared_storage(const graph::Edge& edge, Where where) {
  std::shared_ptr<graph::Storage> s = ready_storage(edge, where);
  if (!s->any_byte || is_plain(*s, edge.node()->shape())) return s;
  return ready_storage(copied(edge, where), where);
}

std::shared_ptr<const void> host_data(const graph::Edge& edge, Where where) {
  const std::shared_ptr<graph::Storage> s = ready_storage(edge, where);
  const Reading reading(*s);
  const graph::Node* n = edge.node();
  const std::size_t size = itemsize(n->dtype);
  if (is_plain(*s, n->shape())) {
    return {s->buffer,
            static_cast<const unsigned char*>(s->buffer->data) + s->offset * static_cast<std::int64_t>(size)};
  }
  std::shared_ptr<graph::Buffer> copy = host_buffer(static_cast<std::size_t>(graph::element_count(n->shape())) * size);
  read(edge, copy->data, where);
  return {copy, copy->data};
}

std::shared_ptr<graph::Buffer> host_buffer(std::size_t bytes) { return backend(cpu).allocate(bytes); }

std::shared_ptr<graph::Buffer> host_buffer(std::size_t bytes, Where where) {
  try {
    return host_buffer(bytes);
  } catch (const OutOfMemory&) {
    if (!evaluate_pending({}, where)) throw;
  }
  return host_buffer(bytes);
}

}  // namespace tarry::runtime
