"""Sorting, searching, sets, quantiles, counting: beside NumPy."""
import pickle

import numpy as np
import pytest
import tarry as ta

A = np.array([[3, 1, 2, 1], [0, 5, 5, -2]], dtype=np.int32)
X = ta.asarray(A)


def test_sorts_are_those_of_numpy():
    np.testing.assert_array_equal(ta.sort(X), np.sort(A))
    np.testing.assert_array_equal(ta.argsort(X, axis=0), np.argsort(A, axis=0, kind="stable"))
    np.testing.assert_array_equal(ta.sort(X, descending=True), -np.sort(-A))
    top = ta.topk(X, 2)
    np.testing.assert_array_equal(top.values, -np.sort(-A)[:, :2])
    assert top.indices.shape == (2, 2)


def test_places_in_sorted_arrays_are_found():
    edges, values = np.array([1.0, 3.0, 5.0]), np.array([0.0, 3.0, 9.0])
    for side in ("left", "right"):
        np.testing.assert_array_equal(ta.searchsorted(ta.asarray(edges), ta.asarray(values), side=side),
                                      np.searchsorted(edges, values, side=side))
    with pytest.raises(ValueError):
        ta.searchsorted(ta.asarray(edges), ta.asarray(values), side="middle")
    np.testing.assert_array_equal(ta.isin(X, ta.asarray([1, 5])), np.isin(A, [1, 5]))


def test_sets_are_named_tuples():
    found = ta.unique_all(X)
    values, indices, inverse, counts = np.unique(A, return_index=True, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(A.ravel()[np.asarray(found.indices)], values)
    np.testing.assert_array_equal(np.asarray(found.values)[np.asarray(found.inverse_indices)], A)
    np.testing.assert_array_equal(ta.unique_values(X), values)
    assert pickle.loads(pickle.dumps(ta.unique_counts(X)))._fields == ("values", "counts")


def test_quantiles_are_those_of_numpy():
    a = np.array([4.0, 1.0, 3.0, 2.0])
    assert float(ta.median(ta.asarray(a))) == 2.5
    for method in ("linear", "lower", "nearest", "hazen"):
        np.testing.assert_allclose(ta.quantile(ta.asarray(a), [0.1, 0.6], method=method),
                                   np.quantile(a, [0.1, 0.6], method=method))
    assert float(ta.percentile(ta.asarray(a), 50)) == 2.5


def test_elements_are_counted_and_grouped():
    np.testing.assert_array_equal(ta.bincount(ta.asarray([1, 3, 1])), [0, 2, 0, 1])
    counts, edges = ta.histogram(ta.asarray([1.0, 2.0, 1.0]), 2, range=(0, 2))
    np.testing.assert_array_equal(counts, [0, 3])
    np.testing.assert_allclose(edges, [0, 1, 2])
    np.testing.assert_array_equal(ta.segment_sum(ta.asarray([1, 2, 4]), ta.asarray([1, 0, 1])), [2, 5])
    np.testing.assert_array_equal(ta.cumulative_max(ta.asarray([1, 3, 2])), [1, 3, 3])


def test_rows_are_grouped_by_their_keys():
    keys, more, values = [2, 1, 2, 1, 2], [0, 0, 1, 0, 0], [1.0, 2.0, 4.0, 8.0, 16.0]
    rows = ta.group_by(ta.asarray(keys), ta.asarray(more))
    assert rows.size == len(rows) == 3
    groups = rows.aggregate(ta.asarray(values), (ta.asarray(values), "mean"), (ta.asarray(values), "count"),
                            (ta.asarray(values), "first"))
    assert [key.tolist() for key in groups.keys] == [[1, 2, 2], [0, 0, 1]]
    assert [value.tolist() for value in groups.values] == [[10, 17, 4], [5, 8.5, 4], [2, 2, 1], [2, 1, 4]]
    with pytest.raises(ValueError, match="sum, min"):
        rows.aggregate((ta.asarray(values), "middle"))
    with pytest.raises(ta.InvalidArgument):
        ta.group_by()


def test_histograms_of_rows_are_those_of_numpy():
    a = np.random.default_rng(0).normal(size=(200, 2))
    edges = [np.array([-3.0, -1.0, 0.0, 3.0]), np.array([-4.0, 0.5, 4.0])]
    for density in (False, True):
        counts, found = ta.histogramdd(ta.asarray(a), [ta.asarray(e) for e in edges], density=density)
        np.testing.assert_allclose(counts, np.histogramdd(a, edges, density=density)[0])
        np.testing.assert_array_equal(found[0], edges[0])
