#!/usr/bin/env python3
"""Fits the polynomials of codegen/prelude/ and prints them and the constants beside them as C literals.

Method: weighted minimax by the Remez exchange on a dense Chebyshev grid (Remez 1934; Muller, "Elementary Functions",
3rd ed., ch. 3), in 60-digit arithmetic. Coefficients are then rounded to the target format one at a time, from the
lowest order (whose rounding error matters most) up; the orders above make up for each rounding. Needs mpmath.

Argument reductions:
  exp  x = n ln2 + r, |r| <= ln2/2, ln2 in two parts with n * ln2_hi exact (Cody and Waite, "Software Manual for the
       Elementary Functions", 1980; Tang, ACM TOMS 15(2), 1989);  exp(r) = 1 + r + r^2 Q(r)
  log  x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).  float32: log(1+f) = f - f^2/2 + f^3 Q(f).
       float64: s = f / (2 + f), log(1+f) = f - (f^2/2 - s (f^2/2 + s^2 Q(s^2))), since log(1+f) = 2 atanh(s)
       (Tang, ACM TOMS 16(4), 1990).  Short ones, for float32: 2 atanh(s) = 2 s + 2 s^3 P(s^2), and as many terms of exp
  erf  |x| <= 1: x + x Q(x^2).  Above: 1 - exp(Q(|x| - 1)), Q a fit of log(erfc); the weight erfc(x) is what an error of
       Q does to the result, so a plain polynomial reaches to where erf rounds to 1 (cf. Cody, Math. Comp. 23, 1969)
  sin, cos  x = n pi/2 + r, |r| <= pi/4, pi/2 in parts of 33 bits (Cody and Waite), beyond 2^20 by multiplication with the
       bits of 2/pi that matter (Payne and Hanek, SIGNUM Newsletter 18, 1983); sin(r) = r + r^3 Q(r^2),
       cos(r) = 1 - r^2/2 + r^4 Q(r^2).  float32 computes in float64, hence the short fits there
  atan |x| <= tan(pi/8): x + x^3 Q(x^2), elsewhere by atan(x) = pi/4 + atan((x-1)/(x+1)) = pi/2 - atan(1/x)
  asin |x| <= 1/2: x + x^3 Q(x^2), elsewhere pi/2 - 2 asin(sqrt((1-x)/2))
  pow  log as for float64 above, its two leading terms 2 s + 2/3 s^3 in double-double, and s^5 Q(s^2) in double
  normal quantile, float32: of c in (0, 1), sqrt(2) erfinv(c) = c Q(w), w = -log(1 - c^2), for w < 5 in w - 2.5, beyond in
       sqrt(w) - 3 (Giles, "Approximating the erfinv function", GPU Computing Gems, 2011). An error of w hardly matters,
       so the logarithm is a short one
  tanh float32, |x| <= 0.55: x + x^3 Q(x^2)
"""
import argparse
import mpmath as mp

mp.mp.dps = 60


def grid(low, high, count):
    """Chebyshev points: dense at the ends, where a minimax error has its extrema."""
    return [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * j + 1) / (2 * count)) for j in range(count)][::-1]


def remez(points, values, weights, exponents):
    """Coefficients of sum c_i x^exponents[i] that minimise max |weight * (value - sum)|, and that maximum."""
    size = len(exponents) + 1
    powers = [[x ** e for e in exponents] for x in points]
    reference = [round((len(points) - 1) * (1 - mp.cos(mp.pi * (i + 0.5) / size)) / 2) for i in range(size)]
    for _ in range(40):
        matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
        for row, at in enumerate(reference):
            for column in range(size - 1):
                matrix[row, column] = powers[at][column] * weights[at]
            matrix[row, size - 1] = (-1) ** row
            right[row] = values[at] * weights[at]
        solution = mp.lu_solve(matrix, right)
        level = abs(solution[size - 1])
        errors = [w * (v - mp.fdot(p, solution[:size - 1])) for v, w, p in zip(values, weights, powers)]
        worst = max(abs(e) for e in errors)
        if worst <= level * mp.mpf("1.001"):
            break
        reference = exchange(errors, size)
    return list(solution[:size - 1]), worst


