"""Libraries that take any array of the array API standard, and Dask, on arrays of Tarry."""
import os

import numpy as np
import pytest
import tarry as ta

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported


def test_array_api_compat_and_extra_take_the_namespace():
    compat, extra = pytest.importorskip("array_api_compat"), pytest.importorskip("array_api_extra")
    x = ta.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 5.0]])
    assert compat.array_namespace(x) is ta and compat.is_array_api_obj(x) and compat.size(x) == 6
    np.testing.assert_allclose(extra.cov(x), np.cov(np.asarray(x)), rtol=1e-6)
    assert extra.at(x, (0, 1)).add(2)[0, 1].item() == 4.0
    assert extra.atleast_nd(ta.asarray(1.0), ndim=2).shape == (1, 1)


def test_scipy_computes_on_lazy_arrays():
    special, stats = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.stats")
    a = np.array([0.5, 1.0, 5.0, 2.0])
    x = ta.asarray(a)
    for got, expected in ((special.expit(x), special.expit(a)), (special.logsumexp(x), special.logsumexp(a)),
                          (stats.zscore(x), stats.zscore(a)), (stats.skew(x), stats.skew(a))):
        assert isinstance(got, ta.Array)
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_scikit_learn_dispatches():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.metrics import mean_squared_error
    from sklearn.preprocessing import MinMaxScaler

    a = np.random.default_rng(0).normal(size=(10, 3))
    with sklearn.config_context(array_api_dispatch=True):
        assert mean_squared_error(ta.asarray([1.0, 2.0]), ta.asarray([1.0, 4.0])) == 2.0
        scaled = MinMaxScaler().fit_transform(ta.asarray(a))
    assert isinstance(scaled, ta.Array)
    np.testing.assert_allclose(scaled, MinMaxScaler().fit_transform(a), rtol=1e-12)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_dask_has_chunks_of_tarry(scheduler):
    da = pytest.importorskip("dask.array")
    a = np.arange(24.0).reshape(4, 6)
    d = da.from_array(ta.asarray(a), chunks=(2, 3), asarray=False)
    for got, expected in (((d * 2 + 1).sum(), (a * 2 + 1).sum()), (d.mean(axis=0), a.mean(axis=0)),
                          (d.map_blocks(ta.sqrt), np.sqrt(a)), (d @ d.T, a @ a.T), (d.rechunk((4, 2)), a),
                          (da.sin(d), np.sin(a)), (d.max(axis=1), a.max(axis=1))):
        computed = got.compute(scheduler=scheduler)
        assert isinstance(computed, ta.Array)
        np.testing.assert_allclose(computed, expected, rtol=1e-12)
