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


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.integers(0, 2, 40), rng.uniform(0.1, 0.9, 40)


def alike(got, expected):
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("module, call", [
    ("special", lambda m, a, p: m.expit(a)), ("special", lambda m, a, p: m.logsumexp(a, axis=1)),
    ("special", lambda m, a, p: m.xlogy(p, p)), ("stats", lambda m, a, p: m.zscore(a)),
    ("stats", lambda m, a, p: m.skew(a, axis=1)), ("stats", lambda m, a, p: m.variation(p)),
    ("stats", lambda m, a, p: m.ttest_1samp(p, 0.4).pvalue), ("stats", lambda m, a, p: m.pearsonr(p, p * p).statistic),
    ("stats", lambda m, a, p: m.rankdata(p)), ("stats", lambda m, a, p: m.tvar(p, (0.2, 0.8))),
    ("stats", lambda m, a, p: m.boxcox_llf(0.5, p)),
    ("integrate", lambda m, a, p: m.trapezoid(a, axis=0)), ("ndimage", lambda m, a, p: m.uniform_filter1d(p, 3)),
    ("signal", lambda m, a, p: m.detrend(p)), ("cluster.vq", lambda m, a, p: m.whiten(a)),
    ("spatial.transform", lambda m, a, p: m.Rotation.from_rotvec(a).as_quat()),
])
def test_scipy_computes_on_lazy_arrays(module, call, numbers):
    scipy = pytest.importorskip(f"scipy.{module}")
    a, _, p = numbers
    got = call(scipy, ta.asarray(a), ta.asarray(p))
    assert isinstance(got, ta.Array)
    alike(got, call(scipy, a, p))


def test_scipy_estimates_spectra_by_numpys_functions():
    signal = pytest.importorskip("scipy.signal")
    a = np.random.default_rng(1).normal(size=512)
    for estimate in (signal.welch, signal.periodogram):
        alike(estimate(ta.asarray(a))[1], estimate(a)[1])


def test_scikit_learn_measures(numbers):
    metrics = pytest.importorskip("sklearn.metrics")
    from sklearn import config_context

    a, labels, p = numbers
    guesses = labels[::-1].copy()
    with config_context(array_api_dispatch=True):
        for name in ("accuracy_score", "f1_score", "confusion_matrix"):
            measure = getattr(metrics, name)
            alike(measure(ta.asarray(labels), ta.asarray(guesses)), measure(labels, guesses))
        for name in ("r2_score", "mean_squared_error", "mean_absolute_error"):
            measure = getattr(metrics, name)
            alike(measure(ta.asarray(p), ta.asarray(p * p)), measure(p, p * p))
        alike(metrics.log_loss(ta.asarray(labels), ta.asarray(p)), metrics.log_loss(labels, p))
        for name in ("rbf_kernel", "cosine_similarity", "euclidean_distances"):
            kernel = getattr(metrics.pairwise, name)
            alike(kernel(ta.asarray(a), ta.asarray(a[:5])), kernel(a, a[:5]))


def test_scikit_learn_scales_and_learns(numbers):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    a, labels, _ = numbers
    scaler = make_pipeline(StandardScaler(), MinMaxScaler())
    with sklearn.config_context(array_api_dispatch=True):
        scaled = scaler.fit_transform(ta.asarray(a))
        guessed = GaussianNB().fit(ta.asarray(a), ta.asarray(labels)).predict(ta.asarray(a))
        learnt = LogisticRegression().fit(ta.asarray(a), ta.asarray(labels)).coef_
    assert isinstance(scaled, ta.Array) and isinstance(guessed, ta.Array) and isinstance(learnt, ta.Array)
    alike(scaled, scaler.fit_transform(a))
    np.testing.assert_array_equal(guessed, GaussianNB().fit(a, labels).predict(a))
    np.testing.assert_allclose(learnt, LogisticRegression().fit(a, labels).coef_, rtol=1e-3)


@pytest.mark.parametrize("learnt", [
    "PCA(2, svd_solver='full').fit(a).explained_variance_", "Ridge(solver='svd').fit(a, p).coef_",
    "RidgeCV().fit(a, p).coef_", "LinearDiscriminantAnalysis().fit(a, labels).coef_",
])
def test_scikit_learn_takes_decompositions(numbers, learnt):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge, RidgeCV

    known = {"PCA": PCA, "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis, "Ridge": Ridge, "RidgeCV": RidgeCV}
    theirs = dict(zip(("a", "labels", "p"), numbers))
    with sklearn.config_context(array_api_dispatch=True):
        ours = eval(learnt, {**known, **{name: ta.asarray(x) for name, x in theirs.items()}})
    np.testing.assert_allclose(ours, eval(learnt, {**known, **theirs}), rtol=1e-9)


def test_dask_decomposes_a_tall_matrix_in_chunks():
    da = pytest.importorskip("dask.array")
    a = np.random.default_rng(1).standard_normal((60, 3))
    u, s, v = da.linalg.svd(da.from_array(ta.asarray(a), chunks=(20, 3), asarray=False))
    np.testing.assert_allclose(s.compute(), np.linalg.svd(a)[1], rtol=1e-12)
    np.testing.assert_allclose((u * s @ v).compute(), a, atol=1e-12)


def chunked(da):
    """Pairs of work on chunks of Tarry and its values by NumPy."""
    a = np.arange(24.0).reshape(4, 6)
    d = da.from_array(ta.asarray(a), chunks=(2, 3), asarray=False)
    return (((d * 2 + 1).sum(), (a * 2 + 1).sum()), (d.mean(axis=0), a.mean(axis=0)),
            (d.map_blocks(ta.sqrt), np.sqrt(a)), (d @ d.T, a @ a.T), (d.rechunk((4, 2)), a), (da.sin(d), np.sin(a)),
            (d.max(axis=1), a.max(axis=1)), (d.std(), a.std()))


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_dask_has_chunks_of_tarry(scheduler):
    for got, expected in chunked(pytest.importorskip("dask.array")):
        computed = got.compute(scheduler=scheduler)
        assert isinstance(computed, ta.Array)
        np.testing.assert_allclose(computed, expected, rtol=1e-12)


def test_dask_has_chunks_of_tarry_in_two_processes():
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            works, expected = zip(*chunked(da))
            for computed, values in zip(client.gather(client.compute(works)), expected):
                assert isinstance(computed, ta.Array)
                np.testing.assert_allclose(computed, values, rtol=1e-12)
