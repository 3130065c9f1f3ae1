// Printing values as NumPy does: one format for all elements, columns aligned, large arrays summarised.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <tarry/half.h>

#include "graph/record.h"
#include "runtime/engine.h"
#include "support/check.h"
#include "support/floating_point.h"

namespace tarry {
inline namespace v0 {
namespace {

constexpr std::int64_t kSummariseAbove = 1000;  // elements
constexpr std::int64_t kEdgeItems = 3;          // shown at each end of a summarised axis
constexpr std::size_t kLineWidth = 75;
constexpr int kPrecision = 8;  // digits after the point

/// The indices of one axis that are shown; -1 stands for "...".
std::vector<std::int64_t> shown(std::int64_t extent, bool summarise) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (summarise && extent > 2 * kEdgeItems && i == kEdgeItems) {
      indices.push_back(-1);
      i = extent - kEdgeItems;
    }
    indices.push_back(i);
  }
  return indices;
}

template <class T>
std::string digits(T value, std::chars_format format) {
  char text[512];
  auto end = std::to_chars(text, text + sizeof text, value, format).ptr;
  const std::string_view shortest(text, static_cast<std::size_t>(end - text));
  const std::size_t point = shortest.find('.'), exponent = std::min(shortest.find('e'), shortest.size());
  if (point != std::string_view::npos && exponent - point - 1 > kPrecision) {
    end = std::to_chars(text, text + sizeof text, value, format, kPrecision).ptr;
  }
  std::string result(text, end);
  // Rounding to kPrecision may leave zeros at the end of the fraction.
  std::size_t tail = std::min(result.find('e'), result.size());
  const std::size_t dot = result.find('.');
  if (dot == std::string::npos) return result.insert(tail, ".");
  while (result[tail - 1] == '0') result.erase(--tail, 1);
  return result;
}

/// The fewest digits that tell a 16-bit float from its neighbours.
template <class T>
requires(sizeof(T) == 2) std::string digits(T value, std::chars_format format) {
  char text[128];
  for (int precision = 0;; ++precision) {
    const float wide = static_cast<float>(value);
    std::string result(text, std::to_chars(text, text + sizeof text, wide, format, precision).ptr);
    double back = 0;
    std::from_chars(result.data(), result.data() + result.size(), back);
    if (T(back).bits != value.bits && precision < 2 * kPrecision) continue;
    if (precision == 0) result.insert(std::min(result.find('e'), result.size()), ".");
    return result;
  }
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Texts of all shown elements, in one format and of one width.
template <class T>
std::vector<std::string> format(const std::vector<T>& values) {
  std::vector<std::string> texts;
  if constexpr (std::is_floating_point_v<T> || is_half<T>) {
    using Wide = std::conditional_t<is_half<T>, float, T>;
    Wide largest = 0, smallest = std::numeric_limits<Wide>::infinity();
    for (const T value : values) {
      const auto v = static_cast<Wide>(value);
      if (!std::isfinite(v) || v == 0) continue;
      largest = std::max(largest, std::abs(v));
      smallest = std::min(smallest, std::abs(v));
    }
    const bool scientific =
        largest > 0 && (largest >= Wide(1e8) || smallest < Wide(1e-4) || largest / smallest > Wide(1000));
    std::size_t fraction = 0;  // characters after the point
    const auto place = [](const std::string& s) { return s.find('.'); };
    for (const T value : values) {
      const auto v = static_cast<Wide>(value);
      if (std::isnan(v)) {
        texts.emplace_back("nan");
      } else if (std::isinf(v)) {
        texts.emplace_back(v < 0 ? "-inf" : "inf");
      } else {
        texts.push_back(digits(value, scientific ? std::chars_format::scientific : std::chars_format::fixed));
        const std::string& s = texts.back();
        fraction = std::max(fraction, std::min(s.find('e'), s.size()) - place(s) - 1);
      }
    }
    for (std::string& s : texts) {
      if (place(s) == std::string::npos) continue;
      const std::size_t end = std::min(s.find('e'), s.size());
      s.insert(end, fraction - (end - place(s) - 1), scientific ? '0' : ' ');
    }
  } else {
    for (const T v : values) texts.push_back(std::to_string(v));
  }
  return texts;
}

template <>
std::vector<std::string> format(const std::vector<bool>& values) {
  std::vector<std::string> texts;
  for (const bool v : values) texts.emplace_back(v ? "True" : "False");
  return texts;
}

class Printer {
 public:
  explicit Printer(std::span<const std::int64_t> shape) : shape_(shape), strides_(graph::row_major_strides(shape)) {
    const bool summarise = graph::element_count(shape) > kSummariseAbove;
    for (const std::int64_t extent : shape) shown_.push_back(shown(extent, summarise));
  }

  /// Row-major positions of the shown elements, in the order of printing.
  [[nodiscard]] std::vector<std::int64_t> positions() const {
    std::vector<std::int64_t> at{0};
    for (std::size_t d = 0; d < shown_.size(); ++d) {
      std::vector<std::int64_t> next;
      for (const std::int64_t base : at) {
        for (const std::int64_t i : shown_[d]) {
          if (i >= 0) next.push_back(base + i * strides_[static_cast<int>(d)]);
        }
      }
      at = std::move(next);
    }
    return at;
  }

  std::string print(std::vector<std::string> texts) {
    std::size_t width = 0;
    for (const std::string& s : texts) width = std::max(width, s.size());
    for (std::string& s : texts) s.insert(0, width - s.size(), ' ');
    texts_ = std::move(texts);
    if (shape_.empty()) return texts_.front();
    axis(0);
    return std::move(out_);
  }

 private:
  // Recursion over axes: at most kMaxRank deep.
  void axis(std::size_t d) {
    out_ += '[';
    if (d + 1 == shape_.size()) {
      row(d);
    } else {
      for (std::size_t i = 0; i < shown_[d].size(); ++i) {
        if (i > 0) out_ += std::string(shape_.size() - d - 1, '\n') + std::string(d + 1, ' ');
        if (shown_[d][i] < 0) {
          out_ += "...";
        } else {
          axis(d + 1);
        }
      }
    }
    out_ += ']';
  }

  void row(std::size_t d) {
    std::size_t column = shape_.size();
    for (std::size_t i = 0; i < shown_[d].size(); ++i) {
      const std::string item = shown_[d][i] < 0 ? "..." : texts_[next_++];
      if (i > 0 && column + 1 + item.size() > kLineWidth) {
        out_ += '\n' + std::string(shape_.size(), ' ');
        column = shape_.size();
      } else if (i > 0) {
        out_ += ' ';
        ++column;
      }
      out_ += item;
      column += item.size();
    }
  }

  std::span<const std::int64_t> shape_;
  graph::Dims strides_;
  std::vector<std::vector<std::int64_t>> shown_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
  std::string out_;
};

template <class T>
std::string render(std::span<const std::int64_t> shape, const void* data) {
  using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  Printer printer(shape);
  std::vector<T> values;
  for (const std::int64_t p : printer.positions())
    values.push_back(static_cast<T>(static_cast<const Stored*>(data)[p]));
  return printer.print(format(values));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Array& x) {
  const graph::Edge e = detail::defined_edge(x, "print", Where{});
  const graph::Node& n = *e.node();
  const std::shared_ptr<const void> data = runtime::host_data(e, n.where());
  const auto text = [&]() -> std::string {
    const support::DefaultFloatingPoint state;
    switch (n.dtype) {
      case Dtype::Bool:
        return render<bool>(n.shape(), data.get());
      case Dtype::Int8:
        return render<std::int8_t>(n.shape(), data.get());
      case Dtype::Int16:
        return render<std::int16_t>(n.shape(), data.get());
      case Dtype::Int32:
        return render<std::int32_t>(n.shape(), data.get());
      case Dtype::Int64:
        return render<std::int64_t>(n.shape(), data.get());
      case Dtype::UInt8:
        return render<std::uint8_t>(n.shape(), data.get());
      case Dtype::UInt16:
        return render<std::uint16_t>(n.shape(), data.get());
      case Dtype::UInt32:
        return render<std::uint32_t>(n.shape(), data.get());
      case Dtype::UInt64:
        return render<std::uint64_t>(n.shape(), data.get());
      case Dtype::Float16:
        return render<Half>(n.shape(), data.get());
      case Dtype::BFloat16:
        return render<BFloat16>(n.shape(), data.get());
      case Dtype::Float32:
        return render<float>(n.shape(), data.get());
      case Dtype::Float64:
        return render<double>(n.shape(), data.get());
      case Dtype::Complex64:
      case Dtype::Complex128:
        break;
    }
    TARRY_ASSERT(false && "no operation makes complex arrays");
    return {};
  };
  return out << text();
}

}  // namespace v0
}  // namespace tarry
