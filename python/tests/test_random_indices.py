"""Random indices read and write what NumPy's do. TARRY_FUZZ_PROGRAMS says how many, other ones each time."""
import os

import numpy as np
import pytest
import tarry as ta
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

EXAMPLES = settings(max_examples=int(os.environ.get("TARRY_FUZZ_PROGRAMS", "60")), deadline=None,
                    derandomize="TARRY_FUZZ_PROGRAMS" not in os.environ)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def places(extent):
    """Arrays of integers that lie on an axis, and broadcast."""
    return arrays.arrays(np.int64, st.sampled_from([(2,), (3, 1), (1, 2)]), elements=st.integers(-extent, extent - 1))


@st.composite
def indexed(draw):
    """An array and a key of NumPy's: slices and integers, arrays of integers, a mixture of these, or a mask."""
    shape = draw(SHAPES)
    a = np.arange(int(np.prod(shape))).reshape(shape)
    kind = draw(st.sampled_from(["basic", "mask"] + ["integers", "mixed"] * (a.ndim > 0 and a.size > 0)))
    if kind == "basic":
        return a, draw(arrays.basic_indices(shape, allow_newaxis=True, max_dims=8))
    if kind == "mask":
        return a, draw(arrays.arrays(np.bool_, shape[:draw(st.integers(0, a.ndim))]))
    if kind == "integers":
        return a, draw(arrays.integer_array_indices(shape, result_shape=arrays.array_shapes(max_dims=2, max_side=3)))
    key = [draw(st.one_of(st.integers(-n, n - 1), st.slices(n), places(n))) for n in shape]
    key = key[:draw(st.integers(0, a.ndim))]
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    return a, tuple(key)


def ours(key):
    if isinstance(key, tuple):
        return tuple(map(ours, key))
    return ta.asarray(key) if isinstance(key, np.ndarray) else key


@EXAMPLES
@given(indexed())
def test_indices_read(case):
    a, key = case
    try:
        expected = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            ta.asarray(a)[ours(key)]
        return
    got = ta.asarray(a)[ours(key)]
    assert got.shape == np.shape(expected)
    np.testing.assert_array_equal(got, expected)


@EXAMPLES
@given(indexed(), st.sampled_from(["number", "row", "all"]))
def test_indices_write(case, values):
    a, key = case
    x = ta.asarray(a)
    try:
        part = a[key]
    except IndexError:
        return
    value = -1 - np.arange(part.size).reshape(part.shape)
    if values == "row" and part.ndim and part.shape[0]:
        value = value[:1]
    if values == "number":
        a[key] = x[ours(key)] = -5
    else:
        a[key], x[ours(key)] = value, ta.asarray(value)
    np.testing.assert_array_equal(x, a)
