// Errors: every place that throws has a row that reaches it, and every message says what it concerns and where.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <typeindex>

#include "support/fault.h"
#include "support/file.h"
#include "support/log.h"
#include "support/rethrow.h"
#include "tests/errors/rows.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::support::ThrowSite;
using ta::test::ErrorRow;

namespace {

/// A TARRY_THROW in a source: the lines it spans. Compilers differ in which of them they call its line.
struct Site {
  std::string file;  ///< relative to the root of the sources
  int first, last;
  bool reached = false;
};

/// The end of the call whose opening parenthesis is at `at`; literals are skipped.
std::size_t end_of_call(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      for (++at; text[at] != c; ++at) at += text[at] == '\\' ? 1 : 0;
    }
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) return at;
  }
  return at;
}

int line_of(const std::string& text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

void add_sites(const fs::path& path, std::vector<Site>& sites) {
  const std::string text = ta::support::read_file(path).value();
  const std::string file = fs::relative(path, tarry::test::source_directory()).string();
  constexpr std::string_view kThrow = "TARRY_THROW(";
  for (std::size_t at = text.find(kThrow); at != std::string::npos; at = text.find(kThrow, at + 1)) {
    if (text.substr(0, at).ends_with("#define ")) continue;
    sites.push_back({file, line_of(text, at), line_of(text, end_of_call(text, at + kThrow.size() - 1))});
  }
}

std::vector<Site> sites_in_sources() {
  std::vector<Site> sites;
  for (const char* folder : {"support", "graph", "codegen", "cache", "runtime", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(tarry::test::source_directory()) / folder)) {
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h") add_sites(entry.path(), sites);
    }
  }
  return sites;
}

std::vector<ThrowSite>& reached_elsewhere() {
  static std::vector<ThrowSite> sites;
  return sites;
}

/// The error that the row threw, or nothing.
struct Thrown {
  std::type_index kind = typeid(void);  ///< class of the error
  std::string op, message;
  ta::Where where;
};

Thrown run(const ErrorRow& row) {
  Thrown thrown;
  try {
    row.call();
  } catch (const ta::Error& e) {
    thrown = {typeid(e), e.op(), e.what(), e.where()};
  } catch (const std::exception& e) {
    thrown.message = std::string("another exception: ") + e.what();
  }
  ta::support::fault::disarm();
  ta::support::log::set_sink(nullptr);
  return thrown;
}

/// The line after the row's, that of the next row: what the row's own calls stand on.
bool stands_in(const ta::Where& where, const ErrorRow& row, int end) {
  constexpr int kBefore = 12;  // a compiler may place a call of several lines at its end
  return where.file != nullptr && std::string_view(where.file) == row.where.file &&
         static_cast<int>(where.line) > static_cast<int>(row.where.line) - kBefore &&
         static_cast<int>(where.line) < end;
}

/// "float32 (2, 3)" somewhere in the message.
bool names_array(const std::string& message) {
  static const std::regex array(R"((bool|u?int\d+|b?float\d+) \([-0-9, ]*\))");
  return std::regex_search(message, array);
}

}  // namespace

void ta::test::add_reached(const ThrowSite& site) { reached_elsewhere().push_back(site); }

TEST_CASE("error: what is wrong with arrays of a call names their dtypes and shapes", "[errors]") {
  ta::test::ErrorRows all;
  ta::test::add_operation_rows(all);
  ta::test::add_shape_rows(all);
  ta::test::add_window_rows(all);
  ta::test::add_order_rows(all);
  for (const ErrorRow& row : all.rows()) {
    const Thrown thrown = run(row);
    const bool no_array = thrown.message.find("undefined") != std::string::npos ||
                          thrown.message.find("the number ") != std::string::npos ||
                          thrown.message.find("no array") != std::string::npos ||
                          thrown.message.find("is not available") != std::string::npos || row.op == "Scope" ||
                          row.op == "result_type";
    INFO("row at " << row.where.str() << " threw " << thrown.message);
    CHECK((no_array || names_array(thrown.message)));
  }
}

