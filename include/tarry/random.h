// Random arrays. A draw is lazy like everything else: it is computed inside the kernels that use it, and needs no
// memory.
//
// Element i, in row-major order, of draw number s of a generator depends on (seed, s, i) alone: not on the shape's
// other extents, on views, fusion, device or threads. The words come from Philox4x32-10 (Salmon et al., SC 2011);
// docs/reference/numerics.md says which word makes which element, and how. CPU and GPU give the same numbers, bit for
// bit (exponential to the error of log1p). There is no global generator.
//
//     ta::random::Generator g(42);
//     ta::Array x = ta::random::uniform(g, {1000, 1000}), y = ta::random::uniform(g, {1000, 1000});
//     ta::Array pi = 4 * ta::mean(x * x + y * y < 1);
//
// Shapes: `shape`.
// Throws InvalidArgument, with the caller's file and line, where a shape, a dtype or a parameter is wrong; then no draw
// is taken.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <optional>
#include <source_location>

namespace tarry {
inline namespace v0 {
namespace detail {
struct Draws;
}
namespace random {

/// A stream of draws: a key and how many draws were taken. A value: a copy goes on with the same numbers. One object
/// must not be used by two threads at once; forks are for that.
/// Example: `ta::random::Generator g(42), h = g.fork(1)`.
class Generator {
 public:
  /// Goes on after `draws` draws, as a generator of that seed that took them.
  TARRY_EXPORT explicit Generator(std::uint64_t seed, std::uint64_t draws = 0);

  /// An independent stream, by number: the same for the same key and number, however many draws were taken.
  [[nodiscard]] TARRY_EXPORT Generator fork(std::uint64_t number) const;
  /// An independent stream, another one at each call; takes a draw's number.
  [[nodiscard]] TARRY_EXPORT Generator fork();

  /// The seed; of a fork what it was given. Throws InvalidArgument for an argument of a function that is recorded to be
  /// replayed.  Example: `ta::random::Generator(42).key()` is `42`.
  [[nodiscard]] TARRY_EXPORT std::uint64_t key(Where where = std::source_location::current()) const;
  /// How many were taken: the next one's number. Throws InvalidArgument as key does.
  /// Example: `ta::random::Generator(42, 3).draws()` is `3`.
  [[nodiscard]] TARRY_EXPORT std::uint64_t draws(Where where = std::source_location::current()) const;
  friend bool operator==(const Generator& a, const Generator& b) noexcept {
    return a.key_ == b.key_ && a.draws_ == b.draws_;
  }

 private:
  friend struct detail::Draws;
  [[nodiscard]] std::uint64_t stream_key() const;  // what kernels take as the key of the next draw
  std::uint64_t key_, draws_;
  Array argument_;  // that, one argument for all draws
};

/// The words of a draw.  Dtypes: uint32 or uint64.
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::bits(g, {4})`.
[[nodiscard]] TARRY_EXPORT Array bits(Generator& g, const Shape& shape, Dtype dtype = uint32,
                                      Where where = std::source_location::current());

/// Options of uniform.
struct UniformOptions {
  double low = 0, high = 1;
  std::optional<Dtype> dtype = {};  ///< else the default float: float32, unless a Scope says float64
};
/// Uniform numbers, low <= x < high.  Dtypes: floating. On [0, 1) multiples of 2^-23, of 2^-52 in float64, of 2^-11 in
/// float16, of 2^-8 in bfloat16; elsewhere low + (high - low) times that, rounded.
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::uniform(g, {2, 3}, {.low = -1})`.
[[nodiscard]] TARRY_EXPORT Array uniform(Generator& g, const Shape& shape, UniformOptions options = {},
                                         Where where = std::source_location::current());

/// Options of normal.
struct NormalOptions {
  double mean = 0, deviation = 1;
  std::optional<Dtype> dtype = {};  ///< else the default float: float32, unless a Scope says float64
};
/// Normal numbers.  Dtypes: floating. The quantile of a word: up to 6.3 deviations, 9.1 in float64. deviation may be 0.
/// Algorithm: float32 after Giles (GPU Computing Gems, 2011), float64 Wichura's AS241 (Applied Statistics 37(3), 1988).
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::normal(g, {2, 3}, {.mean = 5, .deviation = 2})`.
[[nodiscard]] TARRY_EXPORT Array normal(Generator& g, const Shape& shape, NormalOptions options = {},
                                        Where where = std::source_location::current());

/// Options of exponential.
struct ExponentialOptions {
  double scale = 1;
  std::optional<Dtype> dtype = {};  ///< else the default float: float32, unless a Scope says float64
};
/// Exponential numbers with mean `scale`: -log1p(-u) * scale of a uniform u.  Dtypes: floating.
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::exponential(g, {2, 3}, {.scale = 4})`.
[[nodiscard]] TARRY_EXPORT Array exponential(Generator& g, const Shape& shape, ExponentialOptions options = {},
                                             Where where = std::source_location::current());

/// Integers, low <= x < high, each as likely as any other to a part in 2^16 (of ranges beyond 2^16: to a part in 2^64 /
/// (high - low); exactly where high - low is a power of two).  Dtypes: integers; low and high - 1 must fit. A bound
/// past int64 is an unsigned number: `integers(g, shape, INT64_MIN, std::uint64_t{1} << 63)` is all of int64.
/// Example: `ta::random::Generator g(1); ta::Array dice = ta::random::integers(g, {10}, 1, 7)`.
[[nodiscard]] TARRY_EXPORT Array integers(Generator& g, const Shape& shape, Scalar low, Scalar high,
                                          Dtype dtype = int64, Where where = std::source_location::current());

/// Every number that the dtype has, each as likely as any other.  Dtypes: integers.
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::integers(g, {10}, ta::int32)`.
[[nodiscard]] TARRY_EXPORT Array integers(Generator& g, const Shape& shape, Dtype dtype = int64,
                                          Where where = std::source_location::current());

/// True with probability p: a uniform number, of float64 where p is a float64 array, else of float32, is less than p.
/// Shapes: `shape`, to which p broadcasts; without it that of p.  Dtypes: p is a number in [0, 1] or a floating array
/// (not checked: what is less than 0 is never true); gives bool.
/// Example: `ta::random::Generator g(1); ta::Array coins = ta::random::bernoulli(g, {10}, 0.5)`.
[[nodiscard]] TARRY_EXPORT Array bernoulli(Generator& g, const Shape& shape, const Operand& p,
                                           Where where = std::source_location::current());
[[nodiscard]] TARRY_EXPORT Array bernoulli(Generator& g, const Array& p, Where where = std::source_location::current());

// Distributions whose numbers are found by rounds: an element goes on until it accepts a number. The rounds are one
// loop in the kernel that uses the numbers. Parameters are numbers or arrays that broadcast to `shape`; numbers are
// checked, elements of arrays are not.

/// Options of gamma and beta.
struct GammaOptions {
  std::optional<Dtype> dtype = {};  ///< else that of parameters that are floating arrays, else the default float
};
/// Numbers of the gamma distribution of scale 1 and shape parameter a: density x^(a-1) exp(-x) / gamma(a). 0 where a is
/// 0; NaN where it is negative, infinite or NaN.  Dtypes: floating.  Throws also where the number a is none of [0,
/// inf). Algorithm: Marsaglia and Tsang, A simple method for generating gamma variables (ACM TOMS 26(3), 2000); below 1
/// that of a + 1 times u^(1/a). Example: `ta::random::Generator g(1); ta::Array x = ta::random::gamma(g, {10}, 2.5)`.
[[nodiscard]] TARRY_EXPORT Array gamma(Generator& g, const Shape& shape, const Operand& a, GammaOptions options = {},
                                       Where where = std::source_location::current());
/// Numbers of the beta distribution on [0, 1]: x / (x + y) of gamma numbers x of a and y of b, by their logarithms, so
/// that small a and b do not lose both. Takes two draws. NaN where one is not positive.  Dtypes: floating.  Throws also
/// where a number is none of (0, inf).
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::beta(g, {10}, 0.5, 2)`.
[[nodiscard]] TARRY_EXPORT Array beta(Generator& g, const Shape& shape, const Operand& a, const Operand& b,
                                      GammaOptions options = {}, Where where = std::source_location::current());
/// Counts of the Poisson distribution of this mean.  Dtypes: int64, found in float64. -1 where the mean is negative,
/// NaN or above 2^62.  Throws also where the number is.  Algorithm: below a mean of 10 inversion, adding up
/// probabilities; from there transformed rejection, PTRS of Hoermann (Insurance: Mathematics and Economics 12, 1993).
/// Example: `ta::random::Generator g(1); ta::Array x = ta::random::poisson(g, {10}, 4.5)`.
[[nodiscard]] TARRY_EXPORT Array poisson(Generator& g, const Shape& shape, const Operand& mean,
                                         Where where = std::source_location::current());
/// Successes among n trials of probability p.  Dtypes: int64, found in float64. -1 where n is negative or above 2^52,
/// or p is none of [0, 1].  Throws also where the number is, and where n is floating.  Algorithm: of p and 1 - p the
/// smaller, up to 10 expected successes inversion, else transformed rejection, BTRS of Hoermann (J. Statist. Comput.
/// Simul. 46, 1993). Example: `ta::random::Generator g(1); ta::Array x = ta::random::binomial(g, {10}, 20, 0.25)`.
[[nodiscard]] TARRY_EXPORT Array binomial(Generator& g, const Shape& shape, const Operand& n, const Operand& p,
                                          Where where = std::source_location::current());

}  // namespace random
}  // namespace v0
}  // namespace tarry
