// Forks of random generators: their keys are words of Philox itself.
#include <tarry/random.h>

#include "codegen/interpreter.h"

namespace tarry {
inline namespace v0 {
namespace random {
namespace {

/// Element `number` of a 64-bit draw.
std::uint64_t word(std::uint64_t key, std::uint64_t draw, std::uint64_t number) noexcept {
  static const codegen::ScalarFunction bits = codegen::scalar_function(graph::Op::RandomBits, int64, uint64);
  std::uint64_t value = 0;
  bits(&value, &number, &key, &draw);
  return value;
}

constexpr std::uint64_t kNumbered = ~std::uint64_t{0}, kNext = kNumbered - 1;  // draws that no program reaches

}  // namespace

Generator Generator::fork(std::uint64_t number) const { return Generator(word(key_, kNumbered, number)); }
Generator Generator::fork() { return Generator(word(key_, kNext, draws_++)); }

}  // namespace random
}  // namespace v0
}  // namespace tarry
