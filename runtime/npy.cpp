// save_npy and load_npy: a magic number, a version, a Python dict as header, then the elements.
#include <tarry/create.h>
#include <tarry/io.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "graph/record.h"
#include "runtime/engine.h"
#include "support/check.h"
#include "support/file.h"

namespace tarry {
inline namespace v0 {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the first element in the file

/// Type code and size as in "f4"; empty where the format has no name for the dtype.
std::string type_code(Dtype dtype) {
  if (dtype == bfloat16) return {};
  static constexpr char kKinds[] = {'b', 'i', 'u', 'f', 'c'};
  return kKinds[static_cast<int>(tarry::info(dtype).kind)] + std::to_string(itemsize(dtype));
}

/// What a header says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

std::string header_text(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += std::to_string(extent) + ", ";
  if (shape.size() > 1) extents.erase(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();  // "(3,)"
  return std::string("{'descr': '") + (itemsize(dtype) == 1 ? "|" : "<") + type_code(dtype) +
         "', 'fortran_order': False, 'shape': (" + extents + "), }";
}

/// Reads the few Python literals that a header consists of.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header h;
    int seen = 0;
    if (!take('{')) return {};
    while (!take('}')) {
      const std::optional<std::string> key = quoted();
      if (!key || !take(':')) return {};
      bool known = false;
      if (*key == "descr") {
        const auto value = quoted();
        known = value.has_value();
        h.descr = value.value_or("");
      } else if (*key == "fortran_order") {
        known = word("False") || (h.fortran_order = word("True"));
      } else if (*key == "shape") {
        known = tuple(h.shape);
      }
      if (!known) return {};
      ++seen;
      if (!take(',') && peek() != '}') return {};
    }
    skip();
    return seen == 3 && at_ == text_.size() ? std::optional(h) : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    skip();
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return {};
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return {};
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool tuple(std::vector<std::int64_t>& values) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc{} || value < 0) return false;
      at_ = static_cast<std::size_t>(end - text_.data());
      values.push_back(value);
      if (!take(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The dtype of a type code without its byte order.
std::optional<Dtype> dtype_of_code(std::string_view code) {
  for (int d = 0; d < kDtypeCount; ++d) {
    const auto dtype = static_cast<Dtype>(d);
    if (tarry::info(dtype).available && !type_code(dtype).empty() && type_code(dtype) == code) return dtype;
  }
  return {};
}

[[noreturn]] void not_npy(const std::string& path, const std::string& why, Where where) {
  TARRY_THROW(InvalidArgument, "load_npy", where, path + " is not a .npy file that can be read: " + why);
}

void swap_bytes(char* data, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

/// Elements in column-major order as a row-major array.
Array from_columns(const void* data, Dtype dtype, std::size_t count, const std::vector<std::int64_t>& shape, Where where) {
  std::vector<std::int64_t> reversed(shape.rbegin(), shape.rend());
  const graph::Edge e = detail::edge(detail::copy_in(data, dtype, count, Shape(reversed), where), "load_npy", where);
  graph::IndexMap map;
  const auto rank = static_cast<std::int32_t>(shape.size());
  for (std::int32_t d = 0; d < rank; ++d) map.push_back({rank - 1 - d, 0, 1});
  return detail::wrap(graph::record_view(e, map, shape, where));
}

}  // namespace

void save_npy(const std::string& path, const Array& x, std::source_location location) {
  const Where where = location;
  const graph::Edge e = detail::edge(x, "save_npy", where);
  const graph::Node& n = *e.node();
  if (type_code(n.dtype).empty()) {
    TARRY_THROW(InvalidArgument, "save_npy", where,
                "the format has no name for " + std::string(name(n.dtype)) + "; convert with astype(x, float32) first");
  }
  const std::shared_ptr<const void> data = runtime::host_data(e, where);
  std::string header = header_text(n.dtype, n.shape());
  const std::size_t prefix = kMagic.size() + 4;
  header.append(kAlignment - 1 - (prefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  content += header;
  const auto bytes = static_cast<std::size_t>(graph::element_count(n.shape())) * itemsize(n.dtype);
  content.append(static_cast<const char*>(data.get()), bytes);
  if (const std::error_code error = support::write_file_atomically(path, content)) {
    TARRY_THROW(InvalidArgument, "save_npy", where, "cannot write " + path + ": " + error.message());
  }
}

Array load_npy(const std::string& path, std::source_location location) {
  const Where where = location;
  std::error_code error;
  std::optional<std::string> content = support::read_file(path, &error);
  if (!content) {
    TARRY_THROW(InvalidArgument, "load_npy", where,
                "cannot read " + path + ": " + (error ? error.message() : "it is no regular file"));
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>((*content)[i])); };
  if (content->size() < kMagic.size() + 6 || !content->starts_with(kMagic)) not_npy(path, "it does not begin like one", where);
  const std::size_t version = byte(6), wide = version == 1 ? 2 : 4, at = kMagic.size() + 2;
  if (version < 1 || version > 3) not_npy(path, "its format version is " + std::to_string(version), where);
  std::size_t length = 0;
  for (std::size_t i = 0; i < wide; ++i) length |= byte(at + i) << (8 * i);
  if (length > content->size() - at - wide) not_npy(path, "it ends within its header", where);
  const std::string_view text = std::string_view(*content).substr(at + wide, length);
  const std::optional<Header> header = HeaderParser(text).parse();
  if (!header || header->descr.empty()) not_npy(path, "its header cannot be understood: " + std::string(text), where);
  const std::optional<Dtype> dtype = dtype_of_code(std::string_view(header->descr).substr(1));
  if (!dtype) not_npy(path, "it holds elements of type '" + header->descr + "', which no dtype has", where);
  graph::check_shape("load_npy", header->shape, where);
  const auto count = static_cast<std::size_t>(graph::element_count(header->shape));
  char* data = content->data() + at + wide + length;
  const std::size_t present = content->size() - static_cast<std::size_t>(data - content->data());
  if (present / itemsize(*dtype) < count) not_npy(path, "it ends before its last element", where);
  if (header->descr[0] == '>') swap_bytes(data, count, itemsize(*dtype));
  if (header->fortran_order) return from_columns(data, *dtype, count, header->shape, where);
  return detail::copy_in(data, *dtype, count, Shape(header->shape), where);
}

}  // namespace v0
}  // namespace tarry
