#!/usr/bin/env python3
"""Runs the program `places` and other libraries' functions for the same rows in turns, and prints all of them.

places.py PROGRAM [--n N] [--rounds R] [--device cpu|cuda] [--peers numpy pandas polars cupy torch jax]. The best of the
rounds counts. Peers that are not installed are left out.
"""
import argparse
import importlib
import subprocess
import sys
import time

import numpy as np


class NumPy:
    xp = np

    def array(self, x):
        return x

    def wait(self, result):
        return result

    def put(self, shape, dtype, at, value, op):
        def call():
            to = self.xp.zeros(shape, dtype)
            if op == "set":
                to[at] = value
            else:
                getattr(self.xp, op).at(to, at, value)
            return to

        return call

    def rows(self, n):
        xp, array = self.xp, self.array
        host = inputs(n)
        i, v, words = array(host["i"]), array(host["v"]), host["words"]
        rows = {}
        for row in (1, 4, 64):
            x, at = v[: n // row * row].reshape(-1, row), i[: n // row] % (n // row)
            rows[f"take_{row}"] = lambda x=x, at=at: xp.take(x, at, 0)
            rows[f"set_{row}"] = self.put(x.shape, np.float32, at, x, "set")
        rows["take_multiply_sum"] = lambda: (xp.take(v, i) * v).sum()
        for bins in (1000, 1_000_000):
            at, whole = i % bins, i.astype(np.int32)
            rows[f"add_int32_to_{bins}"] = self.put(bins, np.int32, at, whole, "add")
            rows[f"add_float32_to_{bins}"] = self.put(bins, np.float32, at, v, "add")
            rows[f"maximum_float32_to_{bins}"] = self.put(bins, np.float32, at, v, "maximum")
        for percent in (1, 50, 99):
            rows[f"compress_{percent}"] = lambda mask=i % 100 < percent: v[mask]
        for name, x in sorted_inputs(words).items():
            x = array(x)
            rows[f"sort_{name}"] = lambda x=x: xp.sort(x)
            rows[f"argsort_{name}"] = lambda x=x: xp.argsort(x)
        short = array((words >> np.uint64(40)).astype(np.float32))
        for row in (64, 256, 1024, 4096):
            rows[f"sort_rows_of_{row}"] = lambda x=short[: n // row * row].reshape(-1, row): xp.sort(x, axis=1)
        for k in (10, 1000):
            rows[f"topk_{k}"] = lambda k=k: xp.sort(xp.partition(short, n - k)[n - k:])
        rows["median"] = lambda: xp.median(short)
        unit = v / np.float32(0.37 * n)
        for bins in (256, 65536):
            rows[f"histogram_{bins}"] = lambda bins=bins: xp.histogram(unit, bins, (0, 1))[0]
        for groups in (10, 10_000, 1_000_000):
            rows[f"segment_sum_{groups}"] = lambda ids=i % groups, g=groups: xp.bincount(ids, v, g)
        rows["segment_sum_of_one"] = lambda ids=xp.zeros_like(i): xp.bincount(ids, v, 10_000)
        return rows


class Pandas(NumPy):
    def rows(self, n):
        frame = self.library.DataFrame({"k": inputs(n)["i"] % 100_000, "v": inputs(n)["v"]})
        return {"group_by_100000": lambda: frame.groupby("k")["v"].agg(["sum", "mean"])}


class Polars(NumPy):
    def rows(self, n):
        pl = self.library
        frame = pl.DataFrame({"k": inputs(n)["i"] % 100_000, "v": inputs(n)["v"]})
        sums = [pl.col("v").sum().alias("sum"), pl.col("v").mean().alias("mean")]
        return {"group_by_100000": lambda: frame.group_by("k").agg(sums).sort("k")}


class CuPy(NumPy):
    @property
    def xp(self):
        return self.library

    def array(self, x):
        return self.library.asarray(x)

    def wait(self, result):
        self.library.cuda.runtime.deviceSynchronize()


class Torch(NumPy):
    def array(self, x):
        if x.dtype == np.uint32:
            x = x.view(np.int32)  # it sorts no uint32
        return self.library.from_numpy(x).to(self.device)

    def wait(self, result):
        if self.device == "cuda":
            self.library.cuda.synchronize()

    def rows(self, n):
        torch, array = self.library, self.array
        host = inputs(n)
        i, v, words = array(host["i"]), array(host["v"]), host["words"]
        rows = {}
        for row in (1, 4, 64):
            x, at = v[: n // row * row].reshape(-1, row), i[: n // row] % (n // row)
            rows[f"take_{row}"] = lambda x=x, at=at: x.index_select(0, at)
            rows[f"set_{row}"] = lambda x=x, at=at: torch.zeros_like(x).index_copy_(0, at, x)
        rows["take_multiply_sum"] = lambda: (v.index_select(0, i) * v).sum()
        for bins in (1000, 1_000_000):
            rows[f"add_float32_to_{bins}"] = lambda at=i % bins, b=bins: torch.zeros(b, device=v.device).index_add_(0, at, v)
        for percent in (1, 50, 99):
            rows[f"compress_{percent}"] = lambda mask=i % 100 < percent: v[mask]
        for name, x in sorted_inputs(words).items():
            x = array(x)
            rows[f"sort_{name}"] = lambda x=x: torch.sort(x)  # values and places
            rows[f"argsort_{name}"] = lambda x=x: torch.argsort(x, stable=True)
        short = array((words >> np.uint64(40)).astype(np.float32))
        for row in (64, 256, 1024, 4096):
            rows[f"sort_rows_of_{row}"] = lambda x=short[: n // row * row].reshape(-1, row): torch.sort(x, 1)
        for k in (10, 1000):
            rows[f"topk_{k}"] = lambda k=k: torch.topk(short, k)
        rows["median"] = lambda: torch.median(short)
        unit = v / (0.37 * n)
        for bins in (256, 65536):
            rows[f"histogram_{bins}"] = lambda bins=bins: torch.histc(unit, bins, 0, 1)
        for groups in (10, 10_000, 1_000_000):
            rows[f"segment_sum_{groups}"] = lambda at=i % groups, g=groups: torch.zeros(g, device=v.device).index_add_(0, at, v)
        rows["segment_sum_of_one"] = lambda at=torch.zeros_like(i): torch.zeros(10_000, device=v.device).index_add_(0, at, v)
        return rows


class Jax(NumPy):
    def array(self, x):
        return self.library.numpy.asarray(x)

    def wait(self, result):
        self.library.block_until_ready(result)

    def rows(self, n):
        jax, jnp, array = self.library, self.library.numpy, self.array
        host = inputs(n)
        i, v, words = array(host["i"]), array(host["v"]), host["words"]
        rows = {}

        def add(name, call, *arguments):
            compiled = jax.jit(call)
            rows[name] = lambda: compiled(*arguments)

        for row in (1, 4, 64):
            x, at = v[: n // row * row].reshape(-1, row), i[: n // row] % (n // row)
            add(f"take_{row}", lambda x, at: jnp.take(x, at, 0), x, at)
            add(f"set_{row}", lambda x, at: jnp.zeros_like(x).at[at].set(x), x, at)
        add("take_multiply_sum", lambda v, i: (jnp.take(v, i) * v).sum(), v, i)
        for bins in (1000, 1_000_000):
            add(f"add_float32_to_{bins}", lambda at, v, b=bins: jnp.zeros(b, v.dtype).at[at].add(v), i % bins, v)
        for name, x in sorted_inputs(words).items():
            add(f"sort_{name}", jnp.sort, array(x))
            add(f"argsort_{name}", jnp.argsort, array(x))
        short = array((words >> np.uint64(40)).astype(np.float32))
        for row in (64, 256, 1024, 4096):
            add(f"sort_rows_of_{row}", lambda x: jnp.sort(x, axis=1), short[: n // row * row].reshape(-1, row))
        for k in (10, 1000):
            add(f"topk_{k}", lambda x, k=k: jax.lax.top_k(x, k), short)
        add("median", jnp.median, short)
        unit = v / np.float32(0.37 * n)
        for bins in (256, 65536):
            add(f"histogram_{bins}", lambda x, b=bins: jnp.histogram(x, b, (0, 1))[0], unit)
        for groups in (10, 10_000, 1_000_000):
            add(f"segment_sum_{groups}", lambda v, ids, g=groups: jax.ops.segment_sum(v, ids, g), v, i % groups)
        add("segment_sum_of_one", lambda v, ids: jax.ops.segment_sum(v, ids, 10_000), v, jnp.zeros_like(i))
        return rows


PEERS = {"numpy": NumPy, "pandas": Pandas, "polars": Polars, "cupy": CuPy, "torch": Torch, "jax": Jax}


def inputs(n):
    """The numbers of places.cpp: words without a pattern, places below n, values."""
    words = np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    i = (words >> np.uint64(20)).astype(np.int64) % n
    return {"words": words, "i": i, "v": i.astype(np.float32) * np.float32(0.37)}


def sorted_inputs(words):
    high = words >> np.uint64(32)
    return {"uint32": high.astype(np.uint32), "int64": words.astype(np.int64), "float32": high.astype(np.float32),
            "float64": high.astype(np.float64)}


def peer_named(name, device):
    try:
        library = importlib.import_module(name)
    except ImportError:
        return None
    if name == "jax":
        library.config.update("jax_enable_x64", True)
    peer = PEERS[name]()
    peer.library, peer.device = library, device
    return peer


def time_peer(peer, n, best):
    for name, call in peer.rows(n).items():
        try:
            peer.wait(call())  # compiled, and memory taken
            start = time.perf_counter()
            peer.wait(call())
            best[name] = min(best.get(name, np.inf), 1e3 * (time.perf_counter() - start))
        except Exception as error:  # a function that this version has not, or no memory
            print(f"{type(peer).__name__} {name}: {str(error).splitlines()[0][:100]}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--n", type=int, default=1 << 22)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--peers", nargs="*", choices=PEERS)
    options = parser.parse_args()
    wanted = options.peers or (["numpy", "pandas", "polars", "torch"] if options.device == "cpu" else ["cupy", "torch", "jax"])
    peers = {name: peer_named(name, options.device) for name in wanted}
    ours, launches, theirs = {}, {}, {name: {} for name, peer in peers.items() if peer}
    for _ in range(options.rounds):
        text = subprocess.run([options.program, "--n", str(options.n), "--device", options.device], check=True,
                              capture_output=True, text=True).stdout
        for line in text.splitlines():
            name, ms, _, count = line.split()
            ours[name] = min(ours.get(name, np.inf), float(ms))
            launches[name] = int(count)
        for name in theirs:
            time_peer(peers[name], options.n, theirs[name])
    print(f"{'':<28}{'Tarry ms':>10}" + "".join(f"{name:>10}" for name in theirs) + f"{'ratio':>8}{'launches':>10}")
    for name, ms in ours.items():
        beside = [best.get(name) for best in theirs.values()]
        least = min((x for x in beside if x is not None), default=None)
        print(f"{name:<28}{ms:>10.2f}" + "".join(f"{x:>10.2f}" if x is not None else f"{'':>10}" for x in beside) +
              (f"{least / ms:>8.2f}" if least else f"{'':>8}") + f"{launches[name]:>10}")


if __name__ == "__main__":
    main()
