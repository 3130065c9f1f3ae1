// Properties of sea water as long polynomials of its state, as oceanographers fit them: in the root of salinity, in
// temperature and in pressure, with a logarithm of dilution. The coefficients are made up.
#include <cmath>

#include "bench/programs/program.h"

namespace bench {
namespace {

/// The coefficient of s^i t^j p^k in polynomial number n: smaller for higher powers.
double coefficient(int n, int i, int j, int k) {
  return std::cos(1.0 + n + 2.0 * i + 3.0 * j + 5.0 * k) / (1 << (i + j + k));
}

/// All powers of s, t and p up to degree 6 together, by Horner's rule.
Array polynomial(int n, const Array& s, const Array& t, const Array& p) {
  Array in_p;
  for (int k = 6; k >= 0; --k) {
    Array in_t;
    for (int j = 6 - k; j >= 0; --j) {
      Array in_s = ta::full_like(s, coefficient(n, 6 - j - k, j, k));
      for (int i = 5 - j - k; i >= 0; --i) in_s = in_s * s + coefficient(n, i, j, k);
      in_t = in_t.is_defined() ? in_t * t + in_s : in_s;
    }
    in_p = in_p.is_defined() ? in_p * p + in_t : in_t;
  }
  return in_p;
}

Arrays step(const Array& salinity, const Array& temperature, const Array& pressure) {
  const Array s = ta::sqrt(salinity / 40), t = temperature / 30, p = pressure / 5000;
  const Array density = 1000 + polynomial(0, s, t, p) + s * s * s * ta::log(1 + s);
  const Array enthalpy = polynomial(1, s, t, p) + ta::log(1 + p) / density;
  const Array sound = 1500 * ta::sqrt(1 + 0.01 * polynomial(2, s, t, p));
  return {density, enthalpy, sound};
}

}  // namespace

Program equation_of_state(const Setting& setting) {
  const std::int64_t n = setting.extent(301, 1 << 19, 1 << 22);
  return {.inputs = {{{n}, 1, 40}, {{n}, 0, 30}, {{n}, 0, 5000}},
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2]); }};
}

}  // namespace bench
