"""NumPy's names: each gives what NumPy gives, in the package, as a method and through NumPy."""
import copy
import math

import numpy as np
import pytest
import tarry as ta

rng = np.random.default_rng(11)
A, V, W = rng.standard_normal((4, 6)), rng.standard_normal(6), rng.standard_normal(6)
CUBE, WHOLE = rng.standard_normal((2, 3, 4)), rng.integers(-9, 9, 20)
STEPS = np.sort(rng.random(6))
REPEATED = rng.integers(0, 2, (9, 3))
NAN = np.array([1.0, np.nan, -np.inf, np.inf, 2.5, -0.0])
HOLES = np.where(rng.random((4, 6)) < 0.3, np.nan, A)
ARRAYS = {"HOLES": HOLES, "A": A, "V": V, "W": W, "CUBE": CUBE, "WHOLE": WHOLE, "STEPS": STEPS, "NAN": NAN,
          "REPEATED": REPEATED}


def same(ours, theirs, **near):
    """Values, shapes and kinds; of tuples and lists each."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other, **near)
        return
    assert isinstance(ours, ta.Array)
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind
    np.testing.assert_allclose(np.asarray(ours), theirs, **{"rtol": 1e-12, "atol": 1e-13, **near})


CALLS = [
    "absolute(A)", "power(abs(A), 1.5)", "arcsin(A / 9)", "arccos(A / 9)", "arctan2(A, V)", "arctanh(A / 9)",
    "concatenate([A, A], 1)", "concatenate((V, W))", "stack([V, W], 1)", "invert(WHOLE)", "mod(WHOLE, 4)",
    "true_divide(WHOLE, 4)", "left_shift(WHOLE, 2)", "amax(A, 0)", "amin(A)", "rint(A)", "fix(A)", "cumsum(A)",
    "cumsum(A, 0)", "cumsum(A, axis=1)", "cumprod(A, 1)", "cumsum(WHOLE, dtype=float)", "std(A, 0, ddof=1)",
    "var(A, axis=1, ddof=2)", "std(A, correction=1)", "sum(A, 1, float)", "mean(WHOLE, dtype=float)", "cov(V, W)",
    "cov(A, ddof=0)", "cov(A, rowvar=False)", "corrcoef(V, W)", "corrcoef(A, None, False)", "flip(A, 0)",
    "roll(A, 2, 1)", "roll(V, 2)", "repeat(A, 2, 1)", "take(A, [1, 0], 1)", "take(A, [2, 0], 0)",
    "expand_dims(A, (0, 2))", "expand_dims(A, (-1, 0))", "sort(A, 0)", "argsort(A, 0)", "argsort(V, kind='stable')",
    "searchsorted(STEPS, V, 'right')", "diff(A, 2)", "diff(A, 1, 0)", "transpose(CUBE)", "transpose(CUBE, (1, 2, 0))",
    "transpose(V)", "swapaxes(CUBE, 0, -1)", "swapaxes(CUBE, 1, -2)", "ravel(A)", "reshape(A, -1)",
    "moveaxis(CUBE, 0, 2)", "vstack([V, W])", "vstack([A, V])", "hstack([V, W])", "hstack([A, A])",
    "column_stack([V, W])", "column_stack([A, A])", "dstack([A, A])", "dstack([V, W])", "append(V, 1.5)",
    "append(A, A, axis=0)", "append(A, [1.0, 2.0])", "atleast_1d(3.5)", "atleast_2d(V)", "atleast_3d(V)",
    "atleast_3d(A)", "block([[A, A], [A, A]])", "block([V, W])", "split(V, 3)", "split(A, [1, 3])", "split(A, 2, 1)",
    "array_split(V, 4)", "hsplit(A, 2)", "vsplit(A, 2)", "hsplit(V, 2)", "dsplit(CUBE, 2)", "delete(V, 1)",
    "delete(A, [0, 2], 0)", "delete(A, slice(1, 3), axis=1)", "delete(A, 3)", "extract(V > 0, V)", "flipud(A)",
    "fliplr(A)", "rot90(A)", "rot90(A, 2)", "rot90(A, 3)", "rot90(A, -1)", "rot90(CUBE, 1, (1, 2))", "diag(V)",
    "diag(A)", "diag(V, 2)", "diag(V, -1)", "diag(A, 1)", "tri(3, 4, 1)", "tril_indices(4)", "triu_indices(4, 1)",
    "tril_indices(3, -1, 5)", "diag_indices(3)", "indices((2, 3))", "unravel_index(WHOLE[:0] + 5, (2, 3))",
    "unravel_index([5, 1], (2, 3))", "ix_([0, 2], [1, 3])", "mgrid[0:3, 1:3]", "mgrid[0:2:3j]", "ogrid[:2, :3]",
    "r_[V, 1.0]", "r_[0:4]", "c_[V, W]", "c_[A, A]", "select([V > 1, V > 0], [V, 2 * V], -1)", "select([V > 0], [1])",
    "lexsort((V, WHOLE[:6]))", "unique(WHOLE)", "unique(REPEATED, axis=0)", "unique(REPEATED, axis=1)", "unique(REPEATED > 0, axis=-1)",
    "unique(REPEATED, True, True, True, axis=0)", "unique(REPEATED[:, :0], return_counts=True, axis=0)",
    "unique(REPEATED[:0], return_inverse=True, axis=0)", "unique(WHOLE, return_counts=True)",
    "unique(WHOLE, True, True, True)", "union1d(WHOLE, [99])", "intersect1d(WHOLE, [1, 2, 99])",
    "setdiff1d(WHOLE, [1, 2])", "ediff1d(A)", "histogram2d(V, W, 3)[1]", "where(WHOLE > 0)", "nonzero(A > 0)",
    "where(V > 0, V, 0)", "dot(V, W)", "dot(A, V)", "dot(A, A.T)", "dot(A, 2)", "dot(CUBE, V[:4])",
    "dot(CUBE, A.T[:4])", "vdot(A, A)", "outer(V, W)", "inner(V, W)", "cross(V[:3], W[:3])", "trace(A)",
    "trace(CUBE)", "diagonal(CUBE)", "diagonal(A, 1)", "trace(A, 1)", "identity(3)", "eye(3, 4, 1)", "round(A, 2)",
    "round(WHOLE * 37, -1)", "around(A)", "round(A * 1000, -2)", "round(A, 300)", "nan_to_num(NAN)",
    "nan_to_num(NAN, nan=7, posinf=8, neginf=9)", "fmod(WHOLE, 4)", "fmod(WHOLE, -4)", "fmod(A, 0.3)",
    "fmod(A, -0.3)", "fmax(NAN, 2)", "fmin(NAN, V)", "exp2(A)", "cbrt(A)", "cbrt(WHOLE)", "cbrt(NAN)", "sinc(A)",
    "sinc(WHOLE)", "deg2rad(A)", "rad2deg(A)", "heaviside(NAN, 0.5)", "heaviside(WHOLE, 1)", "interp(V, STEPS, W)",
    "interp(STEPS, STEPS, W)", "interp(V, STEPS, W, left=-1, right=-2)", "interp(0.5, [0, 1], [2, 4])",
    "interp(NAN, STEPS, W)", "gradient(V)", "gradient(A, 0.5, axis=1)", "gradient(A)", "gradient(V, STEPS)",
    "gradient(A, [0, 1, 3, 4], 2.0)", "gradient(A, STEPS, axis=-1)", "trapezoid(V)", "trapezoid(A, dx=0.5)",
    "trapezoid(A, STEPS)", "trapezoid(A, axis=0)", "correlate(V, W[:3])", "correlate(V, W, 'full')",
    "correlate(V[:2], W, 'same')", "correlate(V, W[:4], 'same')", "correlate(V[:3], W, 'full')", "zeros((2, 3), int)",
    "ones(3, 'f4')", "full((2, 2), 7, float)", "zeros_like(A, int)", "linspace(0, 1)", "percentile(V, [5, 95])",
    "quantile(V, STEPS)", "clip(V, a_min=-1, a_max=None)", "average(V, weights=W)", "linalg.norm(V)",
    "linalg.norm(A)", "linalg.norm(A, 'fro')", "linalg.norm(A, 1)", "linalg.norm(A, -1)", "linalg.norm(A, np.inf)",
    "linalg.norm(A, -np.inf)", "linalg.norm(A, axis=1)", "linalg.norm(V, 1)", "linalg.norm(CUBE, axis=(0, 2))",
    "linalg.norm(CUBE, 1, (0, 2), True)", "linalg.norm(A, axis=1, keepdims=True)", "linalg.multi_dot([A, A.T, A])",
    "linalg.matrix_power(A[:4, :4], -2)", "linalg.matrix_power(A[:4, :4], -1)", "linalg.matrix_norm(CUBE)",
    "maximum.accumulate(V)", "add.accumulate(A, 1)", "multiply.outer(V, W)", "degrees(A)", "radians(A)",
    "divmod(WHOLE, 4)", "divmod(5, V)", "meshgrid(V, STEPS, sparse=True)",
    "meshgrid(V, STEPS[:2], V[:3], sparse=True, indexing='ij')", "insert(V, 1, 9.0)",
    "insert(V, [0, 3, 3], [7, 8, 9])", "insert(A, 1, 5, axis=1)", "insert(A, -1, V, axis=0)",
    "insert(V, 2, [1.0, 2.0])", "insert(A, 3, 0)", "insert(V, 6, 1)",
    "piecewise(V, [V < 0, V > 1], [-1, lambda t: t * t])", "polyval([1, 2, 3], V)",
    "piecewise(V, [V < 0], [lambda t: -t, 5])", "polyval(V, WHOLE)", "hanning(9)", "hamming(8)", "blackman(7)",
    "kaiser(12, 5.0)", "kaiser(1, 2.0)", "kaiser(9, 0)", "i0(abs(A) * 9)", "i0(V * 70)", "i0(0.0)",
    "apply_along_axis(lambda v: v.max() - v, 0, A)", "apply_along_axis(lambda v: v.sum(), 1, A)",
    "apply_along_axis(lambda v, k: v[:, None] * v[:k], 1, CUBE, 2)", "apply_along_axis(lambda v: v[::-1], -1, CUBE)",
    "apply_over_axes(m.sum, CUBE, [0, 2])", "apply_over_axes(m.max, CUBE, 1)", "tril_indices_from(A)",
    "triu_indices_from(A, 1)", "diag_indices_from(A[:, :4])", "mask_indices(4, m.triu, 1)",
    "histogram_bin_edges(V, 4)", "histogram_bin_edges(V, 3, (0, 1))", "trim_zeros([0, 0, 1, 0, 2, 0])",
    "trim_zeros([0, 0, 1, 0], 'f')", "trim_zeros([0, 1, 0], 'b')", "trim_zeros([0, 0])", "packbits(WHOLE > 0)",
    "packbits(A > 0, 1)", "packbits(A > 0, axis=0, bitorder='little')", "unpackbits(m.packbits(WHOLE > 0))", "unpackbits(m.packbits(A > 0, 1), 1, 6)",
    "unpackbits(m.packbits(V > 0), count=-2, bitorder='little')",
    "poly([1.0, 2.0, -3.5])", "poly(V)", "polydiv(V, [2.0, 1.0, 3.0])", "polydiv([1.0, 2.0], V)",
    "polydiv([1.0, 3.0, 2.0], [1.0, 1.0])",
    "hanning(1)", "partition(V, 2)[2]", "add.reduce(A)", "minimum.reduce([V, W])", "copy(A)", "fabs(A)",
    "dot([1.0, 2.0], A[:2])", "linalg.norm(A, 2)", "linalg.norm(A, -2)", "linalg.norm(A, 'nuc')",
    "linalg.matrix_norm(CUBE, ord=2, keepdims=True)", "linalg.svdvals(CUBE)", "linalg.svdvals(A.T)", "linalg.pinv(A)",
    "linalg.matrix_rank(A)", "linalg.matrix_rank(A[:, :2] @ A[:2])", "linalg.pinv(CUBE)", "linalg.cond(A[:4, :4])",
    "linalg.pinv(A[:, :2] @ A[:2])", "nanmedian(HOLES)", "nanmedian(HOLES, 0)", "nanmedian(HOLES, axis=1, keepdims=True)",
    "nanmedian(WHOLE)", "nanmedian(CUBE, (0, 2))", "nanquantile(HOLES, 0.3)", "nanquantile(HOLES, [0.1, 0.9], axis=1)",
    "nanquantile(HOLES, 1.0, 0)", "nanpercentile(HOLES, [[5, 50], [95, 0]], axis=0)", "nanargmax(HOLES, 1)",
    "nanargmin(HOLES)", "nanargmax(WHOLE)", "nancumsum(HOLES, 1)", "nancumprod(HOLES)", "nancumsum(WHOLE)",
    "isposinf(NAN)", "isneginf(NAN)", "isposinf(WHOLE)", "logaddexp2(A, V)", "logaddexp2(-4000.0, -4001.0)",
    "ldexp(V, WHOLE[:6])", "ldexp([1.5, 5e-324, 1.0], [-1074, 1100, 1023])", "frexp(A)", "frexp(NAN)",
    "frexp([5e-324, 1.7e308, 0.5, 1.0, -8.0, 0.0, 2.2250738585072014e-308])", "frexp(WHOLE)", "modf(A)", "modf(NAN)",
    "modf(WHOLE)", "float_power(WHOLE, 3)", "gcd(WHOLE, 12)", "gcd(WHOLE[:, None], WHOLE)", "lcm(WHOLE, 6)",
    "lcm(WHOLE[:, None], WHOLE)", "bitwise_count(WHOLE)", "choose([1, 0, 1, 0, 1, 1], [V, W])", "unwrap(V * 9)",
    "unwrap(A * 9, axis=0)", "unwrap(WHOLE * 3, period=5)", "unwrap([0.0, np.pi, 0.0, -np.pi])", "polyadd(V, [1.0, 2.0])",
    "polysub([1.0, 2.0], V)", "polymul(V, W[:3])", "polyder(V)", "polyder(V, 2)", "polyint(V)", "polyint([3, 2], 2, 1)",
    "vander(V)", "vander(V, 3)", "vander(V, 4, True)", "diagflat([[1.0, 2.0], [3.0, 4.0]], 1)", "resize(V, (2, 5))",
    "resize(A, 4)", "rollaxis(CUBE, 2)", "rollaxis(CUBE, 0, 3)", "ravel_multi_index([[1, 0], [2, 1]], (2, 3))",
    "linalg.norm(A @ V)", "matvec(CUBE, V[:4])", "vecmat(V[:3], CUBE)", "setxor1d(WHOLE, [1, 2, 99])",
    "setxor1d(V[:0], V[:0])", "polyfit(V, W, 2)",
    "polyfit(V, W, 3, w=STEPS)", "polyfit(V, A.T, 1)", "linalg.qr(A)", "linalg.qr(A.T, mode='complete')", "linalg.qr(CUBE)",
    "isreal(A)", "iscomplex(NAN)",
    "real_if_close(A)", "angle(V)", "angle(WHOLE, deg=True)", "angle(NAN)", "spacing(A)", "spacing(NAN)", "spacing(WHOLE)",
    "spacing([0.0, 5e-324, 1e308])", "linalg.svd(A).S", "linalg.lstsq(A.T, V)", "linalg.lstsq(A.T, A.T[:, :2])[0]", "bartlett(9)", "bartlett(1)",
]


@pytest.mark.parametrize("call", CALLS)
def test_functions_are_those_of_numpy(call):
    with ta.Scope(default_float=ta.float64):
        ours = {name: ta.asarray(value) for name, value in ARRAYS.items()}
        same(eval(f"m.{call}", {"m": ta, "np": np, **ours}), eval(f"m.{call}", {"m": np, "np": np, **ARRAYS}))


METHODS = [
    "cumsum()", "cumsum(1)", "cumprod(axis=0)", "clip(-1, 1)", "clip(min=0)", "round(1)", "round()", "ravel()",
    "flatten()", "transpose()", "transpose(1, 0)", "transpose((1, 0))", "T", "swapaxes(0, 1)", "diagonal()", "trace()",
    "dot(V)", "nonzero()", "argsort(0)", "repeat(2, 0)", "take([0, 1], 1)", "std(0, ddof=1)", "var(ddof=1)", "conj()",
    "real", "mean(dtype='f4')", "sum(0, keepdims=True)", "astype('f4', copy=False)", "reshape(6, 4)", "copy()",
]


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_those_of_numpy(method):
    theirs = eval(f"x.{method}", {"x": A, "V": V})
    same(eval(f"x.{method}", {"x": ta.asarray(A), "V": ta.asarray(V)}), theirs, rtol=1e-6)


THROUGH_NUMPY = [
    "vstack([x, x])", "unique(x)", "interp(0.5, x, x)", "trace(np.outer(x, x))", "vdot(x, x)", "append(x, 1.0)",
    "nan_to_num(x)", "split(x, [2])[1]", "round(x, 1)", "ravel(x)", "atleast_2d(x)", "gradient(x)",
    "column_stack([x, x])", "maximum.accumulate(x)", "add.outer(x, x)", "fmod(x, 2)", "cumsum(x)", "linalg.norm(x)",
    "swapaxes(x[None], 0, 1)",
]


@pytest.mark.parametrize("call", THROUGH_NUMPY)
def test_numpys_own_functions_record(call):
    same(eval(f"np.{call}", {"x": ta.asarray(V), "np": np}), eval(f"np.{call}", {"x": V, "np": np}))


def test_numpy_computes_what_is_not_there_on_the_values(tmp_path):
    x = ta.asarray(V)
    for got, expected in ((np.fft.fft(x), np.fft.fft(V)), (np.linalg.eig(ta.asarray(A[:, :4])).eigenvalues, np.linalg.eig(A[:, :4]).eigenvalues),
                          (np.sort_complex(x), np.sort_complex(V))):
        assert isinstance(got, np.ndarray)
        np.testing.assert_allclose(got, expected)
    np.save(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(ta.load(tmp_path / "x.npy"), V)
    assert np.ndim(x) == 1 and np.shape(x) == (6,) and np.size(x) == 6
    assert ta.ndim(x) == 1 and ta.shape(A) == (4, 6) and ta.size(x) == 6 and ta.size(A, 1) == 6


def test_numpys_arrays_are_updated_in_place():
    a, x = V.copy(), ta.asarray(W)
    a += x
    np.multiply(a, x, out=a)
    a[x > 0] = 0
    np.testing.assert_allclose(a, np.where(W > 0, 0, (V + W) * W))
    whole = np.zeros(6, dtype=int)
    with pytest.raises(TypeError):
        whole += x


def test_numpys_functions_change_the_array_that_they_are_given():
    x, a = ta.asarray(V), V.copy()
    for each in (x, a):
        np.put(each, [1, 2], [7.0, 8.0])
        np.put_along_axis(each, np.array([0, 3]), 9.0, 0)
        np.clip(each, -1, 5, out=each)
        np.cumsum(each, out=each)
        np.exp(each, out=each)
    np.testing.assert_allclose(x, a)


def test_a_name_that_is_not_there_says_what_there_is():
    with pytest.raises(AttributeError, match="numpy.savetxt takes arrays of Tarry"):
        ta.savetxt
    with pytest.raises(AttributeError, match="no attribute 'savetxtt'$"):
        ta.savetxtt


def test_ufuncs_join_values_at_places():
    where, value = np.array([0, 2, 2, 5]), np.array([1.0, 2.0, 3.0, 4.0])
    for name in ("add", "multiply", "minimum", "maximum"):
        for called in (getattr(ta, name).at, getattr(np, name).at):
            a, x = V.copy(), ta.asarray(V)
            called(x, where, value)
            getattr(np, name).at(a, where, value)
            np.testing.assert_allclose(x, a)
    table, counts = ta.zeros((3, 3), int), np.zeros((3, 3), int)
    ta.add.at(table, ([0, 0, 1], [1, 1, 2]), 1)
    np.add.at(counts, ([0, 0, 1], [1, 1, 2]), 1)
    ta.add.at(table, table > 0, [5, 7])
    counts[counts > 0] += [5, 7]
    np.testing.assert_array_equal(table, counts)
    with pytest.raises(AttributeError):
        ta.sin.at
    with pytest.raises(IndexError):
        ta.add.at(table, 3, 1)
    with pytest.raises(TypeError):
        ta.add.at(counts, 0, 1)


def test_methods_that_change_the_array_itself():
    x = y = ta.asarray(V)
    assert ta.isscalar(3) and ta.isscalar(np.float64(3)) and not ta.isscalar(x) and not ta.isscalar(V)
    assert V[np.asarray(ta.argpartition(V, 2))[:3]].max() == np.partition(V, 2)[2]
    other = x + 0
    assert x.sort() is None
    np.testing.assert_array_equal(y, np.sort(V))
    np.testing.assert_array_equal(other, V)
    x.fill(3)
    assert y.tolist() == [3.0] * 6
    m, n = ta.zeros((3, 3)), np.zeros((3, 3))
    ta.fill_diagonal(m, [1, 2, 3])
    np.fill_diagonal(n, [1, 2, 3])
    np.testing.assert_array_equal(m, n)


def test_lists_are_operands():
    x, b = ta.asarray(V), ta.asarray([1, 2, 3], dtype=ta.uint8)
    numbers = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    for ours, theirs in ((x + numbers, V + numbers), (numbers - x, numbers - V), (x * tuple(numbers), V * numbers),
                         (x == numbers, V == numbers), (x @ numbers, V @ numbers), (ta.maximum(x, numbers),
                         np.maximum(V, numbers)), (b + [1, 2, 3], np.array([1, 2, 3], dtype=np.uint8) + [1, 2, 3]),
                         (b * [0.5, 1, 2], np.array([0.5, 2, 6])), (b > [-1, 2, 300], np.array([True, False, False]))):
        same(ours, theirs)
    assert bool(ta.allclose([1.0], [1.0 + 1e-9])) and ta.maximum([1, 5], (3, 3)).tolist() == [3, 5]
    assert bool(ta.allclose(x, V.tolist())) and x[range(2)].tolist() == V[:2].tolist()
    x += numbers
    np.testing.assert_array_equal(x, V + numbers)
    with pytest.raises(TypeError):
        x + ["a"] * 6
    picture = ta.zeros((2, 2, 3), dtype=ta.uint8)
    picture[0, 0] = (1, 2, 255)
    picture[picture[..., 0] == 0] = [9, 8, 7]
    assert picture.tolist() == [[[1, 2, 255], [9, 8, 7]], [[9, 8, 7], [9, 8, 7]]]
    with pytest.raises(OverflowError):
        picture[0, 0] = (1, 2, 256)
    with pytest.raises(ta.InvalidArgument):
        picture[0, 0] = (1, 2, 0.5)


def test_dtypes_compare_with_names_and_with_numpys():
    x = ta.zeros(2, dtype=ta.int64)
    for equal in ("int64", "i8", np.int64, np.dtype("int64"), int, ta.int64):
        assert x.dtype == equal and not x.dtype != equal
    for other in ("int32", np.float64, float, ta.int32, None, "no dtype", 3):
        assert x.dtype != other and not x.dtype == other
    assert {ta.int64: 1}[x.dtype] == 1 and ta.dtype("f4") is ta.float32 and ta.dtype(x) is ta.int64
    assert [d.kind for d in (ta.bool, ta.int8, ta.uint8, ta.float16)] == ["b", "i", "u", "f"]
    assert ta.float32(1.5).dtype is ta.float32 and ta.uint8([1, 2]).tolist() == [1, 2] and ta.int_ is ta.int64
    assert int(ta.int32()) == 0 and ta.zeros(1, dtype="<f4").dtype is ta.float32


def test_elements_are_numbers_by_their_place():
    x = ta.asarray(A)
    assert x.item(7) == A.item(7) and x.item(1, 2) == A[1, 2] and x.item((1, -1)) == A[1, -1]
    assert round(x[0, 0], 2).item() == round(A[0, 0], 2) and round(x[0, 0]) == round(A[0, 0])
    assert isinstance(round(x[0, 0]), int) and math.floor(x[0, 0]) == math.floor(A[0, 0])
    assert isinstance(x, ta.ndarray) and copy.copy(x).tolist() == A.tolist()
    with pytest.raises(IndexError):
        x.item(24)
    with pytest.raises(TypeError):
        x.item("a")


def test_an_assignment_that_would_be_lost_is_an_error():
    x = ta.zeros((2, 3))
    for lost in ("x[0][1] = 5", "x[0][1] += 5", "(x + 1)[0] = 2", "x.reshape(6)[0] = 1", "x.T[0] = 1"):
        with pytest.raises(ta.InvalidArgument, match="has no name"):
            exec(lost, {"x": x})
    assert x.tolist() == [[0.0] * 3] * 2

    class Holder:
        part = ta.zeros(3)

    held, nested, table = Holder(), [ta.zeros(3)], {"a": ta.zeros(3)}
    held.part[0], nested[0][1], table["a"][2] = 1, 2, 3
    row = x[0]
    row[0] = 4
    (lambda y: y.__setitem__(0, 5))(row)
    assert held.part.tolist() == [1, 0, 0] and nested[0].tolist() == [0, 2, 0] and table["a"].tolist() == [0, 0, 3]
    assert row.tolist() == [5, 0, 0] and x.tolist() == [[0.0] * 3] * 2


def test_wrong_calls_say_what_is_wrong():
    x = ta.asarray(A)
    for call, words in ((lambda: ta.split(x, 3), "equal parts"), (lambda: ta.select([], []), "as many choices"),
                        (lambda: ta.diag(ta.zeros((2, 2, 2))), "vector or a matrix"),
                        (lambda: ta.packbits(x, bitorder="up"), "'big' or 'little'"),
                        (lambda: ta.unpackbits(x), "of uint8, not of"), (lambda: ta.diag_indices_from(x), "one extent"),
                        (lambda: ta.tril_indices_from(x[0]), "a matrix is wanted"),
                        (lambda: ta.apply_along_axis(ta.sum, 1, x[:0]), "no vector"),
                        (lambda: ta.linalg.norm(x, 3), "ord of matrices"), (lambda: ta.interp(1.0, x, x), "one axis"),
                        (lambda: ta.gradient(x[:1]), "fewer than 2 points"), (lambda: x.swapaxes(0, 5), "axis 5")):
        with pytest.raises(ta.InvalidArgument, match=f"{words}.*test_names.py"):
            call()


def test_where_all_are_nan_a_median_is_nan_and_a_place_is_0():
    x = ta.asarray(np.full((3, 2), np.nan))
    assert np.isnan(ta.nanmedian(x, axis=0)).all() and ta.nanargmax(x, 0).tolist() == [0, 0]


@pytest.mark.parametrize("change", ["putmask(x, x > 0, [7.0, 8.0])", "place(x, x > 0, [7.0, 8.0])", "copyto(x, 5)",
                                    "copyto(x, W, where=x > 0)"])
def test_an_array_is_changed_as_numpy_changes_it(change):
    ours, theirs = ta.asarray(V), V.copy()
    eval(f"m.{change}", {"m": ta, "x": ours, "W": ta.asarray(W)})
    eval(f"m.{change}", {"m": np, "x": theirs, "W": W})
    same(ours, theirs)


def test_shapes_broadcast_as_numpy_says():
    assert ta.broadcast_shapes((3, 1), 4, (2, 1, 1)) == np.broadcast_shapes((3, 1), 4, (2, 1, 1)) == (2, 3, 4)
    assert ta.broadcast_shapes() == () and ta.broadcast_shapes((0,), 1) == (0,)
    with pytest.raises(ValueError, match="do not broadcast"):
        ta.broadcast_shapes((3,), (2,))


def test_functions_of_integers_take_no_floats():
    for call in (lambda: ta.gcd(1.5, 2), lambda: ta.bitwise_count(V), lambda: ta.ldexp(V, W)):
        with pytest.raises(TypeError, match="integers"):
            call()
