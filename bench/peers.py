#!/usr/bin/env python3
"""Times the workloads of bench/workloads.cpp on the system that a user would take instead of Tarry.

One JSON object per line: first the versions of what was used, then each workload with the fields of `tarry_bench --json`:
ms (back to back), sync_ms (one call and the wait for it), gbps over the least bytes there are to move, cold_s, or err.

usage: peers.py PEER [--device cpu|cuda] [--filter WORKLOAD ...]
Peers: numpy, numexpr, numba (cpu); cupy, cupy_fuse (cuda); torch, torch_compile, jax (both). Tarry itself
from Python (both): tarry_python records and evaluates, tarry_function replays.
"""
import argparse
import fnmatch
import importlib
import json
import math
import os
import platform
import time
from types import SimpleNamespace

import numpy as np

FLOAT_BYTES = 4
HEAT_STEPS = 10
DIMENSIONS = 16


def sizes(device):
    if device == "cuda":
        return SimpleNamespace(vector=1 << 26, rows=32768, columns=4096, square=16384, points=8192, draws=1 << 28)
    return SimpleNamespace(vector=1 << 23, rows=4096, columns=4096, square=4096, points=2048, draws=1 << 23)


def table(s):
    """workload -> (shapes of its inputs, elements of all its results, passes over inputs)"""
    vector, pair, reduced = (s.vector,), (2 * s.vector,), (4 * s.vector,)
    rows, square, half = (s.rows, s.columns), (s.square, s.square), s.square // 2
    points, centres = (s.points, DIMENSIONS), (2 * s.points, DIMENSIONS)
    return {
        "axpy": ([vector, vector], s.vector, 1),
        "chain20": ([vector, vector], s.vector, 1),
        "black_scholes": ([vector] * 3, 2 * s.vector, 1),
        "sum": ([reduced], 1, 1),
        "meanstd": ([reduced], 2, 1),
        "dot": ([pair, pair], 1, 1),
        "normdiff": ([pair, pair], 1, 1),
        "softmax": ([rows], s.rows * s.columns, 1),
        "layernorm": ([rows, (s.columns,), (s.columns,)], s.rows * s.columns, 1),
        "logsumexp": ([rows], s.rows, 1),
        "colsum": ([square], s.square, 1),
        "stencil9": ([square], (s.square - 2) ** 2, 1),
        "transpose_add": ([square, square], s.square**2, 1),
        "rbf": ([points, points], s.points**2, 1),
        "rbf_sum": ([centres, centres], 2 * s.points, 1),
        "mcpi": ([], 1, 1),
        "dahl": ([(4096, 2048), (2048, 256), (4096, 1)], 2 * 4096 * 256, 1),
        "cumsum": ([pair], 2 * s.vector, 1),
        "small10": ([(1024,), (1024,)], 1024, 1),
        "heat_small": ([(256, 256)], HEAT_STEPS * 256**2, HEAT_STEPS),
        "heat_big": ([(half, half)], HEAT_STEPS * half**2, HEAT_STEPS),
        "where_sum": ([pair], 1, 1),
        "argmax": ([rows], 2 * s.rows, 1),  # int64
        "multi_out": ([vector, vector], 3 * s.vector, 1),
    }


