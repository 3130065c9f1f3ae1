// The names of kernels: what they do, on what, in which order, and which of many.
#include <algorithm>
#include <regex>

#include "codegen/render/kernel_source.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::test::ramp;

namespace {

/// The kernels of a plan, by name without hash.
std::vector<std::string> names(const ta::Plan& plan) {
  static const std::regex kStep(R"(step \d+: (\w+)_[0-9a-f]{8} over)");
  const std::string text = plan.str();
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), kStep), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("kernel names: operations in the order of a run, dtype, schedule", "[codegen][names]") {
  const ta::Scope placed(ta::cpu);  // a GPU has schedules of its own
  const ta::Array x = ta::asarray(ramp(600), {6, 100}), i = ta::arange(600);
  CHECK(names(ta::plan(ta::exp(x))) == Names{"exp_f32_map"});
  CHECK(names(ta::plan(ta::exp(x) + ta::exp(x + 1.0f))) == Names{"exp_add_f32_map"});
  CHECK(names(ta::plan(ta::sum(x * x, 1))) == Names{"multiply_sum_f32_inner"});
  CHECK(names(ta::plan(ta::sum(ta::reshape(x, {12, 50}), 0))) == Names{"sum_f32_serial"});
  CHECK(names(ta::plan(ta::sqrt(ta::sum(ta::reshape(x, {100, 6}), 0)))) == Names{"sum_sqrt_f32_outer"});
  CHECK(names(ta::plan(ta::softmax(x, 1))) == Names{"max_subtract_exp_sum_divide_f32_rows"});
  CHECK(names(ta::plan(ta::softmax(x, 0))) == Names{"max_subtract_exp_sum_divide_f32_short_rows"});
}

TEST_CASE("kernel names: both dtypes where a kernel changes it", "[codegen][names]") {
  const ta::Scope placed(ta::cpu);  // a GPU has schedules of its own
  const ta::Array x = ta::asarray(ramp(600), {6, 100});
  CHECK(names(ta::plan(x < 3.0f)) == Names{"less_f32_bool_map"});
  CHECK(names(ta::plan(ta::argmax(x, 1))) == Names{"argmax_f32_i64_inner"});
}

TEST_CASE("kernel names: what computes nothing copies or fills", "[codegen][names]") {
  const ta::Array x = ta::asarray(ramp(600), {6, 100});
  CHECK(names(ta::plan(ta::flip(x))) == Names{"copy_f32_map"});
  CHECK(names(ta::plan(ta::arange(10))) == Names{"fill_i64_map"});
}

TEST_CASE("kernel names: at most 60 characters, the costliest operations stay", "[codegen][names]") {
  const ta::Array x = ta::asarray(ramp(100));
  const ta::Array y =
      ta::logaddexp(ta::atan2(ta::sin(x), ta::cos(x)) + 1.0f, ta::sqrt(x) * ta::tanh(x)) - ta::erf(x) / ta::sinh(x);
  const Names found = names(ta::plan(y));
  REQUIRE(found.size() == 1);
  CHECK(found[0].size() <= 51);
  CHECK(found[0].size() > 35);
  CHECK(found[0].find("add_") == std::string::npos);
  CHECK(found[0].find("atan2") != std::string::npos);
  CHECK(found[0].ends_with("_f32_map"));
}
