#!/usr/bin/env python3
"""Times the programs on the system that a user would take instead of Tarry: NAME.py beside each NAME.cpp is the same
program for array libraries, numba_loops.py has loops for Numba.

One JSON object per line: first the versions of what was used, then each program with w, dtype, ms (a step, back to
back), cpu_ms (of all cores together), first_s and first_cpu_s (the first step, compiling included), or err.

usage: peers.py PEER TARRY_PROGRAMS [NAME ...] [--device cpu|cuda]
Peers: numpy, numba (cpu); cupy, torch_compile (cuda); jax (both).
"""
import argparse
import importlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from inputs import Generator, inputs


def load(name):
    return importlib.import_module(name)


class Library:
    """All that array libraries call by different names: `p` of a program's step(xp, p, ...). These are NumPy's names.

    size is the device that the extents are for, or "small".
    """

    packages = ("numpy",)
    xp = np

    def __init__(self, size, dtype):
        self.size, self.dtype = size, dtype
        self.random = np.random.Generator(np.random.Philox(7))

    def inputs(self, row):
        return inputs(row)

    def prepare(self, name):
        """The step of a program, compiled where the library compiles."""
        step = load(name).step
        return lambda *arrays: step(self.xp, self, *arrays)

    def wait(self, results):
        """Returns when the results are computed."""

    def set(self, x, box, v):
        x = x.copy()
        x[box] = v
        return x

    def add(self, x, box, v):
        x = x.copy()
        x[box] += v
        return x

    def scan(self, move, carry, levels):
        """move(carry, level) for each level of the arrays: the last carry, and what it gives besides, stacked."""
        kept = []
        for level in zip(*levels):
            carry, more = move(carry, level if len(level) > 1 else level[0])
            kept.append(more)
        if isinstance(kept[0], tuple):
            return carry, tuple(self.xp.stack(k) for k in zip(*kept))
        return carry, None if kept[0] is None else self.xp.stack(kept)

    def array(self, values, like):
        return self.xp.asarray(list(values), dtype=like.dtype)

    def zeros(self, shape, like):
        return self.xp.zeros(shape, like.dtype if like is not None else self.dtype)

    def uniform(self, shape):
        return self.random.random(shape, dtype=self.dtype)

    def normal(self, shape):
        return self.random.standard_normal(shape, dtype=self.dtype)

    def mean(self, mask):
        return self.xp.mean(mask)

    def std(self, x, axis=None):
        return self.xp.std(x, axis=axis)

    def erf(self, x):
        from scipy.special import erf

        return erf(x)

    def sigmoid(self, x):
        return 1 / (1 + self.xp.exp(-x))

    def maximum(self, x, y):
        return self.xp.maximum(x, y)

    def minimum(self, x, y):
        return self.xp.minimum(x, y)

    def roll(self, x, shift, axis):
        return self.xp.roll(x, shift, axis)

    def concat(self, arrays, axis):
        return self.xp.concatenate(arrays, axis)

    def moveaxis(self, x, source, destination):
        return self.xp.moveaxis(x, source, destination)

    def permute(self, x, axes):
        return self.xp.transpose(x, axes)

    def flip(self, x, axis):
        return self.xp.flip(x, axis)

    def pad_edge(self, x, radius):
        return self.xp.pad(x, radius, mode="edge")

    def astype(self, x, dtype):
        return x.astype(dtype)

    def row_max(self, x):
        return self.xp.max(x, axis=-1, keepdims=True)

    def row_sum(self, x):
        return self.xp.sum(x, axis=-1, keepdims=True)

    def row_mean(self, x):
        return self.xp.mean(x, axis=-1, keepdims=True)


class Reference(Library):
    """NumPy in float64, with the random numbers of tarry::random in the program's own dtype."""

    def __init__(self, size, dtype):
        super().__init__(size, "float64")
        self.own, self.generator = dtype, None

    def inputs(self, row):
        seeds = {"ising": 1, "heston": 2, "asian_option": 3, "value_at_risk": 4}
        self.generator = Generator(seeds.get(row["w"], 0), self.own)
        return [x.astype("float64") if x.dtype.kind == "f" else x for x in inputs(row)]

    def uniform(self, shape):
        return self.generator.uniform(shape)

    def normal(self, shape):
        return self.generator.normal(shape)

    def erf(self, x):
        import math

        return np.vectorize(math.erf, otypes=[np.float64])(x)


class Numba(Library):
    packages = ("numba", "numpy")

    def prepare(self, name):
        loops = load("numba_loops")
        return getattr(loops, name)


class CuPy(Library):
    packages = ("cupy",)

    def __init__(self, size, dtype):
        super().__init__(size, dtype)
        import cupy

        self.xp, self.random = cupy, cupy.random.Generator(cupy.random.Philox4x3210(7))

    def inputs(self, row):
        return [self.xp.asarray(x) for x in inputs(row)]

    def erf(self, x):
        from cupyx.scipy.special import erf

        return erf(x)

    def wait(self, results):
        self.xp.cuda.Device().synchronize()