def exchange(errors, size):
    """Indices of `size` alternating extrema, among them the largest."""
    extrema = []
    for i, e in enumerate(errors):
        if extrema and (e > 0) == (errors[extrema[-1]] > 0):
            if abs(e) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > size:
        if len(extrema) == size + 1 or abs(errors[extrema[0]]) < abs(errors[extrema[-1]]):
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        else:
            extrema.pop()
    if len(extrema) < size:
        raise RuntimeError("the error does not alternate often enough: take a denser grid or a lower degree")
    return extrema


def rounded(value, bits):
    if value == 0:
        return mp.mpf(0)
    exponent = mp.floor(mp.log(abs(value), 2)) + 1 - bits
    return mp.nint(value / mp.mpf(2) ** exponent) * mp.mpf(2) ** exponent


def literal(value, bits):
    """Exact C literal: value has at most `bits` significant bits."""
    sign, value = ("-" if value < 0 else ""), abs(value)
    exponent = int(mp.floor(mp.log(value, 2)))
    digits = (bits + 2) // 4
    mantissa = int(value / mp.mpf(2) ** exponent * 16 ** digits)
    assert mp.mpf(mantissa) / 16 ** digits * mp.mpf(2) ** exponent == value
    text = f"{mantissa:x}"
    return f"{sign}0x{text[0]}.{text[1:]}p{exponent}" + ("f" if bits <= 24 else "")


def round_all(coefficients, points, weights, bits):
    """Rounds in place, lowest order first; each rounding is made up for by the orders above it (weighted least squares)."""
    count = len(coefficients)
    moments = [mp.fsum(w * w * x ** k for x, w in zip(points, weights)) for k in range(2 * count)]
    for order in range(count):
        exact, coefficients[order] = coefficients[order], rounded(coefficients[order], bits)
        free = range(order + 1, count)
        if free:
            gram = mp.matrix([[moments[i + j] for j in free] for i in free])
            right = mp.matrix([(exact - coefficients[order]) * moments[order + i] for i in free])
            for j, change in zip(free, mp.lu_solve(gram, right)):
                coefficients[j] += change


def fit(name, function, weight, low, high, degree, bits):
    """Prints the coefficients of orders 0..degree and the largest weighted error before and after rounding them."""
    points = [x for x in grid(mp.mpf(low), mp.mpf(high), 40 * (degree + 6)) if weight(x) != 0]
    values, weights = [function(x) for x in points], [weight(x) for x in points]
    coefficients, exact = remez(points, values, weights, range(degree + 1))
    round_all(coefficients, points, weights, bits)
    worst = max(abs(w * (v - mp.polyval(coefficients[::-1], x))) for x, v, w in zip(points, values, weights))
    print(f"{name}: weighted error 2^{mp.nstr(mp.log(exact, 2), 5)}, rounded 2^{mp.nstr(mp.log(worst, 2), 5)}")
    for order, c in enumerate(coefficients):
        print(f"  c{order} {literal(c, bits)}")


def split(name, value, high_bits, bits):
    high = rounded(value, high_bits)
    print(f"{name}: {literal(high, bits)} {literal(rounded(value - high, bits), bits)}")


def exp_tail(x):
    return (mp.exp(x) - 1 - x) / x ** 2


def log_tail(f):
    return (mp.log1p(f) - f + f * f / 2) / f ** 3


