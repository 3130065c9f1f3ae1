// Linear probing; an entry of an older epoch is free.
#include "graph/fusion/number_table.h"

namespace tarry::graph {

void NumberTable::clear() {
  size_ = 0;
  ++epoch_;
}

NumberTable::Entry& NumberTable::at(std::uint64_t key) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t i = (key * 0x9E3779B97F4A7C15u) >> 32 & mask;
  while (entries_[i].epoch == epoch_ && entries_[i].key != key) i = (i + 1) & mask;
  return entries_[i];
}

std::pair<std::uint32_t, bool> NumberTable::insert(std::uint64_t key, std::uint32_t value) {
  if (2 * size_ >= entries_.size()) {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& e : old)
      if (e.epoch == epoch_) at(e.key) = e;
  }
  Entry& e = at(key);
  if (e.epoch == epoch_) return {e.value, false};
  e = {key, value, epoch_};
  ++size_;
  return {value, true};
}

std::optional<std::uint32_t> NumberTable::find(std::uint64_t key) {
  const Entry& e = at(key);
  return e.epoch == epoch_ ? std::optional(e.value) : std::nullopt;
}

}  // namespace tarry::graph