TEST_CASE("error: whatever leaves a public function has a place, but for conversions and streams", "[errors]") {
  std::vector<std::string> without;
  for (const char* folder : {"graph", "runtime"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(tarry::test::source_directory()) / folder)) {
      const std::string text = ta::support::read_file(entry.path()).value_or("");
      static const std::regex border(R"-(TARRY_OR_OUT_OF_MEMORY\("([^"]*)", Where\{\}\))-");
      for (std::sregex_iterator m(text.begin(), text.end(), border), end; m != end; ++m) without.push_back((*m)[1]);
    }
  }
  std::ranges::sort(without);
  CHECK(without == std::vector<std::string>{"<<", "bool", "str"});  // of KernelRecord, Array and Shape
}

TEST_CASE("error: every place that throws is reached, and its message says what and where", "[errors]") {
  ta::test::ErrorRows all;
  ta::test::add_operation_rows(all);
  ta::test::add_shape_rows(all);
  ta::test::add_window_rows(all);
  ta::test::add_order_rows(all);
  ta::test::add_loop_rows(all);
  ta::test::add_making_rows(all);
  ta::test::add_interop_rows(all);
  ta::test::add_environment_rows(all);
  std::vector<Site> sites = sites_in_sources();
  REQUIRE(sites.size() > 80);
  const auto reach = [&](const ThrowSite& reached) {
    for (Site& s : sites) {
      if (reached.line >= s.first && reached.line <= s.last && std::string_view(reached.file).ends_with(s.file))
        s.reached = true;
    }
  };

  for (std::size_t i = 0; i < all.rows().size(); ++i) {
    const ErrorRow& row = all.rows()[i];
    const bool last = i + 1 == all.rows().size() || all.rows()[i + 1].where.file != row.where.file;
    const int end = last ? static_cast<int>(row.where.line) + 12 : static_cast<int>(all.rows()[i + 1].where.line);
    ta::support::forget_throws();
    const Thrown thrown = run(row);
    INFO("row at " << row.where.str() << " threw " << thrown.message);
    CHECK(std::string_view(thrown.kind.name()) == row.kind.name());
    CHECK(thrown.message.size() > 10);
    for (const std::string& part : row.parts) CHECK_THAT(thrown.message, Catch::Contains(part));
    if (row.user) {
      CHECK(thrown.op == row.op);
      CHECK(thrown.message.starts_with("[" + row.op + "] "));
      CHECK(thrown.message.ends_with(" (at " + thrown.where.str() + ")"));
      CHECK(stands_in(thrown.where, row, end));
    }
    for (const ThrowSite& site : ta::support::reached_throws()) reach(site);
  }
  for (const ThrowSite& site : reached_elsewhere()) reach(site);

  const bool without_nvrtc = !ta::test::nvrtc_missing().empty();
  for (const Site& site : sites) {
    if (without_nvrtc && site.file == "runtime/device/compilers/nvrtc.cpp") continue;
    INFO("no row reaches the TARRY_THROW at " << site.file << ":" << site.first);
    CHECK(site.reached);
  }
  if (without_nvrtc) TARRY_SKIP(ta::test::nvrtc_missing());
}

TEMPLATE_TEST_CASE("error: kinds of wrong arguments are InvalidArgument with its code", "[errors]", ta::OutOfRange,
                   ta::InvalidShape, ta::InvalidDtype, ta::InvalidValue) {
  const ta::Where where("a.cpp", 7);
  try {
    throw TestType("sum", where, "no");
  } catch (const ta::InvalidArgument& e) {
    CHECK(e.code() == ta::ErrorCode::InvalidArgument);
    CHECK(e.op() == "sum");
    CHECK(e.what() == std::string("[sum] no (at a.cpp:7)"));
    CHECK_THROWS_AS(ta::support::rethrow_with_words(e, "max", where, "no"), TestType);
  }
}
