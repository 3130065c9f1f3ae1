// Versions of borrowed memory.
#include "runtime/arrays/borrowed.h"

#include <fmt/format.h>

#include <vector>

#include "graph/pending.h"
#include "graph/record/record.h"
#include "runtime/evaluate/auto_evaluate.h"
#include "runtime/evaluate/claims.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "support/check.h"
#include "support/env.h"

namespace tarry::runtime {
namespace {

/// Whoever holds this version from now on has a copy of it. What reads the memory goes on first.
void move_to_copy(graph::Storage& s, const graph::Node& n, Where where) {
  const std::size_t size = itemsize(n.dtype);
  const auto bytes = static_cast<std::size_t>(graph::element_count(n.shape())) * size;
  std::unique_lock lock(graph::engine_mutex());
  wait_for_readers(s, lock, "touch", where);
  lock.unlock();
  std::shared_ptr<graph::Buffer> copy = host_buffer(std::max<std::size_t>(bytes, 1), where);
  pack(copy->data, s.buffer->data, s.offset, s.strides, n.shape(), size);
  lock.lock();
  wait_for_readers(s, lock, "touch", where);  // others may have begun meanwhile
  s.buffer = std::move(copy);
  s.offset = 0;
  s.strides = graph::row_major_strides(n.shape());
  s.contiguous = true;
}

}  // namespace

support::Hash128 BorrowCheck::hash() const {
  const std::size_t size = itemsize(dtype_);
  std::vector<char> packed(static_cast<std::size_t>(graph::element_count(shape_.span())) * size);
  pack(packed.data(), storage_.buffer->data, storage_.offset, storage_.strides, shape_.span(), size);
  return support::hash_bytes(packed.data(), packed.size());
}

void BorrowCheck::remember() {
  const std::lock_guard lock(mutex_);
  if (!hash_) hash_ = hash();
}

void BorrowCheck::use() {
  const std::lock_guard lock(mutex_);
  const support::Hash128 now = hash();
  if (!hash_) hash_ = now;
  if (*hash_ == now) return;
  TARRY_THROW(InvalidArgument, "borrow", where_,
              fmt::format("the memory of {} {} changed while it was borrowed; call touch() before it changes",
                          name(dtype_), graph::to_string(shape_.span())));
}

void watch(graph::Storage& storage, Dtype dtype, std::span<const std::int64_t> shape, Where where) {
  if (support::env::has_word("TARRY_CHECK", "borrow"))
    storage.check = std::make_shared<BorrowCheck>(storage, dtype, shape, where);
}

graph::Edge touch(const graph::Edge& array, Where where) {
  graph::Node& n = *array.node();
  std::shared_ptr<graph::Storage> old;
  bool borrowed = false;
  {
    const std::lock_guard lock(graph::engine_mutex());
    if (n.op == graph::Op::Input && !n.extra->results.empty()) old = n.extra->results.front();
    borrowed = old && old->buffer->owner == graph::Owner::Borrowed;
  }
  if (!borrowed)
    TARRY_THROW(InvalidArgument, "touch", where,
                "the array does not read borrowed memory, and its values never change");
  if (old->check) old->check->use();  // a change before its announcement is one that nobody announced
  std::vector<graph::Edge> readers = graph::pending::take_readers(n);
  evaluate_by_device(readers, where);
  readers.clear();
  auto next = std::make_shared<graph::Storage>();
  next->buffer = old->buffer;
  next->offset = old->offset;
  next->strides = old->strides;
  next->contiguous = old->contiguous;
  next->any_byte = old->any_byte;
  next->version = old->version + 1;
  watch(*next, n.dtype, n.shape(), where);
  graph::Edge renewed = graph::make_input(n.dtype, n.shape(), std::move(next), n.device, where);
  // Besides the handle that is renewed: other handles, work of other threads, the same memory on another device.
  constexpr std::uint32_t kRefs = 2;  // the handle and `array`
  constexpr long kShares = 2;         // the node's and `old`
  if (n.refs.load(std::memory_order_acquire) > kRefs || old.use_count() > kShares) move_to_copy(*old, n, where);
  return renewed;
}

}  // namespace tarry::runtime
