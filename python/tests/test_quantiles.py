"""Quantiles, medians and histograms with NumPy's arguments: beside NumPy."""
import numpy as np
import pytest
import tarry as ta

rng = np.random.default_rng(3)
A, V, W = rng.standard_normal((4, 6)), rng.standard_normal(7), rng.random(7)
CUBE, WHOLE = rng.standard_normal((2, 3, 4)), rng.integers(-9, 9, 11)
HOLES = np.where(rng.random((4, 6)) < 0.3, np.nan, A)
GIVEN = {"A": A, "V": V, "W": W, "CUBE": CUBE, "WHOLE": WHOLE, "HOLES": HOLES, "Q": np.array([0.1, 0.5, 0.9])}
METHODS = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
           "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"]


def same(ours, theirs):
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other)
        return
    theirs = np.asarray(theirs)
    assert isinstance(ours, ta.Array) and ours.shape == theirs.shape
    assert ours.dtype.kind == theirs.dtype.kind or ours.dtype.kind == "i" and theirs.ndim > 1  # counts of boxes
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-11, atol=1e-13)


def beside_numpy(call, **more):
    with ta.Scope(default_float=ta.float64):
        ours = {name: ta.asarray(value) for name, value in GIVEN.items()}
        same(eval(f"m.{call}", {"m": ta, "np": np, **ours, **more}), eval(f"m.{call}", {"m": np, "np": np, **GIVEN, **more}))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x", ["V", "V[:6]", "WHOLE", "A"])
def test_each_method_gives_what_numpy_gives(method, x):
    for q in ([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1], 0.3):
        beside_numpy(f"quantile({x}, {q}, method='{method}')")


@pytest.mark.parametrize("method", METHODS)
def test_each_method_passes_over_nan_as_numpys(method):
    beside_numpy(f"nanquantile(HOLES, [0, 0.2, 0.5, 1], axis=1, method='{method}')")
    beside_numpy(f"nanpercentile(HOLES, 30, method='{method}')")


@pytest.mark.parametrize("call", [
    "median(CUBE, (0, 2))", "median(CUBE, axis=(0, 1), keepdims=True)", "quantile(CUBE, 0.3, (0, 2))", "median(HOLES, 0)",
    "percentile(CUBE, [20, 70], axis=(1, 2), keepdims=True)", "quantile(A, Q, 1)", "quantile(A, Q[None], 0)",
    "quantile(A, np.array([[0.2], [0.4]]))", "quantile(A, np.array(0.5))", "quantile(5.0, 0.5)", "median(A, axis=())", "nanmedian([np.nan, np.nan])", "quantile(A, [], 0)", "quantile(A, ())",
    "percentile(V, (5, 95))", "percentile(V, np.array([5.0, 95.0]))", "quantile(HOLES, Q, 1, method='weibull')",
    "quantile(V, Q, weights=W, method='inverted_cdf')", "quantile(A, Q, 1, weights=W[:6], method='inverted_cdf')",
    "quantile(A, [0, 1], 0, weights=abs(A), method='inverted_cdf')",
    "quantile([1.0, 2.0, 3.0], [0.0, 0.5], weights=[0, 0, 1], method='inverted_cdf')",
    "percentile(WHOLE, 40, weights=abs(WHOLE), method='inverted_cdf')", "nanmedian(HOLES, (0, 1))",
    "nanquantile(HOLES, Q, axis=-1)", "nanquantile(A[:0], 0.5)", "nanmedian(A[:0], axis=0)", "median(A[:0], axis=0)",
    "nanmedian(A[:, :0], 0)",
])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantiles_take_what_numpys_take(call):
    beside_numpy(call)


@pytest.mark.parametrize("call", [
    "nanmedian(A, 5)", "nanquantile(A, 1.5)", "nanquantile(A, float('nan'))", "nanquantile(A, [0.5, -0.1])",
    "nanpercentile(A, 150)", "nanquantile(A, 0.5, (0, 0))", "nanmedian(A, axis=-3)", "quantile(A, np.array([1.5]))",
    "quantile(A, 0.5, method='some')", "nanquantile(A, 0.5, method='some')", "median(A, (0, 2))",
    "quantile(V, 0.5, weights=W)", "quantile(V, 0.5, weights=-W, method='inverted_cdf')",
])
def test_wrong_quantiles_are_errors_at_their_line(call):
    with pytest.raises(ValueError):
        eval(f"np.{call}", {"np": np, **GIVEN})
    with pytest.raises(ta.InvalidArgument, match="<string>:1"):
        eval(f"ta.{call}", {"ta": ta, "np": np, "A": ta.asarray(A), "V": ta.asarray(V), "W": W})


def test_a_quantile_that_an_array_names_wrong_fails_when_it_is_read():
    made = ta.quantile(ta.asarray(V), ta.asarray([0.5, 1.5]))
    with pytest.raises(IndexError):
        made.tolist()


BINS = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]


@pytest.mark.parametrize("rule", BINS)
@pytest.mark.parametrize("x", ["np.linspace(-3, 4, 200) ** 3", "WHOLE", "V", "V[:1]", "V[:0]", "np.ones(5)"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rules_of_bins_are_those_of_numpy(rule, x):
    beside_numpy(f"histogram({x}, '{rule}')")
    beside_numpy(f"histogram_bin_edges({x}, '{rule}', (-2, 3))")


@pytest.mark.parametrize("call", [
    "histogram(V, 4, (-1, 1), True)", "histogram(V, 4, None, False, W)", "histogram(V, 3, density=True, weights=W)",
    "histogram(V, [-1, 0, 1], weights=W)", "histogramdd([V, W], 3)", "histogramdd([V, W], [2, 3])",
    "histogramdd(A[:, :3], 2, range=[(-1, 1), None, (0, 2)])", "histogramdd([V, W], [[-1, 0, 1], 2], density=True)",
    "histogramdd([V, W], 2, None, False, W)", "histogram2d(V, W, 3, [(-1, 1), (0, 1)])",
    "histogram2d(V, W, [2, 3], None, True)", "histogram2d(V, W, 2, weights=W)", "histogram2d(V, W, [-1.0, 0.0, 1.0])",
    "histogram_bin_edges(V, 3, (0, 1), W)", "digitize(V, [2, 0, -1])", "digitize(0.5, [0, 1])", "digitize(V, [-1, 0, 0, 2], True)",
])
def test_histograms_take_what_numpys_take(call):
    beside_numpy(call)


@pytest.mark.parametrize("call", [
    "digitize(V, [3, 1, 2])", "digitize(V, np.array([0.0, 2.0, 1.0]))", "histogram(V, 'some')", "histogram(V, 0)",
    "histogram(V, [2, 1])", "histogramdd([V, W], [2, 2, 2])", "histogram(V, 'auto', (float('nan'), 1))",
])
def test_wrong_bins_are_errors_at_their_line(call):
    with pytest.raises(ValueError):
        eval(f"np.{call}", {"np": np, **GIVEN})
    with pytest.raises(ta.InvalidArgument, match="<string>:1"):
        eval(f"ta.{call}", {"ta": ta, "np": np, "V": ta.asarray(V), "W": ta.asarray(W)})


def test_edges_of_an_array_that_turn_are_an_error_when_the_bins_are_read():
    assert ta.digitize(ta.asarray(V), ta.asarray([-1.0, 0.0, 1.0])).tolist() == np.digitize(V, [-1, 0, 1]).tolist()
    with pytest.raises(IndexError):
        ta.digitize(ta.asarray(V), ta.asarray([0.0, 2.0, 1.0])).tolist()
