// ElementForm: places along axes, and parts that are dealt out to other axes.
#include "graph/record/element_form.h"

#include <algorithm>

namespace tarry::graph {
namespace {

void add_part(ElementForm::Parts& parts, const ElementForm::Part& part) {
  const bool small = part.lane == ElementForm::kSmall;
  if (small && !parts.empty() && parts.back().lane == ElementForm::kSmall)
    parts.back().extent *= part.extent;
  else
    parts.push_back(part);
}

/// The parts of an axis of `extent` from the front of `left`, of which a small one may be cut.
std::optional<ElementForm::Parts> dealt_out(std::int64_t extent, ElementForm::Parts& left) {
  ElementForm::Parts parts;
  while (!left.empty() && (extent > 1 || (parts.empty() && left.front().extent == 1))) {
    ElementForm::Part& next = left.front();
    if (extent % next.extent == 0) {
      add_part(parts, next);
      extent /= next.extent;
      left.erase(left.begin());
    } else {
      if (next.lane != ElementForm::kSmall || next.extent % extent != 0) return std::nullopt;
      add_part(parts, {extent, ElementForm::kSmall});
      next.extent /= extent;
      extent = 1;
    }
  }
  return parts;
}

}  // namespace

ElementForm::Parts ElementForm::small(std::int64_t extent) { return extent == 1 ? Parts() : Parts{{extent, kSmall}}; }

ElementForm ElementForm::of(std::span<const std::int64_t> shape) {
  ElementForm form;
  for (const std::int64_t extent : shape) form.axes.push_back(small(extent));
  return form;
}

bool ElementForm::has_lane(int axis) const {
  return std::ranges::any_of((*this)[axis], [](const Part& p) { return p.lane != kSmall; });
}

bool ElementForm::fits(std::span<const std::int64_t> shape, int lanes) const {
  std::vector<int> found(static_cast<std::size_t>(lanes), 0);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    std::int64_t all = 1;
    for (const Part& p : axes[d]) {
      all *= p.extent;
      if (p.lane != kSmall) ++found[static_cast<std::size_t>(p.lane)];
    }
    if (all != shape[d]) return false;
  }
  return std::ranges::all_of(found, [](int times) { return times == 1; });
}

std::int64_t ElementForm::extent(int axis) const {
  std::int64_t n = 1;
  for (const Part& p : (*this)[axis])
    if (p.lane == kSmall) n *= p.extent;
  return n;
}

std::size_t ElementForm::count() const {
  std::size_t n = 1;
  for (int d = 0; d < rank(); ++d) n *= static_cast<std::size_t>(extent(d));
  return n;
}

std::size_t ElementForm::number(const Dims& at) const {
  std::size_t n = 0;
  for (int d = 0; d < rank(); ++d) n = n * static_cast<std::size_t>(extent(d)) + static_cast<std::size_t>(at[d]);
  return n;
}

std::vector<Dims> ElementForm::places() const {
  std::vector<Dims> all;
  Dims at = Dims::filled(rank(), 0);
  for (std::size_t left = count(); left > 0; --left) {
    all.push_back(at);
    for (int d = rank() - 1; d >= 0; --d) {
      if (++at[d] < extent(d)) break;
      at[d] = 0;
    }
  }
  return all;
}

std::optional<ElementForm> ElementForm::reshaped(std::span<const std::int64_t> shape) const {
  Parts left;
  for (const Parts& parts : axes) left.insert(left.end(), parts.begin(), parts.end());
  if (std::ranges::any_of(left, [](const Part& p) { return p.extent == 0; })) return std::nullopt;
  ElementForm form;
  for (const std::int64_t extent : shape) {
    const std::optional<Parts> parts = dealt_out(extent, left);
    if (!parts) return std::nullopt;
    form.axes.push_back(*parts);
  }
  return form;
}

}  // namespace tarry::graph
