// The C compiler's output for kernels: the loop that does a formula's work is vector code, read off the disassembly.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>

#include <tarry/tarry.h>

#include "runtime/device/compilers/c_compiler.h"
#include "runtime/plan/compiled_plan.h"
#include "support/file.h"
#include "support/process.h"
#include "support/temporary.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/test.h"

namespace ta = tarry;

namespace {

struct Instruction {
  std::string name, operands;
};

/// Packed floating-point arithmetic of each loop of a library: from the target of a backward jump to the jump, without
/// the loops inside.
std::vector<int> arithmetic_of_loops(const std::string& disassembly) {
  std::vector<Instruction> code;
  std::map<std::string, std::size_t> at;
  std::istringstream lines(disassembly);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 2));
    Instruction i;
    words >> i.name;
    std::getline(words, i.operands);
    at[line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))] = code.size();
    code.push_back(i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> jumps;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].name[0] != 'j') continue;
    std::istringstream words(code[i].operands);
    std::string target;
    words >> target;
    if (const auto found = at.find(target); found != at.end() && found->second <= i)
      jumps.emplace_back(found->second, i);
  }
  static const std::regex packed("v?(add|sub|mul|div|max|min|sqrt)p[sd]");
  std::vector<int> loops;
  for (const auto& [first, last] : jumps) {
    std::vector<bool> own(last + 1, true);
    for (const auto& [from, to] : jumps)
      if (std::pair(from, to) != std::pair(first, last) && first <= from && to <= last)
        std::fill(own.begin() + static_cast<std::ptrdiff_t>(from), own.begin() + static_cast<std::ptrdiff_t>(to) + 1,
                  false);
    int count = 0;
    for (std::size_t i = first; i <= last; ++i) count += own[i] && std::regex_match(code[i].name, packed);
    loops.push_back(count);
  }
  return loops;
}

std::string disassembled(const ta::Array& result, const ta::graph::Target& target) {
  const ta::graph::Snapshot s = ta::test::snapshot_of({&result});
  const std::vector<bool> yes(s.graph.leaves.size(), true), no(s.graph.leaves.size(), false);
  const auto plan = ta::runtime::make_plan(s, target, yes, no, ta::runtime::plan_switches(), nullptr);
  std::string text;
  int kernels = 0;
  for (const auto& step : plan.steps)
    if (const auto* k = std::get_if<ta::runtime::KernelStep>(&step)) text = k->source->text, ++kernels;
  REQUIRE(kernels == 1);
  const ta::support::ScopedTemporaryDirectory directory;
  const auto path = directory.path() / "kernel.so";
  REQUIRE_FALSE(
      ta::support::write_file_atomically(path, ta::runtime::compile_c(text, ta::runtime::c_flags(target)).image));
  return ta::support::run_process({"objdump", "-d", "--no-show-raw-insn", path.string()}).output;
}

template <class T = float>
ta::Array leaf(std::vector<std::int64_t> shape) {
  static const T element{};
  return ta::borrow(&element, ta::Shape(shape));
}

/// Code of other machines, or instrumented, is not read.
bool is_readable() {
#if !defined(__x86_64__) || defined(TARRY_SANITIZE_NAME)
  return false;
#else
  return ta::support::run_process({"objdump", "--version"}).succeeded();
#endif
}

/// The packed instructions of the loop that has most of them.
int most_arithmetic(const ta::Array& result, const char* level) {
  int most = 0;
  for (const int packed : arithmetic_of_loops(disassembled(result, *ta::graph::find_target(level))))
    most = std::max(most, packed);
  return most;
}

}  // namespace

TEST_CASE("vector loops: the work of a kernel is done by packed instructions", "[codegen][cpu]") {
  if (!is_readable()) {
    SUCCEED("nothing to read");
    return;
  }
  const ta::Scope on_cpu(ta::cpu);
  const ta::Array x = leaf({1 << 20}), y = leaf({1 << 20}), m = leaf({1024, 1024});
  const auto cdf = [](const ta::Array& d) { return 0.5f * (1.0f + ta::erf(d * 0.7f)); };
  const ta::Slice low = ta::slice(-2), mid = ta::slice(1, -1), high = ta::slice(2, ta::none);
  struct Case {
    const char* name;
    std::function<ta::Array()> formula;
    int arithmetic;  ///< packed instructions that one step of its loop has at least
  };
  const std::vector<Case> cases = {
      {"axpy", [&] { return 2.5f * x + y; }, 2},
      {"polynomial", [&] { return ((x * 0.1f + y) * x - y) * x + 3.0f; }, 6},
      {"exponential", [&] { return ta::exp(x); }, 20},
      {"normal distribution", [&] { return cdf(ta::log(x) / ta::sqrt(y)); }, 50},
      {"choice", [&] { return ta::where(x > 2.0f, x * 0.5f, x + y); }, 2},
      {"five points", [&] { return m(mid, mid) * 0.5f + (m(low, mid) + m(high, mid) + m(mid, low) + m(mid, high)); },
       5},
      {"transposed sum", [&] { return m + ta::matrix_transpose(m); }, 1},
      {"sum", [&] { return ta::sum(x * y); }, 6},
      {"sums of columns", [&] { return ta::sum(m, 0); }, 3},
      {"variance", [&] { return ta::var(x); }, 20},
      {"softmax", [&] { return ta::softmax(m, -1); }, 20},
      {"distances", [&] { return ta::sum(ta::square(leaf({512, 1, 16}) - leaf({1, 512, 16})), -1); }, 24},
  };
  for (const Case& c : cases) {
    for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      INFO(c.name << " for " << level);
      CHECK(most_arithmetic(c.formula(), level) >= c.arithmetic);
    }
  }
}

TEST_CASE("vector loops: functions of an array and a number are vectors as those of two arrays are", "[codegen][cpu]") {
  if (!is_readable()) {
    SUCCEED("nothing to read");
    return;
  }
  const ta::Scope on_cpu(ta::cpu);
  const auto check = [](const ta::Array& x) {
    const std::vector<std::pair<const char*, std::function<ta::Array()>>> cases = {
        {"pow(x, 2.7)", [&] { return ta::pow(x, 2.7); }},     {"pow(2.7, x)", [&] { return ta::pow(2.7, x); }},
        {"atan2(x, 2.7)", [&] { return ta::atan2(x, 2.7); }}, {"atan2(2.7, x)", [&] { return ta::atan2(2.7, x); }},
        {"hypot(x, 2.7)", [&] { return ta::hypot(x, 2.7); }}, {"hypot(2.7, x)", [&] { return ta::hypot(2.7, x); }},
    };
    for (const auto& [name, formula] : cases)
      for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
        INFO(name << " of " << ta::name(x.dtype()) << " for " << level);
        CHECK(most_arithmetic(formula(), level) >= 4);
      }
  };
  check(leaf({1 << 20}));
  check(leaf<double>({1 << 20}));
}