class Jax(Library):
    packages = ("jax", "jaxlib")

    def __init__(self, size, dtype):
        super().__init__(size, dtype)
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", "cuda" if size == "cuda" else "cpu")
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax, self.xp, self.key, self.calls = jax, jax.numpy, None, 0

    def inputs(self, row):
        return [self.xp.asarray(x) for x in inputs(row)]

    def prepare(self, name):
        step = load(name).step

        def keyed(key, *arrays):
            self.key = key
            return step(self.xp, self, *arrays)

        compiled = self.jax.jit(keyed)

        def call(*arrays):
            self.calls += 1
            return compiled(self.jax.random.PRNGKey(self.calls), *arrays)

        return call

    def wait(self, results):
        self.jax.block_until_ready(results)

    def set(self, x, box, v):
        return x.at[box].set(v)

    def add(self, x, box, v):
        return x.at[box].add(v)

    def scan(self, move, carry, levels):
        jnp, jax = self.xp, self.jax
        keys = jax.random.split(self.key, len(levels[0]))

        def keyed(carry, level):
            self.key, values = level
            return move(carry, values if len(values) > 1 else values[0])

        levels = tuple(jnp.asarray(x) for x in levels)
        carry, kept = jax.lax.scan(keyed, carry, (keys, levels))
        self.key = jax.random.PRNGKey(0)
        return carry, kept

    def subkey(self):
        self.key, key = self.jax.random.split(self.key)
        return key

    def uniform(self, shape):
        return self.jax.random.uniform(self.subkey(), shape, self.dtype)

    def normal(self, shape):
        return self.jax.random.normal(self.subkey(), shape, self.dtype)

    def erf(self, x):
        return self.jax.scipy.special.erf(x)

    def sigmoid(self, x):
        return self.jax.nn.sigmoid(x)


class Torch(Library):
    """torch.compile of the step."""

    packages = ("torch", "triton")

    def __init__(self, size, dtype):
        super().__init__(size, dtype)
        import torch

        self.torch, self.xp, self.device = torch, torch, "cuda" if size == "cuda" else "cpu"
        self.dtype = getattr(torch, dtype)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.set_default_device(self.device)
        torch.set_default_dtype(self.dtype)

    def inputs(self, row):
        return [self.torch.from_numpy(x).to(self.device) for x in inputs(row)]

    def prepare(self, name):
        return self.torch.compile(super().prepare(name), dynamic=False)

    def wait(self, results):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def set(self, x, box, v):
        x = x.clone()
        x[box] = v
        return x

    def add(self, x, box, v):
        x = x.clone()
        x[box] += v
        return x

    def array(self, values, like):
        return self.torch.tensor(list(values), dtype=like.dtype)

    def zeros(self, shape, like):
        return self.torch.zeros(shape, dtype=self.dtype)

    def uniform(self, shape):
        return self.torch.rand(shape)

    def normal(self, shape):
        return self.torch.randn(shape)

    def mean(self, mask):
        return self.torch.mean(mask.to(self.dtype))

    def std(self, x, axis=None):
        return self.torch.std(x, dim=axis, correction=0)

    def erf(self, x):
        return self.torch.erf(x)

    def sigmoid(self, x):
        return self.torch.sigmoid(x)

    def maximum(self, x, y):
        return self.torch.clamp(x, min=y)

    def minimum(self, x, y):
        return self.torch.clamp(x, max=y)

    def roll(self, x, shift, axis):
        return self.torch.roll(x, shift, axis)

    def concat(self, arrays, axis):
        return self.torch.cat(arrays, axis)

    def permute(self, x, axes):
        return x.permute(axes)

    def flip(self, x, axis):
        return self.torch.flip(x, (axis,))

    def pad_edge(self, x, radius):
        return self.torch.nn.functional.pad(x[None], (radius,) * 4, mode="replicate")[0]

    def astype(self, x, dtype):
        return x.to(dtype)

    def row_max(self, x):
        return self.torch.amax(x, -1, keepdim=True)


PEERS = {"numpy": Library, "numba": Numba, "cupy": CuPy, "jax": Jax, "torch_compile": Torch}


def measure(step, wait):
    """As tarry_programs measures: seconds by the clock, median of five samples, and the least of all cores together."""

    def timed(steps):
        start, before = time.perf_counter(), time.process_time()
        for _ in range(steps):
            results = step()
        wait(results)
        return (time.perf_counter() - start) / steps, (time.process_time() - before) / steps

    first = timed(1)
    steps = max(1, min(200, int(0.1 / max(timed(1)[0], 1e-6))))
    clock, processor = zip(*(timed(steps) for _ in range(5)))
    times = {"first_s": first[0], "first_cpu_s": first[1]}
    return {**times, "ms": 1e3 * sorted(clock)[2], "cpu_ms": 1e3 * min(processor)}


def versions(packages):
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.import_module(name).__version__
        except (ImportError, AttributeError):
            pass
    return found


def run(kind, row, options):
    """One program on one peer."""
    peer = kind(options.device, row["dtype"])
    step, arrays = peer.prepare(row["w"]), peer.inputs(row)

    def call():
        results = step(*arrays)
        arrays[: row["state"]] = results[: row["state"]]
        return results

    peer.wait(arrays)
    return measure(call, peer.wait)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("program", help="tarry_programs, which says what the inputs are")
    parser.add_argument("names", nargs="*", help="only programs of these names")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    kind = PEERS[options.peer]
    print(json.dumps({"peer": options.peer, "versions": versions(kind.packages)}), flush=True)
    listed = [options.program, "--list", "--device", options.device, *options.names]
    for line in subprocess.run(listed, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        described = json.loads(line)
        row = {"peer": options.peer, "w": described["w"], "dtype": described["dtype"]}
        if options.peer == "numba" and not hasattr(load("numba_loops"), described["w"]):
            continue
        try:
            row.update(run(kind, described, options))
        except Exception as error:  # a system that cannot run a program is a result
            row["err"] = f"{type(error).__name__}: {error}".split("\n")[0][:160]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