def formulas(xp, p, s):
    """The workloads, with `xp` for what every array library calls by one name and `p` for what they do not."""

    def chain20(x, y):
        a = x * 1.1 + y
        for _ in range(6):
            a = a * 0.9 + x
            a = a - y * 0.1
            a = xp.where(a > 2.0, a * 0.5, a)
        return a

    def black_scholes(spot, strike, years):
        def cdf(d):
            return 0.5 * (1.0 + p.erf(d * 0.70710678))

        rate, volatility = 0.02, 0.3
        spread = volatility * xp.sqrt(years)
        d1 = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
        d2 = d1 - spread
        discounted = strike * xp.exp(-rate * years)
        return spot * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - spot * cdf(-d1)

    def softmax(x):
        e = xp.exp(x - p.row_max(x))
        return e / p.along_rows(xp.sum, e)

    def layernorm(x, gain, bias):
        d = x - p.along_rows(xp.mean, x)
        return d / xp.sqrt(p.along_rows(xp.mean, d * d) + 1e-5) * gain + bias

    def logsumexp(x):
        most = p.row_max(x)
        return xp.log(p.along_rows(xp.sum, xp.exp(x - most))) + most

    def stencil9(x):
        cuts = slice(None, -2), slice(1, -1), slice(2, None)
        total = x[cuts[0], cuts[0]]
        for row in range(3):
            for column in range(3):
                if (row, column) != (0, 0):
                    total = total + x[cuts[row], cuts[column]]
        return total / 9.0

    def squared_distances(a, b):
        return xp.sum((a[:, None, :] - b[None, :, :]) ** 2, -1)

    def mcpi():
        u, v = p.uniform((s.draws,), 0), p.uniform((s.draws,), 1)
        return 4.0 * xp.mean(p.float32(u * u + v * v < 1.0))

    def dahl(w, x, b):
        probability = 1.0 / (1.0 + xp.exp(-(xp.matmul(w, x) + b)))
        return probability, p.float32(p.uniform((4096, 256), 0) < probability)

    def small10(x, y):
        a = x * y + 1.0
        a = xp.exp(-a) + x
        a = xp.sqrt(a * a + 1.0)
        return a * 0.5 - y

    def heat(u):
        for _ in range(HEAT_STEPS):
            c = u[1:-1, 1:-1]
            u = p.set_inside(u, c + 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * c))
        return u

    return {
        "axpy": lambda x, y: 2.5 * x + y,
        "chain20": chain20,
        "black_scholes": black_scholes,
        "sum": lambda x: xp.sum(x),
        "meanstd": lambda x: (xp.mean(x), xp.std(x)),
        "dot": lambda x, y: xp.sum(x * y),
        "normdiff": lambda x, y: xp.sqrt(xp.sum((x - y) ** 2)),
        "softmax": softmax,
        "layernorm": layernorm,
        "logsumexp": logsumexp,
        "colsum": lambda x: xp.sum(x, 0),
        "stencil9": stencil9,
        "transpose_add": lambda a, b: a + b.T,
        "rbf": lambda a, b: xp.exp(-0.5 * squared_distances(a, b)),
        "rbf_sum": lambda a, b: xp.sum(xp.exp(-0.5 * squared_distances(a, b)), 1),
        "mcpi": mcpi,
        "dahl": dahl,
        "cumsum": lambda x: xp.cumsum(x, 0),
        "small10": small10,
        "heat_small": heat,
        "heat_big": heat,
        "where_sum": lambda x: xp.sum(xp.where(x > 0.5, x * x, 0.0)),
        "argmax": lambda x: xp.argmax(x, 1),
        "multi_out": lambda x, y: (x + y, x - y, x * y),
    }


def copied_and_set(u, v):
    u = u.copy()
    u[1:-1, 1:-1] = v
    return u


def numpy_like(xp, erf, uniform):
    return SimpleNamespace(
        erf=erf,
        uniform=uniform,
        float32=lambda a: a.astype(np.float32),
        row_max=lambda x: xp.max(x, 1, keepdims=True),
        along_rows=lambda f, x: f(x, 1, keepdims=True),
        set_inside=copied_and_set,
    )


class Peer:
    """What differs between systems besides the formulas."""

    packages = ()

    def __init__(self, device):
        self.device = device

    def workloads(self, s):
        raise NotImplementedError

    def array(self, values):
        return values

    def wait(self, result):
        """Returns when `result`, and all before it, is computed."""


