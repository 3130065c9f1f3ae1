#!/usr/bin/env python3
"""Seconds that NumPy takes to price the options of examples/black_scholes.cpp (best of several runs).

NumPy has no erf; with SciPy it is used, else Abramowitz and Stegun 7.1.26 (five coefficients and an exp) stands for it.
"""
import argparse
import time

import numpy as np

try:
    from scipy.special import erf
except ImportError:
    def erf(x):
        sign, x = np.sign(x), np.abs(x)
        t = 1 / (1 + np.float32(0.3275911) * x)
        c = [np.float32(v) for v in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)]
        return sign * (1 - t * (c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * c[4])))) * np.exp(-x * x))

RATE, VOLATILITY = np.float32(0.02), np.float32(0.30)


def cdf(x):
    return np.float32(0.5) * (1 + erf(x * np.float32(0.70710678)))


def price(spot, strike, years):
    spread = VOLATILITY * np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + np.float32(0.5) * VOLATILITY * VOLATILITY) * years) / spread
    discounted = strike * np.exp(-RATE * years)
    call = spot * cdf(d1) - discounted * cdf(d1 - spread)
    return call, call - spot + discounted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    spot = random.uniform(5, 30, options.n).astype(np.float32)
    strike = random.uniform(1, 100, options.n).astype(np.float32)
    years = random.uniform(0.25, 10, options.n).astype(np.float32)
    seconds = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        price(spot, strike, years)
        seconds.append(time.perf_counter() - start)
    print(f"{min(seconds):.6f}")


if __name__ == "__main__":
    main()
