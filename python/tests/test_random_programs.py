"""Random programs give the same bits lazily, step by step and replayed, and NumPy's values.

TARRY_FUZZ_PROGRAMS says how many, other ones each time; without it they are the same few. With TARRY_DISABLE=compile
ten thousand take a minute.
"""
import os

import numpy as np
import pytest
import tarry as ta
from hypothesis import given, settings
from hypothesis import strategies as st


def written(xp, a, b):
    made = xp.asarray(a, copy=True)
    made[..., ::2] = b[..., ::2]
    made[0] += b[-1]
    return made


def masked(xp, a, b):
    made = xp.asarray(a, copy=True)
    made[b > 0] = 0
    return made


# Each makes an array of two of the same shape and dtype.
ANY = {
    "add": lambda xp, a, b: a + b,
    "broadcast": lambda xp, a, b: xp.broadcast_to(a[:1], b.shape) + b,
    "column": lambda xp, a, b: a[:, -1:] - b,
    "concat": lambda xp, a, b: xp.concat([a[1:], b[:1]]),
    "differences": lambda xp, a, b: xp.concat([a[:, 1:] - a[:, :-1], b[:, :1]], axis=1),
    "flip": lambda xp, a, b: a[::-1] + b,
    "max": lambda xp, a, b: xp.maximum(a, b) - xp.max(b),
    "min": lambda xp, a, b: xp.minimum(a, xp.min(b, axis=1, keepdims=True)),
    "multiply": lambda xp, a, b: a * b,
    "negative": lambda xp, a, b: -a,
    "roll": lambda xp, a, b: xp.roll(a, 1) + b,
    "row": lambda xp, a, b: a * b[0],
    "sort": lambda xp, a, b: xp.sort(a, axis=0) + b,
    "stack": lambda xp, a, b: xp.stack([a, b, a])[1] - a,
    "subtract": lambda xp, a, b: b - a * 2,
    "take": lambda xp, a, b: xp.take(a, xp.asarray([0] * a.shape[0]), axis=0) * b,
    "triangles": lambda xp, a, b: xp.tril(a) + xp.triu(b),
    "turn": lambda xp, a, b: xp.reshape(xp.permute_dims(a, (1, 0)), a.shape) + b,
    "written": written,
}
INTEGER = {
    "and": lambda xp, a, b: (a & b) | 1,
    "argmax": lambda xp, a, b: a + xp.astype(xp.argmax(b, axis=0), a.dtype),
    "count": lambda xp, a, b: a + xp.astype(xp.count_nonzero(b > a, axis=0), a.dtype),
    "divide": lambda xp, a, b: a // ((b & 7) + 1),
    "masked": masked,
    "matmul": lambda xp, a, b: a @ xp.matrix_transpose(b) @ b,
    "remainder": lambda xp, a, b: a % ((b & 15) + 1),
    "running": lambda xp, a, b: xp.cumulative_sum(a, axis=1, dtype=a.dtype) ^ b,
    "shift": lambda xp, a, b: (a << 1) ^ (b >> 2),
    "sum": lambda xp, a, b: a - xp.sum(b, axis=0, dtype=b.dtype),
    "where": lambda xp, a, b: xp.where(a > b, a, -b),
}
FLOATING = {
    "divide": lambda xp, a, b: a / (b * b + 1),
    "exp": lambda xp, a, b: xp.exp(-abs(a)) + b,
    "matmul": lambda xp, a, b: a @ xp.matrix_transpose(b) @ b / 8,
    "mean": lambda xp, a, b: a - xp.mean(b, axis=1, keepdims=True),
    "running": lambda xp, a, b: xp.cumulative_sum(a, axis=0) / 8 + b,
    "scale": lambda xp, a, b: a / (1 + xp.max(abs(a))),
    "sin": lambda xp, a, b: xp.sin(a) * b,
    "sqrt": lambda xp, a, b: xp.sqrt(abs(a) + 1) - b,
    "std": lambda xp, a, b: b * xp.std(a + b, axis=0) / 4,
    "sum": lambda xp, a, b: a - xp.sum(b, axis=0) / 8,
}
JUMPS = {"masked": masked, "where": INTEGER["where"]}  # a rounding error chooses between values far apart


def run(xp, x, y, steps, table, evaluated=()):
    values = [x, y]
    for at, (name, i, j) in enumerate(steps):
        made = table[name](xp, values[i % len(values)], values[j % len(values)])
        values.append(made / (1 + abs(made)) if table is not WHOLE else made)  # bounded, however long the program
        if at in evaluated:
            values[-1].evaluate()
    return values[-1]


WHOLE, FRACTIONS = ANY | INTEGER, ANY | FLOATING | JUMPS
DTYPES = {**dict.fromkeys(["uint8", "int8", "int32", "int64"], WHOLE),
          **dict.fromkeys(["float32", "float64"], FRACTIONS)}


def programs(table):
    return st.lists(st.tuples(st.sampled_from(sorted(table)), st.integers(0, 9), st.integers(0, 9)), min_size=1,
                    max_size=10)


def operands(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return rng.uniform(-2, 2, (2, *shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, (2, *shape), dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_program_gives_the_same_bits_however_it_is_evaluated(dtype):
    table = DTYPES[dtype]

    @settings(max_examples=int(os.environ.get("TARRY_FUZZ_PROGRAMS", "60")) // len(DTYPES), deadline=None,
              derandomize="TARRY_FUZZ_PROGRAMS" not in os.environ)
    @given(programs(table), st.tuples(st.integers(1, 5), st.integers(1, 6)), st.integers(0, 2**32 - 1),
           st.sets(st.integers(0, 9)))
    def check(steps, shape, seed, evaluated):
        a, b = operands(dtype, shape, seed)
        x, y = ta.asarray(a), ta.asarray(b)
        lazy = np.asarray(run(ta, x, y, steps, table))
        assert lazy.dtype == dtype
        for places in (evaluated, range(len(steps))):
            assert np.asarray(run(ta, x, y, steps, table, places)).tobytes() == lazy.tobytes()
        replayed = ta.function(lambda x, y: run(ta, x, y, steps, table))
        assert np.asarray(replayed(x, y)).tobytes() == lazy.tobytes()
        with np.errstate(over="ignore"):
            expected = run(np, a, b, steps, table)
        if table is WHOLE:
            np.testing.assert_array_equal(lazy, expected)
        elif not JUMPS.keys() & {name for name, _, _ in steps}:
            near = 1e-3 if dtype == "float32" else 1e-9
            np.testing.assert_allclose(lazy, expected, rtol=near, atol=near / 10)

    check()
