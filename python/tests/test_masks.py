"""Masks and writes by index: beside NumPy."""
import numpy as np
import pytest
import tarry as ta


def test_masks_read_what_numpy_reads():
    a = np.arange(6).reshape(2, 3)
    x = ta.asarray(a)
    np.testing.assert_array_equal(x[x > 2], a[a > 2])
    np.testing.assert_array_equal(x[ta.asarray([True, False])], a[[True, False]])
    for got, expected in zip(ta.nonzero(x), np.nonzero(a)):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(ta.argwhere(x > 3), np.argwhere(a > 3))
    np.testing.assert_array_equal(ta.flatnonzero(x), np.flatnonzero(a))


def test_indices_write_what_numpy_writes():
    a = np.zeros(5)
    x = ta.asarray(a)
    x[[0, 3, 0]] = ta.asarray([1.0, 2.0, 3.0])
    a[[0, 3, 0]] = [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(x, a)
    x[x > 0] = ta.asarray([7.0, 8.0])
    a[a > 0] = [7.0, 8.0]
    np.testing.assert_array_equal(x, a)
    np.testing.assert_array_equal(ta.put(ta.zeros(3), ta.asarray([1, 1]), 2, how="add"), [0, 4, 0])
    with pytest.raises(ValueError):
        ta.put(x, ta.asarray([0]), 1, how="other")
