// The formulas, and two programs: one runs kernels, one only makes them.
#include "tests/runtime/observe/dump_programs.h"

#include <cstdio>
#include <cstring>
#include <deque>

#include "graph/record/record.h"
#include "runtime/evaluate/engine.h"
#include "support/env.h"
#include "tests/helpers/child.h"

namespace tarry::test {
namespace {

std::uint32_t mixed(std::int64_t i, unsigned number) {
  std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761U + number * 40503U;
  h ^= h >> 15;
  h *= 0x85ebca6bU;
  return h ^ (h >> 13);
}

template <class T>
void put(std::vector<unsigned char>& bytes, T value) {
  const auto at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(&bytes[at], &value, sizeof value);
}

void put(std::vector<unsigned char>& bytes, Dtype dtype, std::uint32_t h) {
  const double number = (8 + h % 64) / 32.0;
  switch (dtype) {
    case Dtype::Bool: return put(bytes, static_cast<std::uint8_t>(h % 2));
    case Dtype::Float16: return put(bytes, Half(number));
    case Dtype::BFloat16: return put(bytes, BFloat16(number));
    case Dtype::Float32: return put(bytes, static_cast<float>(number));
    case Dtype::Float64: return put(bytes, number);
    default: {
      const std::uint64_t whole = 1 + h % 7;
      const auto at = bytes.size();
      bytes.resize(at + itemsize(dtype));
      std::memcpy(&bytes[at], &whole, itemsize(dtype));
    }
  }
}

Array f(const Shape& shape, unsigned number) { return filled(float32, shape, number); }

Array softmax_rows() { return softmax(f({5, 1000}, 0), 1); }
Array layer_norm() {
  const Array x = f({7, 300}, 0), m = mean(x, 1, {.keepdims = true}), v = var(x, 1, {.keepdims = true});
  return (x - m) / tarry::sqrt(v + 1e-5f);
}
Array black_scholes_call() {
  const Array s = f({3001}, 0), k = f({3001}, 1), t = f({3001}, 2), spread = 0.3f * tarry::sqrt(t);
  const Array d = (tarry::log(s / k) + 0.065f * t) / spread;
  return s * 0.5f * (1.0f + tarry::erf(d * 0.70710678f)) - k * tarry::exp(t * -0.02f);
}

const OneKernel kKernels[] = {
    {"axpy", [] { return f({4099}, 0) * 1.5f + f({4099}, 1); }},
    {"plane", [] { return f({30, 41}, 0) - f({41}, 1) * f({30, 1}, 2); }},
    {"black_scholes", black_scholes_call},
    {"halves", [] { return filled(float16, {515}, 0) * filled(float16, {515}, 1) + Half(0.5f); }},
    {"brains", [] { return tarry::exp(filled(bfloat16, {77}, 0)); }},
    {"integers", [] { return filled(int32, {1000}, 0) % filled(int32, {1000}, 1) - 9; }},
    {"bytes", [] { return filled(uint8, {1001}, 0) * filled(uint8, {1001}, 1); }},
    {"comparison", [] { return filled(float64, {333}, 0) < filled(float64, {333}, 1); }},
    {"selection", [] { return where(filled(bool_, {200}, 0), filled(int64, {200}, 1), filled(int64, {200}, 2)); }},
    {"coordinates", [] { return arange(100) * filled(int64, {100}, 0); }},
    {"transposed", [] { return matrix_transpose(f({20, 33}, 0)) * 2.0f; }},
    {"flipped", [] { return flip(f({20, 33}, 0)) + 1.0f; }},
    {"joined", [] { return concat({f({10, 8}, 0), f({3, 8}, 1)}, 0) * 3.0f; }},
    {"short_rows", [] { return sum(f({100, 20}, 0), 1); }},
    {"rows", [] { return sum(f({6, 700}, 0) * 0.5f, 1); }},
    {"long_row", [] { return sum(f({300'001}, 0)); }},
    {"columns", [] { return sum(f({500, 64}, 0), 0); }},
    {"many_columns", [] { return max(f({3000, 33}, 0), 0); }},
    {"variance", [] { return var(f({4, 900}, 0), 1); }},
    {"first_of_best", [] { return argmax(f({9, 400}, 0), 1); }},
    {"softmax", softmax_rows},
    {"softmax_short", [] { return softmax(f({50, 10}, 0), 1); }},
    {"layer_norm", layer_norm},
};

/// All elementwise ops whose recording accepts the dtype.
std::vector<Array> elementwise(Dtype dtype) {
  const Shape shape{64};
  const Array x = filled(dtype, shape, 0), y = filled(dtype, shape, 1), z = filled(dtype, shape, 2);
  const Array condition = filled(bool_, shape, 3);
  std::vector<Array> results;
  for (const graph::OpInfo& row : graph::kOpTable) {
    if (row.op_class != graph::OpClass::Map || row.op == graph::Op::Cast || row.rule == graph::DtypeRule::Draw ||
        !graph::is_pure(row.op))
      continue;
    std::vector<graph::Argument> arguments;
    for (const Array* a : {&x, &y, &z}) arguments.push_back({detail::edge(*a, row.name, {})});
    if (row.op == graph::Op::Where) arguments.insert(arguments.begin(), {detail::edge(condition, row.name, {})});
    arguments.resize(row.arity);
    try {
      results.push_back(detail::wrap(graph::record_map(row.op, arguments, {})));
    } catch (const InvalidArgument&) {
      continue;  // the op does not take the dtype
    }
  }
  for (const Dtype to : {bool_, int8, uint16, int64, float16, bfloat16, float32, float64})
    results.push_back(astype(x, to));
  return results;
}

std::vector<Array> reduced(const Shape& shape, int axis) {
  const Array x = f(shape, 0), i = filled(int32, shape, 1), b = filled(bool_, shape, 2);
  return {sum(x, axis), prod(x, axis),          min(x, axis),      max(x, axis), mean(x, axis),
          var(x, axis), argmin(x, axis),        argmax(i, axis),   sum(i, axis), any(b, axis),
          all(b, axis), count_nonzero(i, axis), logsumexp(x, axis)};
}

std::vector<unsigned char> bytes_of(const Array& x) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(x.size()) * itemsize(x.dtype()));
  runtime::read(detail::edge(x, "read", {}), bytes.data(), {});
  return bytes;
}

}  // namespace

Array filled(Dtype dtype, const Shape& shape, unsigned number) {
  static auto* const kept = new std::deque<std::vector<unsigned char>>;  // borrowed until the process ends
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<unsigned char>& bytes = kept->emplace_back();
  for (std::int64_t i = 0; i < count; ++i) put(bytes, dtype, mixed(i, number));
  // A program that a dump is fills bools with 0 and 1, so its kernel is the one for bools that are no others' bytes.
  if (dtype == bool_) return asarray(reinterpret_cast<const bool*>(bytes.data()), shape);
  return detail::borrow(bytes.data(), dtype, shape, nullptr, Where{__FILE__, __LINE__});
}

std::string checksum(std::span<const unsigned char> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const unsigned char b : bytes) sum = (sum ^ b) * 0x100000001b3U;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

std::span<const OneKernel> one_kernels() { return kKernels; }

std::vector<std::vector<Array>> everything() {
  std::vector<std::vector<Array>> all;
  for (const Dtype d : {bool_, int8, int32, int64, uint8, uint16, uint64, float16, bfloat16, float32, float64})
    all.push_back(elementwise(d));
  all.push_back(reduced({40, 20}, 1));
  all.push_back(reduced({6, 700}, 1));
  all.push_back(reduced({2, 200'000}, 1));
  all.push_back(reduced({700, 64}, 0));
  for (const OneKernel& k : one_kernels()) all.push_back({k.make()});
  const Array x = f({40, 30}, 0);
  all.push_back({with_set(x, {slice(3, 20), slice(1, 30, 2)}, 5.0f), with_add(x, {slice(0, 7)}, 1.0f), roll(x, 5)});
  return all;
}

// Prints "NAME kernel checksum" for each of one_kernels(); the kernel is "" where there was not exactly one.
TARRY_CHILD(dump_runs) {
  for (const OneKernel& k : one_kernels()) {
    const std::size_t before = kernel_history().size();
    const Array result = k.make();
    const Counters done = evaluate(result).counters();
    const std::vector<KernelRecord> history = kernel_history();
    const bool one = done.launches == 1 && history.size() == before + 1;
    std::printf("%s %s %s\n", k.name, one ? history.back().name.c_str() : "-", checksum(bytes_of(result)).c_str());
  }
  return 0;
}

namespace {

/// Plans each of `all` for TARRY_TEST_TARGET, and with it dumps its kernels.
int plan_each(const std::vector<std::vector<Array>>& all) {
  const std::string target = support::env::system("TARRY_TEST_TARGET").value_or("sm_90");
  for (const std::vector<Array>& results : all) {
    std::vector<const Array*> roots;
    for (const Array& a : results) roots.push_back(&a);
    (void)detail::plan(roots, target, Where{__FILE__, __LINE__});
  }
  return 0;
}

}  // namespace

TARRY_CHILD(dump_everything) { return plan_each(everything()); }

// NaNs become zeros: which NaN arithmetic makes is the processor's choice.
TARRY_CHILD(dump_some) {
  std::vector<std::vector<Array>> some{elementwise(float32)};
  for (Array& r : some[0])
    if (r.dtype() == float32) r = where(isnan(r), 0.0f, r);
  for (const OneKernel& k : one_kernels()) some.push_back({k.make()});
  return plan_each(some);
}

}  // namespace tarry::test
