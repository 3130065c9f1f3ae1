"""The inputs of programs, the same as in inputs.h, and the random numbers of tarry::random."""
import math
from statistics import NormalDist

import numpy as np


def input_array(number, shape, low, high, dtype):
    """Input `number`: SplitMix64 of it and of the element's number; the 24 highest bits as a part of [low, high)."""
    z = (np.arange(math.prod(shape), dtype=np.uint64) + np.uint64(number << 40)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    x = ((z ^ z >> np.uint64(31)) >> np.uint64(40)).astype(np.float64) * 2.0**-24 * (high - low) + low
    x = x if dtype.startswith("float") else np.floor(x)
    return x.astype(dtype).reshape(shape)


def inputs(row):
    """Those of a line of `tarry_programs --list`."""
    return [input_array(k, tuple(i["shape"]), i["low"], i["high"], i["dtype"]) for k, i in enumerate(row["inputs"])]


def philox(key, draw, blocks):
    """Blocks of four words of Philox4x32-10 (Salmon et al., SC 2011); docs/reference/numerics.md has the counters."""
    low, number = np.uint64(0xFFFFFFFF), np.arange(blocks, dtype=np.uint64)
    x = [number & low, np.full(blocks, draw, np.uint64), number >> np.uint64(32), np.zeros(blocks, np.uint64)]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * x[0], np.uint64(0xCD9E8D57) * x[2]
        high_a, high_b = a >> np.uint64(32), b >> np.uint64(32)
        x = [high_b ^ x[1] ^ np.uint64(k[0]), b & low, high_a ^ x[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, 1)


class Generator:
    """tarry::random::Generator: draws of floats of 32 or 64 bits."""

    def __init__(self, seed, dtype):
        self.seed, self.draws, self.wide = seed, 0, dtype == "float64"

    def words(self, shape):
        count, each = math.prod(shape), 2 if self.wide else 4
        words = philox(self.seed, self.draws, -(-count // each))
        self.draws += 1
        if self.wide:
            words = words[:, ::2] | words[:, 1::2] << np.uint64(32)
        return words.reshape(-1)[:count].reshape(shape)

    def uniform(self, shape):
        w = self.words(shape)
        return (w >> np.uint64(12)) * 2.0**-52 if self.wide else (w >> np.uint64(9)) * 2.0**-23

    def normal(self, shape):
        w, bits = self.words(shape), 63 if self.wide else 31
        top = np.uint64(1) << np.uint64(bits)
        size = np.where(w & top != 0, ~w & (top - np.uint64(1)), w & (top - np.uint64(1)))
        c = (size.astype(np.float64) + 0.5) * 2.0**-bits
        return np.where(w & top != 0, 1.0, -1.0) * lower_quantile(0.5 * (1 - c))


lower_quantile = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
