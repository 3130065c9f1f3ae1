// Runs programs in every way the engine offers, and compares the results bit for bit and with the oracle.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tarry/device.h>

#include "tests/fuzz/program.h"

namespace tarry::test::fuzz {

/// When values are evaluated.
enum class Order : std::uint8_t {
  Together,  ///< the outputs in one call
  Stepwise,  ///< after every statement
  Dropping,  ///< after every second statement, and what is not read again is dropped
  Peeking,   ///< views of values drawn at random, which stay lazy themselves; then the outputs
};

/// A way to run a program.
struct Variant {
  const char* name;
  const char* disabled;  ///< words of TARRY_DISABLE
  Order order = Order::Together;
  Device device = cpu;
};

/// Values of each program: of all statements where stepwise (inputs first), else of the outputs. All programs take part
/// in the same evaluate calls, so that their kernels compile in batches.
std::vector<std::vector<Tensor>> run(std::span<const Program> programs, const Variant& variant);

struct Failure {
  std::size_t program = 0;
  std::string what;
};

/// The part of the C compiler, which takes ten times as long as all the rest: nothing, whole programs, and every
/// statement by itself.
enum class Depth : std::uint8_t { Basic, Compiled, All };

/// Stepwise results against the oracle, then every variant against the stepwise results; on a GPU also against the CPU
/// where only functions of ulp bound 0 are upstream. One failure per program at most; with `stop` the variants after
/// one that fails are left out.
std::vector<Failure> check(std::span<const Program> programs, Device device, Depth depth, bool stop = false);

/// The failure with its shrunk program as C++.
std::string explain(const Program& program, const Failure& failure, Device device);

}  // namespace tarry::test::fuzz
