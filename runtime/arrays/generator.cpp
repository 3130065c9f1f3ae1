// Forks of random generators: their keys are words of Philox itself.
#include <tarry/random.h>

#include "codegen/interpret/interpreter.h"
#include "graph/record/draws.h"

namespace tarry {
inline namespace v0 {
namespace random {
namespace {

/// Element `number` of a 64-bit draw.
std::uint64_t word(std::uint64_t key, std::uint32_t draw, std::uint64_t number) {
  static const codegen::ScalarFunction bits = codegen::scalar_function(graph::Op::RandomBits, int64, uint64);
  std::uint64_t value = 0;
  bits(&value, &number, &key, &draw);
  return value;
}

// Draws beyond those of a stream: their elements are keys.
constexpr std::uint32_t kFork = 1U << 31, kNextFork = kFork + 1, kStream = kFork + 2;

}  // namespace

std::uint64_t Generator::key(Where where) const {
  detail::Draws::require_known(*this, "key", where);
  return key_;
}
std::uint64_t Generator::draws(Where where) const {
  detail::Draws::require_known(*this, "draws", where);
  return draws_;
}
Generator Generator::fork(std::uint64_t number) const {
  detail::Draws::require_known(*this, "fork", {});
  return Generator(word(key_, kFork, number));
}
Generator Generator::fork() {
  detail::Draws::require_own(*this, "fork", {});
  Generator forked(word(key_, kNextFork, draws_));
  *this = Generator(key_, draws_ + 1);
  return forked;
}
std::uint64_t Generator::stream_key() const {
  const std::uint64_t stream = draws_ >> 31;
  return stream == 0 ? key_ : word(key_, kStream, stream);
}

}  // namespace random
}  // namespace v0
}  // namespace tarry
