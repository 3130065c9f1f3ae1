#!/usr/bin/env python3
"""Runs the program `places` and NumPy's functions for the same rows in turns, and prints both.

places.py PROGRAM [--n N] [--rounds R]. The best of the rounds counts.
"""
import argparse
import subprocess
import time

import numpy as np


def rows_for(n):
    i = ((np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)).astype(np.int64) % n
    v = i.astype(np.float32) * np.float32(0.37)
    rows = {}

    def put(shape, dtype, at, value, ufunc=None):
        def call():
            to = np.zeros(shape, dtype)
            if ufunc is None:
                to[at] = value
            else:
                ufunc.at(to, at, value)
            return to

        return call

    for row in (1, 4, 64):
        x, at = v[: n // row * row].reshape(-1, row), i[: n // row] % (n // row)
        rows[f"take_{row}"] = lambda x=x, at=at: np.take(x, at, 0)
        rows[f"set_{row}"] = put(x.shape, np.float32, at, x)
    rows["take_multiply_sum"] = lambda: (np.take(v, i) * v).sum()
    for bins in (1000, 1_000_000):
        at, whole = i % bins, i.astype(np.int32)
        rows[f"add_int32_to_{bins}"] = put(bins, np.int32, at, whole, np.add)
        rows[f"add_float32_to_{bins}"] = put(bins, np.float32, at, v, np.add)
        rows[f"maximum_float32_to_{bins}"] = put(bins, np.float32, at, v, np.maximum)
    for percent in (1, 50, 99):
        rows[f"compress_{percent}"] = lambda mask=i % 100 < percent: v[mask]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--n", type=int, default=1 << 22)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = rows_for(options.n)
    ours, theirs, launches = {}, {}, {}
    for _ in range(options.rounds):
        text = subprocess.run([options.program, "--n", str(options.n), "--device", "cpu"], check=True,
                              capture_output=True, text=True).stdout
        for line in text.splitlines():
            name, ms, _, count = line.split()
            ours[name] = min(ours.get(name, np.inf), float(ms))
            launches[name] = int(count)
        for name, call in rows.items():
            start = time.perf_counter()
            call()
            theirs[name] = min(theirs.get(name, np.inf), 1e3 * (time.perf_counter() - start))
    print(f"{'':<28}{'Tarry ms':>10}{'NumPy ms':>10}{'ratio':>8}{'launches':>10}")
    for name, ms in ours.items():
        print(f"{name:<28}{ms:>10.2f}{theirs[name]:>10.2f}{theirs[name] / ms:>8.2f}{launches[name]:>10}")


if __name__ == "__main__":
    main()
