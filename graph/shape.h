// Extents and index maps: the small value types that describe where elements are.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tarry::graph {

inline constexpr int kMaxRank = 16;

/// Up to kMaxRank signed 64-bit numbers: extents, strides or coordinates. A value; never allocates.
class Dims {
 public:
  Dims() noexcept {}  // NOLINT: the numbers beyond the end stay unset
  Dims(std::initializer_list<std::int64_t> v) {
    for (auto x : v) push_back(x);
  }
  explicit Dims(std::span<const std::int64_t> v) {
    for (auto x : v) push_back(x);
  }
  static Dims filled(int rank, std::int64_t value) {
    Dims d;
    for (int i = 0; i < rank; ++i) d.push_back(value);
    return d;
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  std::int64_t& operator[](int i) { return v_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return v_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t* begin() { return v_.data(); }
  [[nodiscard]] std::int64_t* end() { return v_.data() + size_; }
  [[nodiscard]] const std::int64_t* begin() const { return v_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return v_.data() + size_; }
  [[nodiscard]] std::int64_t back() const { return v_[static_cast<std::size_t>(size_ - 1)]; }
  void push_back(std::int64_t x) { v_[static_cast<std::size_t>(size_++)] = x; }
  void insert(int at, std::int64_t x);
  void erase(int at);
  [[nodiscard]] std::span<const std::int64_t> span() const { return {v_.data(), static_cast<std::size_t>(size_)}; }
  [[nodiscard]] std::vector<std::int64_t> vector() const { return {begin(), end()}; }
  friend bool operator==(const Dims& a, const Dims& b);

 private:
  int size_ = 0;
  std::array<std::int64_t, kMaxRank> v_;
};

/// Product of the extents; 1 for rank 0. Shapes are checked against overflow when they are made.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// Row-major strides in elements.
Dims row_major_strides(std::span<const std::int64_t> shape);
/// "(3, 4)", "(5,)", "()".
std::string to_string(std::span<const std::int64_t> shape);
inline std::string to_string(const Dims& d) { return to_string(d.span()); }

/// How a view reads its source: source coordinate = start + step * (view coordinate along `axis`); axis -1: start
/// alone.
struct AxisMap {
  std::int32_t axis = -1;
  std::int64_t start = 0;
  std::int64_t step = 0;
  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// One AxisMap per source dimension: slices, permutations, flips, new and dropped axes, broadcasts.
struct IndexMap {
  IndexMap() noexcept {}  // NOLINT: the maps beyond the end stay unset
  explicit IndexMap(int count) noexcept {
    for (int i = 0; i < count; ++i) push_back({});
  }
  IndexMap(std::initializer_list<AxisMap> maps) noexcept {
    for (const AxisMap& m : maps) push_back(m);
  }
  int size = 0;
  union {
    std::array<AxisMap, kMaxRank> dims;
  };
  void push_back(AxisMap m) { dims[static_cast<std::size_t>(size++)] = m; }
  AxisMap& operator[](int i) { return dims[static_cast<std::size_t>(i)]; }
  const AxisMap& operator[](int i) const { return dims[static_cast<std::size_t>(i)]; }
};

/// True if NumPy's broadcasting makes `to` of `from` alone.
inline bool broadcasts(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  if (from.size() > to.size()) return false;
  const std::int64_t* const last = to.data() + (to.size() - from.size());
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != last[d]) return false;
  return true;
}
/// Numpy broadcasting as an index map: a source of `source` shape read at coordinates of `target` shape.
IndexMap broadcast_map(std::span<const std::int64_t> source, std::span<const std::int64_t> target);
/// inner after outer: coordinates of `outer`'s result space -> source of `inner` (inner reads what outer's source is).
IndexMap compose(const IndexMap& inner, const IndexMap& outer);

}  // namespace tarry::graph
