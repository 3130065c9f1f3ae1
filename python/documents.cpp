// Docstrings of functions: those of the public headers, which make_tables.py collects.
#include "python/documents.h"

#include <algorithm>
#include <string_view>

namespace tarry::python {
namespace {

struct Document {
  std::string_view name;
  const char* text;
};
constexpr Document kDocuments[] = {
#include "python/documents.inc"
};

}  // namespace

const char* document(const char* name) {
  const auto* const found = std::ranges::find(kDocuments, std::string_view(name), &Document::name);
  return found == std::end(kDocuments) ? "" : found->text;
}

}  // namespace tarry::python