class NumPy(Peer):
    packages = ("numpy", "scipy")

    def workloads(self, s):
        try:
            from scipy.special import erf
        except ImportError:
            erf = np.vectorize(math.erf, otypes=[np.float32])
        random = np.random.Generator(np.random.Philox(7))
        return formulas(np, numpy_like(np, erf, lambda shape, _: random.random(shape, dtype=np.float32)), s)


class NumExpr(Peer):
    packages = ("numexpr",)

    def workloads(self, s):
        from numexpr import evaluate

        def chain20(x, y):
            a = evaluate("x * 1.1 + y")
            for _ in range(6):
                a = evaluate("a * 0.9 + x - y * 0.1")
                a = evaluate("where(a > 2.0, a * 0.5, a)")
            return a

        return {
            "axpy": lambda x, y: evaluate("2.5 * x + y"),
            "chain20": chain20,
            "sum": lambda x: evaluate("sum(x)"),
            "dot": lambda x, y: evaluate("sum(x * y)"),
            "normdiff": lambda x, y: np.sqrt(evaluate("sum((x - y) ** 2)")),
            "where_sum": lambda x: evaluate("sum(where(x > 0.5, x * x, 0))"),
        }


class Numba(Peer):
    packages = ("numba", "numpy")

    def workloads(self, s):
        import numba_workloads

        return numba_workloads.workloads(s.draws, HEAT_STEPS)


class Torch(Peer):
    packages = ("torch",)

    def workloads(self, s):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False

        def set_inside(u, v):
            u = u.clone()
            u[1:-1, 1:-1] = v
            return u

        return formulas(
            torch,
            SimpleNamespace(
                erf=torch.erf,
                uniform=lambda shape, _: torch.rand(shape, device=self.device),
                float32=lambda a: a.to(torch.float32),
                row_max=lambda x: torch.amax(x, 1, keepdim=True),
                along_rows=lambda f, x: f(x, 1, keepdim=True),
                set_inside=set_inside,
            ),
            s,
        )

    def array(self, values):
        import torch

        return torch.from_numpy(values).to(self.device)

    def wait(self, result):
        import torch

        if self.device == "cuda":
            torch.cuda.synchronize()


class TorchCompile(Torch):
    packages = ("torch", "triton")

    def workloads(self, s):
        import torch

        return {name: torch.compile(f, dynamic=False) for name, f in super().workloads(s).items()}


class CuPy(Peer):
    packages = ("cupy",)

    def workloads(self, s):
        import cupy
        from cupyx.scipy.special import erf

        random = cupy.random.Generator(cupy.random.Philox4x3210(7))
        return formulas(cupy, numpy_like(cupy, erf, lambda shape, _: random.random(shape, dtype=cupy.float32)), s)

    def array(self, values):
        import cupy

        return cupy.asarray(values)

    def wait(self, result):
        import cupy

        cupy.cuda.Device().synchronize()


class CuPyFuse(CuPy):
    FUSIBLE = ("axpy", "chain20", "black_scholes", "sum", "dot", "small10", "multi_out", "where_sum", "stencil9")

    def workloads(self, s):
        import cupy

        every = super().workloads(s)
        return {name: cupy.fuse(kernel_name=f"fused_{name}")(every[name]) for name in self.FUSIBLE}


class Jax(Peer):
    packages = ("jax", "jaxlib")

    def workloads(self, s):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", self.device)
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_default_matmul_precision", "highest")
        parts = numpy_like(jnp, jax.scipy.special.erf, lambda shape, key: jax.random.uniform(jax.random.PRNGKey(key), shape))
        parts.set_inside = lambda u, v: u.at[1:-1, 1:-1].set(v)
        return {name: jax.jit(f) for name, f in formulas(jnp, parts, s).items()}

    def array(self, values):
        import jax.numpy as jnp

        return jnp.asarray(values)

    def wait(self, result):
        import jax

        jax.block_until_ready(result)


