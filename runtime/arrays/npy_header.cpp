// The few Python literals of a header, written and read.
#include "runtime/arrays/npy_header.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <system_error>

#include "graph/record/record.h"
#include "support/check.h"
#include "support/printable.h"

namespace tarry::runtime {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kDataAlignment = 64;  // of the first element in the file
constexpr std::size_t kMostText = 65535;    // of a header; longer ones name the fields of records

/// The dict.
struct Dict {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

std::string dict_text(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += std::to_string(extent) + ", ";
  if (shape.size() > 1) extents.erase(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();  // "(3,)"
  return std::string("{'descr': '") + (itemsize(dtype) == 1 ? "|" : "<") + npy_type_code(dtype) +
         "', 'fortran_order': False, 'shape': (" + extents + "), }";
}

/// Reads the few Python literals that a header consists of.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Dict> parse() {
    Dict h;
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
  /// "(2, 3)", and "(2L, 3L)" as Python 2 wrote it.
  bool tuple(std::vector<std::int64_t>& values) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc{} || value < 0) return false;
      at_ = static_cast<std::size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;
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
    if (tarry::info(dtype).available && !npy_type_code(dtype).empty() && npy_type_code(dtype) == code) return dtype;
  }
  return {};
}

/// The beginning of what a file says, for a message.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 200;
  return support::printable(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

[[noreturn]] void not_npy(std::string_view op, const std::string& path, const std::string& why, Where where) {
  TARRY_THROW(InvalidArgument, std::string(op), where, path + " is not a .npy file that can be read: " + why);
}

}  // namespace

std::string npy_type_code(Dtype dtype) {
  if (dtype == bfloat16) return {};
  static constexpr char kKinds[] = {'b', 'i', 'u', 'f', 'c'};
  return kKinds[static_cast<int>(tarry::info(dtype).kind)] + std::to_string(itemsize(dtype));
}

std::string npy_header(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string dict = dict_text(dtype, shape);
  const std::size_t prefix = kMagic.size() + 4;
  dict.append(kDataAlignment - 1 - (prefix + dict.size()) % kDataAlignment, ' ');
  dict += '\n';
  std::string bytes(kMagic);
  bytes += {'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return bytes + dict;
}

support::OpenFile open_npy_file(const std::string& path, std::string_view op, Where where) {
  std::error_code error;
  std::optional<support::OpenFile> file = support::OpenFile::open(path, &error);
  if (!file) {
    TARRY_THROW(InvalidArgument, std::string(op), where,
                "cannot read " + path + ": " + (error ? error.message() : "it is no regular file"));
  }
  return std::move(*file);
}

NpyHeader read_npy_header(const support::OpenFile& file, const std::string& path, std::string_view op, Where where) {
  const std::optional<std::string> start = file.read(0, std::min<std::uint64_t>(file.size(), kMagic.size() + 6));
  if (!start || start->size() < kMagic.size() + 6 || !start->starts_with(kMagic))
    not_npy(op, path, "it does not begin like one", where);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>((*start)[i])); };
  const std::size_t version = byte(6), wide = version == 1 ? 2 : 4, at = kMagic.size() + 2;
  if (version < 1 || version > 3) not_npy(op, path, "its format version is " + std::to_string(version), where);
  std::size_t length = 0;
  for (std::size_t i = 0; i < wide; ++i) length |= byte(at + i) << (8 * i);
  if (length > kMostText) not_npy(op, path, "its header has " + std::to_string(length) + " bytes", where);
  const std::optional<std::string> text =
      length > file.size() - at - wide ? std::nullopt : file.read(at + wide, length);
  if (!text) not_npy(op, path, "it ends within its header", where);
  std::optional<Dict> dict = HeaderParser(*text).parse();
  if (!dict || dict->descr.empty()) not_npy(op, path, "its header cannot be understood: " + excerpt(*text), where);
  const std::optional<Dtype> dtype = dtype_of_code(std::string_view(dict->descr).substr(1));
  if (!dtype) not_npy(op, path, "it holds elements of type '" + excerpt(dict->descr) + "', which no dtype has", where);
  graph::check_shape(op, {*dtype, dict->shape}, where);
  NpyHeader h{*dtype, dict->descr[0] == '>', dict->fortran_order, std::move(dict->shape), at + wide + length, 0};
  h.count = static_cast<std::size_t>(graph::element_count(h.shape));
  if ((file.size() - h.offset) / itemsize(h.dtype) < h.count)
    not_npy(op, path, "it ends before its last element", where);
  return h;
}

}  // namespace tarry::runtime
