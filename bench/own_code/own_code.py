#!/usr/bin/env python3
"""The rows of own_code.cpp that JAX has, as jax.lax has them: one line a row, its name and milliseconds.

own_code.py [--part P] [--rows NAME ...]. The same extents as the program with --part P.
"""
import argparse
import time

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)


def linear(c, x):
    after = c * jnp.float32(0.99) + x
    return after, after


def escape(cr, ci):
    def step(state):
        re, im, n = state
        return re * re - im * im + cr, 2 * re * im + ci, n + 1

    def on(state):
        return (state[2] < 200) & (state[0] * state[0] + state[1] * state[1] <= 4)

    return lax.while_loop(on, step, (0.0, 0.0, 0))[2]


def rows_for(part):
    key = jax.random.key(1)
    lanes, steps, systems, n = 100_000 // part, 10_000_000 // part, 1_000_000 // part, (1 << 26) // part
    size = 4096 // part

    def noise(*shape):
        return jax.random.uniform(key, shape, jnp.float32)

    def symmetric(n):
        a = jax.random.uniform(key, (systems * 16 // (n * n), n, n), jnp.float64)
        return a + jnp.swapaxes(a, -1, -2) + n * jnp.eye(n)

    def right(n):
        return jax.random.uniform(key, (systems * 16 // (n * n), n, 1), jnp.float64)

    matrices = {}
    for order in (4, 8, 16, 32):
        matrices[f"solve_{order}"] = (jnp.linalg.solve, (symmetric(order), right(order)))
        for call in (jnp.linalg.inv, jnp.linalg.det, jnp.linalg.cholesky, jnp.linalg.eigh):
            matrices[f"{call.__name__}_{order}"] = (call, (symmetric(order),))
    zero = jnp.float32(0)
    grid = jnp.linspace(-2.0, 1.0, size), jnp.linspace(-1.5, 1.5, size)
    return {
        "mandelbrot": (jax.vmap(jax.vmap(escape, (0, None)), (None, 0)), grid),
        "scan_first_axis": (lambda x: lax.scan(linear, jnp.zeros(lanes, jnp.float32), x)[1], (noise(512, lanes),)),
        "scan_last_axis": (
            lambda x: lax.scan(linear, jnp.zeros(lanes, jnp.float32), x.T)[1].T, (noise(lanes, 512),)),
        "tridiagonal_last_axis": (
            lambda a, b, c, d: lax.linalg.tridiagonal_solve(a, b, c, d[..., None])[..., 0],
            (noise(systems, 64), noise(systems, 64) + 3, noise(systems, 64), noise(systems, 64))),
        "reduction": (lambda x: lax.reduce(x, -jnp.float32(jnp.inf), lambda a, b: jnp.where(a > b, a, b), (0,)), (noise(n),)),
        "associative_scan": (lambda x: lax.associative_scan(jnp.add, x), (noise(n),)),
        "scan_one_lane": (lambda x: lax.scan(linear, zero, x)[1], (noise(steps // 100),)),
        **matrices,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", type=int, default=16)
    parser.add_argument("--rows", nargs="*")
    options = parser.parse_args()
    for name, (call, arguments) in rows_for(options.part).items():
        if options.rows and name not in options.rows:
            continue
        compiled = jax.jit(call)
        jax.block_until_ready(compiled(*arguments))
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            jax.block_until_ready(compiled(*arguments))
            best = min(best, time.perf_counter() - start)
        # A hundredth of the steps, as each takes JAX a launch.
        print(name, f"{1e3 * best * (100 if name == 'scan_one_lane' else 1):.4f}", flush=True)


if __name__ == "__main__":
    main()