class TarryPython(Peer):
    packages = ("tarry",)

    def workloads(self, s):
        os.environ.setdefault("TARRY_DEVICE", self.device)
        import tarry

        parts = SimpleNamespace(
            erf=tarry.erf,
            uniform=lambda shape, key: tarry.random.Generator(key).uniform(shape),
            float32=lambda a: a.astype(tarry.float32),
            row_max=lambda x: tarry.max(x, 1, keepdims=True),
            along_rows=lambda f, x: f(x, 1, keepdims=True),
            set_inside=copied_and_set,
        )

        def evaluated(record):
            def call(*arrays):
                results = record(*arrays)
                tarry.evaluate(*(results if isinstance(results, tuple) else (results,)))
                return results

            return call

        return {name: evaluated(self.prepared(f)) for name, f in formulas(tarry, parts, s).items()}

    def prepared(self, record):
        return record

    def array(self, values):
        import tarry

        x = tarry.asarray(values) + 0
        x.evaluate()  # in the device's own memory
        return x

    def wait(self, result):
        import tarry

        tarry.synchronize()


class TarryFunction(TarryPython):
    def prepared(self, record):
        import tarry

        return tarry.function(record)


PEERS = {
    "numpy": NumPy,
    "numexpr": NumExpr,
    "numba": Numba,
    "torch": Torch,
    "torch_compile": TorchCompile,
    "cupy": CuPy,
    "cupy_fuse": CuPyFuse,
    "jax": Jax,
    "tarry_python": TarryPython,
    "tarry_function": TarryFunction,
}


def measure(call, wait):
    """As measure() of bench/timing.h: seconds back to back, alone, and of the first call."""

    def seconds(calls):
        start = time.perf_counter()
        for _ in range(calls):
            result = call()
        wait(result)
        return time.perf_counter() - start

    cold = seconds(1)
    seconds(3)
    alone = seconds(1)
    calls = max(3, min(200, int(0.05 / max(alone, 1e-6))))
    samples = sorted(seconds(calls) / calls for _ in range(7))
    return samples[len(samples) // 2], alone, cold


class Inputs:
    """Arrays of numbers uniform in [0.1, 1), cut from one long run of them: making 2^28 takes a second."""

    def __init__(self, table):
        most = max((math.prod(shape) for shapes, _, _ in table.values() for shape in shapes), default=0)
        self.pool = np.random.default_rng(3).random(most + (1 << 18), dtype=np.float32)
        self.pool *= np.float32(0.9)
        self.pool += np.float32(0.1)

    def make(self, shape, number):
        start = number * 65536
        # A copy: inputs that share memory would be read once for all of them.
        return self.pool[start : start + math.prod(shape)].reshape(shape).copy()


def versions(packages):
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.import_module(name).__version__
        except (ImportError, AttributeError):
            pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--filter", nargs="*", default=[], help="only workloads of these names; * stands for anything")
    options = parser.parse_args()

    s = sizes(options.device)
    rows = table(s)
    if options.filter:
        rows = {name: r for name, r in rows.items() if any(fnmatch.fnmatchcase(name, f) for f in options.filter)}
    peer = PEERS[options.peer](options.device)
    calls = peer.workloads(s)
    print(json.dumps({"peer": options.peer, "versions": versions(peer.packages)}), flush=True)
    inputs = Inputs(rows)
    for name, (shapes, written, passes) in rows.items():
        if name not in calls:
            continue
        row = {"peer": options.peer, "w": name}
        try:
            arrays = [peer.array(inputs.make(shape, number)) for number, shape in enumerate(shapes)]
            peer.wait(arrays)
            seconds, alone, cold = measure(lambda: calls[name](*arrays), peer.wait)
            moved = FLOAT_BYTES * (passes * sum(math.prod(shape) for shape in shapes) + written)
            row.update(ms=1e3 * seconds, sync_ms=1e3 * alone, gbps=1e-9 * moved / seconds, cold_s=cold)
        except Exception as error:  # a system that cannot run a workload is a result
            row["err"] = str(error).split("\n")[0][:160]
        arrays = None
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
