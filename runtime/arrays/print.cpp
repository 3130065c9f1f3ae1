// Printing values as NumPy does: one format for all elements, columns aligned, large arrays summarised.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <tarry/half.h>

#include "graph/record/record.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "support/check.h"
#include "support/floating_point.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

constexpr std::int64_t kSummariseAbove = 1000;  // elements
constexpr std::int64_t kEdgeItems = 3;          // shown at each end of a summarised axis
constexpr std::size_t kLineWidth = 75;
constexpr int kPrecision = 8;  // digits after the point

/// The part of an array that is shown, a smaller array: all of it, or of long axes both ends.
class Excerpt {
 public:
  explicit Excerpt(std::span<const std::int64_t> shape) : extents_(shape) {
    if (graph::element_count(shape) > kSummariseAbove) {
      edge_ = kEdgeItems + 1;
      do {
        --edge_;
        for (int d = 0; d < extents_.size(); ++d) extents_[d] = std::min(shape[static_cast<std::size_t>(d)], 2 * edge_);
      } while (edge_ > 1 && graph::element_count(extents_.span()) > kMostShown);
    }
    for (int d = 0; d < extents_.size(); ++d) cut_.push_back(extents_[d] < shape[static_cast<std::size_t>(d)] ? 1 : 0);
    const graph::Dims strides = graph::row_major_strides(extents_.span());
    boxes_.push_back({graph::Dims::filled(extents_.size(), 0), extents_, 0});
    for (int d = 0; d < extents_.size(); ++d) {
      if (!gap_after(d)) continue;
      for (std::size_t b = 0, count = boxes_.size(); b < count; ++b) {  // the end beside the beginning
        boxes_[b].extent[d] = edge_;
        runtime::BoxPlace end = boxes_[b];
        end.lo[d] = shape[static_cast<std::size_t>(d)] - edge_;
        end.at += edge_ * strides[d];
        boxes_.push_back(end);
      }
    }
  }

  [[nodiscard]] const graph::Dims& extents() const { return extents_; }
  [[nodiscard]] const std::vector<runtime::BoxPlace>& boxes() const { return boxes_; }
  [[nodiscard]] bool is_whole() const { return boxes_.size() == 1; }
  /// How many of axis d stand before "..."; 0: nothing is left out.
  [[nodiscard]] std::int64_t gap_after(int d) const { return cut_[d] != 0 ? edge_ : 0; }

 private:
  static constexpr std::int64_t kMostShown = 100'000;  // elements; the ends of many axes get shorter

  std::int64_t edge_ = 0;
  graph::Dims extents_, cut_;
  std::vector<runtime::BoxPlace> boxes_;
};

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
  requires(sizeof(T) == 2)
std::string digits(T value, std::chars_format format) {
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
  explicit Printer(const Excerpt& excerpt) : excerpt_(excerpt), rank_(excerpt.extents().size()) {}

  std::string print(std::vector<std::string> texts) {
    std::size_t width = 0;
    for (const std::string& s : texts) width = std::max(width, s.size());
    for (std::string& s : texts) s.insert(0, width - s.size(), ' ');
    texts_ = std::move(texts);
    if (rank_ == 0) return texts_.front();
    axis(0);
    return std::move(out_);
  }

 private:
  // Recursion over axes: at most kMaxRank deep.
  void axis(int d) {
    out_ += '[';
    if (d + 1 == rank_) {
      row(d);
    } else {
      const auto next_line = [&] {
        out_ += std::string(static_cast<std::size_t>(rank_ - d - 1), '\n') +
                std::string(static_cast<std::size_t>(d + 1), ' ');
      };
      for (std::int64_t i = 0; i < excerpt_.extents()[d]; ++i) {
        if (i > 0) next_line();
        if (i > 0 && i == excerpt_.gap_after(d)) {
          out_ += "...";
          next_line();
        }
        axis(d + 1);
      }
    }
    out_ += ']';
  }

  void row(int d) {
    const auto indent = static_cast<std::size_t>(rank_);
    std::size_t column = indent;
    const auto put = [&](const std::string& item) {
      if (column > indent && column + 1 + item.size() > kLineWidth) {
        out_ += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (column > indent) {
        out_ += ' ';
        ++column;
      }
      out_ += item;
      column += item.size();
    };
    for (std::int64_t i = 0; i < excerpt_.extents()[d]; ++i) {
      if (i > 0 && i == excerpt_.gap_after(d)) put("...");
      put(texts_[next_++]);
    }
  }

  const Excerpt& excerpt_;
  const int rank_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
  std::string out_;
};

template <class T>
std::string render(const Excerpt& excerpt, const void* data) {
  using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  const auto* const first = static_cast<const Stored*>(data);
  return Printer(excerpt).print(format(std::vector<T>(first, first + graph::element_count(excerpt.extents().span()))));
}

/// The elements shown, row-major.
std::shared_ptr<const void> elements_of(const graph::Edge& e, const Excerpt& excerpt, Where where) {
  const graph::Node& n = *e.node();
  if (excerpt.is_whole()) return runtime::host_data(e, where);
  const std::span<const std::int64_t> extents = excerpt.extents().span();
  const std::shared_ptr<graph::Buffer> buffer =
      runtime::host_buffer(static_cast<std::size_t>(graph::element_count(extents)) * itemsize(n.dtype));
  runtime::read_boxes(e, excerpt.boxes(), graph::row_major_strides(extents), buffer->data, where);
  return {buffer, buffer->data};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Printed& x) try {
  const graph::Edge e = detail::defined_edge(x.array(), "<<", x.where());
  const graph::Node& n = *e.node();
  if (graph::element_count(n.shape()) == 0) return out << "[]";
  const Excerpt excerpt(n.shape());
  const std::shared_ptr<const void> data = elements_of(e, excerpt, x.where());
  const auto text = [&]() -> std::string {
    const support::DefaultFloatingPoint state;
    switch (n.dtype) {
      case Dtype::Bool: return render<bool>(excerpt, data.get());
      case Dtype::Int8: return render<std::int8_t>(excerpt, data.get());
      case Dtype::Int16: return render<std::int16_t>(excerpt, data.get());
      case Dtype::Int32: return render<std::int32_t>(excerpt, data.get());
      case Dtype::Int64: return render<std::int64_t>(excerpt, data.get());
      case Dtype::UInt8: return render<std::uint8_t>(excerpt, data.get());
      case Dtype::UInt16: return render<std::uint16_t>(excerpt, data.get());
      case Dtype::UInt32: return render<std::uint32_t>(excerpt, data.get());
      case Dtype::UInt64: return render<std::uint64_t>(excerpt, data.get());
      case Dtype::Float16: return render<Half>(excerpt, data.get());
      case Dtype::BFloat16: return render<BFloat16>(excerpt, data.get());
      case Dtype::Float32: return render<float>(excerpt, data.get());
      case Dtype::Float64: return render<double>(excerpt, data.get());
      case Dtype::Complex64:
      case Dtype::Complex128: break;
    }
    TARRY_ASSERT(false && "no operation makes complex arrays");
    return {};
  };
  return out << text();
}
TARRY_OR_OUT_OF_MEMORY("<<", x.where())

}  // namespace v0
}  // namespace tarry