def atanh_tail(z):
    """Q(z) with s = sqrt(z): 2 atanh(s) = f - (f^2/2 - s (f^2/2 + s^2 Q)), where f = 2 s / (1 - s): s^2 Q = 2 atanh(s)/s - 2."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def erf_tail(z):
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def log_erfc(u):
    return mp.log(mp.erfc(1 + u))


def odd_tail(function):
    """Q(z) with function(x) = x + x^3 Q(x^2)."""
    def tail(z):
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z
    return tail


def odd_weight(function):
    """What an error of odd_tail does to the result, relative to it."""
    return lambda z: z * mp.sqrt(z) / function(mp.sqrt(z))


def cos_tail(z):
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z ** 2


def pow_log_tail(z):
    """Q(z) with 2 atanh(s) = 2 s + 2/3 s^3 + s^5 Q(s^2)."""
    s = mp.sqrt(z)
    return ((2 * mp.atanh(s) / s - 2) / z - mp.mpf(2) / 3) / z


def normal_factor(w):
    c = mp.sqrt(-mp.expm1(-w))
    return mp.sqrt(2) * mp.erfinv(c) / c


def parts(name, value, bits, count):
    """value as a sum of count floats: all but the last have `bits` bits, so that a small integer times one is exact."""
    texts = []
    for i in range(count):
        part = rounded(value, bits if i < count - 1 else 53)
        texts.append(literal(part, 53))
        value -= part
    print(f"{name}:", *texts)


def two_over_pi(word_bits, count):
    """The bits of 2/pi after one word of zeros."""
    with mp.workprec(word_bits * (count + 1)):
        bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (word_bits * (count - 1))))
    words = [bits >> word_bits * (count - 1 - i) & (1 << word_bits) - 1 for i in range(count)]
    print(f"two_over_pi, {word_bits} bits:", ", ".join(f"0x{w:0{word_bits // 4}x}" for w in words))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="fit only these, e.g. exp_f32")
    wanted = parser.parse_args().names
    ln2, half, root = mp.log(2), mp.log(2) / 2 * mp.mpf("1.0001"), mp.sqrt(2)
    s_max = ((root - 1) / (root + 1)) ** 2 * mp.mpf("1.0001")

    def run(name, *rest, **options):
        if not wanted or name in wanted:
            fit(name, *rest, **options)

    split("ln2_f32", ln2, 15, 24)
    split("ln2_f64", ln2, 41, 53)
    print("log2e_f32", literal(rounded(1 / ln2, 24), 24), "log2e_f64", literal(rounded(1 / ln2, 53), 53))
    run("exp_f32", exp_tail, lambda r: r * r / mp.exp(r), -half, half, 4, 24)
    run("exp_f64", exp_tail, lambda r: r * r / mp.exp(r), -half, half, 9, 53)
    run("log_f32", log_tail, lambda f: f ** 3 / mp.log1p(f), 1 / root - 1, root - 1, 7, 24)
    run("log_f64", atanh_tail, lambda z: z / 2, 0, s_max, 6, 53)
    run("short_log", odd_tail(mp.atanh), lambda z: z, 0, s_max, 3, 53)
    run("short_expm1", exp_tail, lambda r: abs(r), -half, half, 5, 53)
    run("erf_small_f32", erf_tail, lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)), 0, 1, 6, 24)
    run("erf_large_f32", log_erfc, lambda u: mp.erfc(1 + u), 0, "2.95", 7, 24)
    run("erf_small_f64", erf_tail, lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)), 0, 1, 11, 53)
    run("erf_large_f64", log_erfc, lambda u: mp.erfc(1 + u), 0, "4.95", 19, 53)
    quarter = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
    eighth = mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001")
    for suffix, sin_degree, cos_degree in (("f32", 3, 2), ("f64", 5, 5)):  # both in float64
        run("sin_" + suffix, odd_tail(mp.sin), odd_weight(mp.sin), 0, quarter, sin_degree, 53)
        run("cos_" + suffix, cos_tail, lambda z: z * z / mp.cos(mp.sqrt(z)), 0, quarter, cos_degree, 53)
    run("atan_f64", odd_tail(mp.atan), odd_weight(mp.atan), 0, eighth, 10, 53)
    run("asin_f64", odd_tail(mp.asin), odd_weight(mp.asin), 0, "0.25001", 12, 53)
    run("pow_log_f64", pow_log_tail, lambda z: z * z / 2, 0, s_max, 6, 53)
    run("tanh_f32", odd_tail(mp.tanh), odd_weight(mp.tanh), 0, mp.mpf("0.551") ** 2, 4, 24)
    run("normal_log_f32", log_tail, lambda f: abs(f ** 3), 1 / root - 1, root - 1, 5, 24)
    run("normal_center_f32", lambda t: normal_factor(t + mp.mpf("2.5")), lambda t: 1 / normal_factor(t + mp.mpf("2.5")), "-2.5", "2.5", 9, 24)
    run("normal_tail_f32", lambda t: normal_factor((t + 3) ** 2), lambda t: 1 / normal_factor((t + 3) ** 2), "-0.765", "1.638", 10, 24)
    parts("pi/2", mp.pi / 2, 33, 4)
    parts("pi/4", mp.pi / 4, 53, 2)
    parts("2/pi", 2 / mp.pi, 53, 1)
    parts("ln 2", ln2, 41, 3)
    parts("1/ln 2", 1 / ln2, 21, 2)
    parts("1/ln 10", 1 / mp.log(10), 21, 2)
    parts("log10 2", mp.log10(2), 41, 2)
    parts("2/3", mp.mpf(2) / 3, 53, 2)
    two_over_pi(32, 9)
    two_over_pi(64, 20)


if __name__ == "__main__":
    main()
