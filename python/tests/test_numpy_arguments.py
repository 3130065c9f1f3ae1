"""NumPy's arguments of functions and methods: beside NumPy."""
import numpy as np
import pytest
import tarry as ta

rng = np.random.default_rng(7)
A, V, W = rng.standard_normal((4, 6)), rng.standard_normal(6), rng.random(6)
CUBE, WHOLE = rng.standard_normal((2, 3, 4)), rng.integers(-9, 9, 12)
HOLES = np.where(rng.random((4, 6)) < 0.3, np.nan, A)
MASK, TIMES = A > 0, np.array([1, 0, 3, 2, 1, 1])
REPEATED = np.array([2.0, np.nan, 1.0, np.nan, 2.0, np.nan])
GIVEN = {"A": A, "V": V, "W": W, "CUBE": CUBE, "WHOLE": WHOLE, "HOLES": HOLES, "MASK": MASK, "TIMES": TIMES,
         "REPEATED": REPEATED}


def same(ours, theirs, **near):
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other, **near)
        return
    theirs = np.asarray(theirs)
    assert isinstance(ours, ta.Array) and ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind
    np.testing.assert_allclose(np.asarray(ours), theirs, **{"rtol": 1e-12, "atol": 1e-13, **near})


def both(call):
    """What the call gives with Tarry and with NumPy, as `m` or on `x`."""
    with ta.Scope(default_float=ta.float64):
        ours = {name: ta.asarray(value) for name, value in GIVEN.items()}
        yield eval(call, {"m": ta, "np": np, **ours})
        yield eval(call, {"m": np, "np": np, **GIVEN})


CALLS = [
    # Places.
    "unravel_index([5, 7], (3, 4), order='F')", "unravel_index(11, 12)", "unravel_index(np.array([[0, 11]]), (3, 4))",
    "ravel_multi_index(([1, 2], [0, 3]), (3, 4), order='F')", "ravel_multi_index(([5, -1], [9, 2]), (3, 4), mode='wrap')",
    "ravel_multi_index(([5, -1], [9, 2]), (3, 4), mode=('clip', 'wrap'))", "ravel_multi_index((2, 1), (3, 4))",
    "choose([0, 5, -1, 1, 1, 0], [V, W], mode='wrap')", "choose([0, 5, -1, 1, 1, 0], [V, W], mode='clip')",
    "choose([[1], [0]], [V, W])", "insert(V, slice(1, 4), 9.0)", "insert(A, slice(None, None, 2), 7, axis=1)",
    "trim_zeros(m.pad(A[:2, :2], ((1, 2), (3, 0))))", "trim_zeros(m.pad(A[:2, :2], 1), 'f', axis=1)",
    "trim_zeros(m.zeros((2, 3)))", "trim_zeros(m.pad(A[:2, :2], 1), axis=(0, -1))", "partition(V, [1, 3])[[1, 3]]",
    "partition(V, 2, kind='introselect')[2]", "partition(A, (0, 5), 1)[:, 5]",
    # Sets.
    "unique(REPEATED)", "unique(REPEATED, equal_nan=False)", "unique(REPEATED, True, True, True)",
    "unique(REPEATED, return_inverse=True, return_counts=True, equal_nan=False)", "unique(WHOLE, sorted=True)",
    "union1d(REPEATED, [np.nan, 3.0])", "isin(WHOLE, [1, 2], invert=True)", "isin(WHOLE, [1, 2], True, kind='sort')",
    "intersect1d(WHOLE, [2, 1, 99], return_indices=True)", "intersect1d([3, 1], [1, 2], assume_unique=True)",
    "intersect1d(REPEATED, REPEATED)", "setdiff1d([5, 3, 4], [3], assume_unique=True)", "setdiff1d(REPEATED, [1.0])",
    "setxor1d([5, 3], [3, 1], assume_unique=True)", "setxor1d(REPEATED, [1.0])", "ediff1d(V, to_begin=[1.0, 2.0], to_end=7.0)",
    "ediff1d(WHOLE, 5)", "ediff1d(WHOLE, to_begin=3)",
    # Products.
    "tensordot(A, A.T, 1)", "tensordot(A, A, 2)", "tensordot(A, A, (1, 1))",
    "tensordot(CUBE, CUBE, ((0, 1), (0, 1)))", "einsum('ij,ij->i', A, A, optimize=True)", "einsum(A, [0, 1], A, [2, 1], [0, 2])",
    "einsum(A, [0, 1], V, [1])", "einsum(CUBE, [..., 0], [0, ...])", "einsum('i,i', WHOLE, WHOLE, dtype=float)",
    # Borders.
    "pad(V, 2, constant_values=(1, 2))", "pad(A, 1, constant_values=((1, 2), (3, 4)))", "pad(A, ((1, 2),))",
    "pad(A, (2,))", "pad(A, {0: (1, 2)})", "pad(A, {-1: 2}, 'edge')", "pad(A, np.array([[1, 0], [2, 1]]), 'wrap')",
    "pad(V, 3, 'reflect', reflect_type='odd')", "pad(V, (13, 17), 'reflect', reflect_type='odd')",
    "pad(V, (13, 17), 'symmetric', reflect_type='odd')", "pad(A, ((1, 3), (2, 4)), 'symmetric', reflect_type='odd')",
    "pad(V[:1], 2, 'reflect', reflect_type='odd')", "pad(WHOLE, 3, 'reflect', reflect_type='odd')",
    "pad(A, ((2, 1), (0, 3)), 'linear_ramp', end_values=((1, 2), (3, -4)))", "pad(WHOLE, 4, 'linear_ramp', end_values=-7)",
    "pad(A, 2, 'mean')", "pad(A, (1, 2), 'maximum', stat_length=2)", "pad(A, 2, 'minimum', stat_length=((1, 3), (2, 5)))",
    "pad(A, 1, 'median')", "pad(WHOLE, 2, 'mean', stat_length=3)", "pad(WHOLE, 2, 'median')", "pad(V, 2, 'empty')[2:-2]",
    "pad(CUBE, ((0, 0), (1, 0), (2, 2)), 'reflect')", "pad(WHOLE, 1, constant_values=2.0)",
    # Statistics.
    "cov(A, bias=True)", "cov(V, W, True, True)", "cov(A, None, True, False, 2)", "cov(A, fweights=TIMES)",
    "cov(A, aweights=W)", "cov(A, fweights=TIMES, aweights=W, ddof=0)", "cov(A.T, rowvar=False, aweights=W)",
    "cov(V, W, fweights=TIMES)", "cov(V, aweights=W)", "cov(A, dtype='f4')", "corrcoef(A, dtype='f4')",
    "average(A, 0, returned=True)", "average(A, 1, W, True)", "average(A, weights=MASK, returned=True, keepdims=True)",
    "average(WHOLE, returned=True)", "interp([0.0, 1.5, 9.0, -7.0], [4.0, 0.5, 2.0], [1.0, 2.0, 5.0], period=3)",
    "interp(V, [0.0, 1.0], [2, 3], -1, 7)", "interp(0.5, [0, 1], [0, 1], period=-1)", "interp(WHOLE, [10, 20, 350], [1, 2, 3], period=360)",
    "gradient(V, edge_order=2)", "gradient(A, 0.5, 2.0, edge_order=2)",
    "gradient(V, np.cumsum(np.asarray(W) + 0.1), edge_order=2)", "gradient(CUBE, axis=(1, 2), edge_order=2)",
    "gradient(A, [0.0, 1.0, 3.0, 4.0], axis=0, edge_order=2)", "gradient(WHOLE, 2, edge_order=2)",
    "diff(A, 0, prepend=V)", "meshgrid(V, W, copy=False)", "meshgrid()",
    # Reductions.
    *(f"{name}(A, where=MASK)" for name in ("sum", "prod", "mean", "var", "std", "nansum", "nanprod", "nanmean", "nanvar")),
    *(f"{name}(HOLES, 1, keepdims=True, where=MASK)" for name in ("nansum", "nanmean", "nanstd", "nanprod")),
    "any(MASK, where=A > 1)", "all(MASK, 0, where=A > 0)", "max(A, where=MASK, initial=-1)", "min(A, 1, initial=-0.5)",
    "max(A[:0], 0, initial=4.0)", "nanmax(HOLES, 1, where=MASK, initial=0)", "nanmin(HOLES, initial=-5.0)",
    "sum(A, 0, initial=5)", "sum(WHOLE, initial=3)", "prod(A, 1, float, initial=2.0, where=MASK)", "sum(A, where=MASK[:, :1])",
    "sum(A, 0, where=MASK[0])", "mean(WHOLE, where=WHOLE > 0)", "mean(A, 0, 'f4', where=MASK)", "std(A, 0, ddof=1, where=MASK)",
    "var(A, 1, mean=m.mean(A, axis=1, keepdims=True))", "std(A, mean=0.25)", "nanvar(HOLES, 0, mean=0.5)",
    "var(WHOLE, dtype=float)", "std(A, 1, 'f4')", "nanstd(HOLES, 1, 'f4')", "var(A, 1, where=MASK, keepdims=True, dtype='f4')",
    "sum(MASK, where=MASK)", "mean(A, where=True)", "mean(A, where=A > 9)", "max(CUBE[:, :0], axis=1, initial=1.5)", "sum(A, (0, 1), where=[True, False] * 3)",
    # Parts.
    "add.reduceat(V, [0, 3, 1, 5])", "maximum.reduceat(A, [0, 2], axis=1)", "minimum.reduceat(A, np.array([1, 3]))",
    "multiply.reduceat(V, [0, 2, 4])", "add.reduceat(WHOLE, [1, 3, 4, 6, 8, 11])", "add.reduceat(A, [0, 0, 3])",
    "maximum.reduceat(V, [1, 2, 3, 4, 5])", "add.reduce(A, where=MASK)", "maximum.reduce(A, initial=0)",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_take_numpys_arguments(call):
    same(*both(f"m.{call}"), rtol=1e-6 if "f4" in call else 1e-11)


@pytest.mark.parametrize("call", [
    "A.sum(where=MASK)", "A.max(0, where=MASK, initial=-2)", "A.mean(where=MASK)", "A.std(1, where=MASK)",
    "MASK.all(where=MASK)", "A.prod(initial=2)", "A.compress([True, False, True], 1)", "A.compress([False, True])",
    "(WHOLE % 2).choose([WHOLE, -WHOLE])", "WHOLE.choose([WHOLE, -WHOLE], mode='wrap')", "A.var(dtype='f4')",
])
def test_methods_take_numpys_arguments(call):
    same(*both(call), rtol=1e-6 if "f4" in call else 1e-11)


def test_methods_change_the_array_itself():
    x, a = ta.asarray(V), V.copy()
    for each in (x, a):
        each.put([0, 1, 2], [5.0, 6.0])
        each.put(np.array([9, -1]), 7.0, mode="clip")
        each.put([3], [8.0, 9.0])
    same(x, a)
    assert x.partition([1, 3]) is None and ta.sort(x).tolist() == np.sort(a).tolist()
    a.partition(2)
    assert np.asarray(x)[1] == np.sort(a)[1] and a[np.asarray(ta.asarray(a).argpartition(2))[2]] == np.sort(a)[2]
    for lost in ("x[1:].put(0, 5.0)", "x[1:].partition(1)", "(x + 1).put([0], 5.0)"):
        with pytest.raises(ta.InvalidArgument, match="has no name"):
            exec(lost, {"x": x})
    np.put(x, [0, 1, 2], [5.0, 6.0])
    assert x.tolist()[:3] == [5.0, 6.0, 5.0] and ta.put(x, [0, 1, 2], [1.0, 2.0]).tolist()[:3] == [1.0, 2.0, 1.0]


@pytest.mark.parametrize("name", ["subtract", "divide", "logical_or", "logical_and", "bitwise_or", "bitwise_and", "bitwise_xor",
                                  "fmax", "fmin", "add", "maximum"])
@pytest.mark.parametrize("given", ["np.array([4.0, np.nan, 1.0, 0.0, 2.0])", "np.array([4, 7, 1, 0, -2])",
                                   "np.array([True, False, False, True, True])"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_are_joined_with_elements_as_numpys_ufuncs_do(name, given):
    a = eval(given)
    value = np.array([1, 2, 4, 3]) if a.dtype.kind == "i" else np.array([2.0, np.nan, 0.5, 3.0]) if a.dtype.kind == "f" else np.array([True, False, True, False])
    x, expected = ta.asarray(a), a.copy()
    if (a.dtype.kind, name) == ("b", "divide"):
        pytest.skip("NumPy puts quotients of bools into bools")
    try:
        getattr(np, name).at(expected, [0, 1, 1, 4], value)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(ta, name).at(x, [0, 1, 1, 4], value)
        return
    for join in (getattr(ta, name), getattr(np, name)):
        x = ta.asarray(a)
        join.at(x, [0, 1, 1, 4], value)
        same(x, expected)


def test_bits_are_joined_at_places_of_several_axes():
    for places in ((np.array([0, 1, 1]), np.array([2, 0, 0])), (Ellipsis, 1), np.array([[True, False, True], [False, True, False]])):
        x, a = ta.asarray(np.arange(6, dtype=np.uint8).reshape(2, 3)), np.arange(6, dtype=np.uint8).reshape(2, 3)
        ta.bitwise_or.at(x, places, np.uint8(9))
        np.bitwise_or.at(a, places, np.uint8(9))
        same(x, a)


def test_a_diagonal_goes_round_a_tall_matrix():
    for shape in ((7, 3), (3, 7), (3, 3), (8, 2), (3, 3, 3)):
        for value in (5.0, [1.0, 2.0]):
            for wrap in (False, True):
                x, a = ta.zeros(shape, dtype=ta.float64), np.zeros(shape)
                ta.fill_diagonal(x, value, wrap)
                np.fill_diagonal(a, value, wrap)
                same(x, a)


WRONG = [
    ("unravel_index(99, (3, 4))", "out of range"), ("unravel_index(-1, (3, 4))", "out of range"),
    ("unravel_index(0.5, (3, 4))", "takes integers"), ("unravel_index(1, (3, 4), order='X')", "order is"),
    ("ravel_multi_index((9, 9), (3, 4))", "out of range"), ("ravel_multi_index((1, -1), (3, 4))", "out of range"),
    ("argpartition([1, 2], 99)", "out of range"), ("partition([1.0, 2.0], [0, 2])", "out of range"),
    ("choose([-1], [[5], [6]])", "out of range"), ("choose([2], [[5], [6]])", "out of range"),
    ("choose([0], [[5], [6]], mode='some')", "mode is"), ("pad(V, -1)", "not negative"), ("pad(V, 1, 'some')", "mode is"),
    ("pad(V, ((1, 2), (3, 4)))", "pair for each"), ("pad(V, 1, 'maximum', stat_length=0)", "positive"),
    ("max(A, where=MASK)", "initial value"), ("gradient(V[:2], edge_order=2)", "takes 3 points"),
    ("gradient(V, edge_order=3)", "edge_order is"), ("interp(V, V, V, period=0)", "not 0"),
    ("cov(A, fweights=-TIMES)", "not negative"), ("cov(A, aweights=W[:2])", "observations"),
    ("trim_zeros(V, 'x')", "trim is"), ("add.reduceat(V, [0, 9])", "out of range"), ("take(V, [9])", "out of range"),
    ("take(V, np.array([0, 9]))", "out of range"), ("take(A, [4], axis=0)", "out of range"), ("sum(A, axis=5, where=MASK)", "axis 5"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_a_wrong_argument_is_an_error_at_its_line(call, words):
    given = {**GIVEN, "TIMES": list(TIMES)} if "-TIMES" not in call else GIVEN
    with pytest.raises((ValueError, TypeError, IndexError, RuntimeError)):
        eval(f"np.{call}", {"np": np, **GIVEN})
    x = {name: ta.asarray(value) if name in "AVMASK" else value for name, value in given.items()}
    with pytest.raises(ta.InvalidArgument, match=rf"\[\w+.*{words}.*<string>:1"):
        eval(f"ta.{call}", {"ta": ta, "np": np, **x})


@pytest.mark.parametrize("call", ["unravel_index(at, (3, 4))[0]", "ravel_multi_index((at, at), (3, 4))", "choose(at, [V, V])",
                                  "take(V, at)"])
@pytest.mark.parametrize("at", [[0, 99, 0, 0, 0, 0], [0, -13, 0, 0, 0, 0]])
def test_a_place_of_an_array_that_is_out_of_range_is_an_error_when_it_is_read(call, at):
    made = eval(f"ta.{call}", {"ta": ta, "V": ta.asarray(V), "at": ta.asarray(at)})
    with pytest.raises(IndexError, match="out of range"):
        made.tolist()


def test_weights_that_add_to_0_are_an_error_where_they_are_known():
    for weights in ([1, -1], np.array([0.0, 0.0]), (0, 0)):
        with pytest.raises(ZeroDivisionError, match="test_numpy_arguments"):
            ta.average(ta.asarray([1.0, 2.0]), weights=weights)
    assert np.isinf(float(ta.average(ta.asarray([1.0, 3.0]), weights=ta.asarray([1.0, -1.0]))))


def test_sets_of_the_standard_keep_every_nan():
    x = ta.asarray(REPEATED)
    assert ta.unique_values(x).shape == (5,) and ta.unique_counts(x).counts.tolist() == [1, 2, 1, 1, 1]
    assert ta.unique_all(x).values.shape == ta.unique_inverse(x).values.shape == (5,)


def test_messages_name_the_operation_and_what_was_given():
    x, z = ta.zeros((3, 4)), ta.zeros(3)
    for change, words in (("ta.add.at(z, [0, 5], 1)", r"\[add\] index 5"), ("x[ta.asarray([True, False])] = 1", r"bool \(2,\)"),
                          ("ta.asarray('a')", r"\[asarray\].*str"), ("ta.sum('a')", r"\[asarray\].*str"),
                          ("ta.pad(z, 1, constant_values=[[1, 2], [3, 4], [5, 6]])", r"\[pad\] constant_values"),
                          ("ta.arange('a')", r"\[arange\]"), ("z.reshape('a')", r"\[reshape\]"),
                          ("z.item('a')", r"\[item\]"), ("ta.gradient(z, axis='a')", r"\[gradient\]"),
                          ("ta.fill_diagonal(3, 1)", r"\[fill_diagonal\]"), ("ta.add.at(3, 0, 1)", r"\[add.at\]")):
        with pytest.raises(ta.InvalidArgument, match=f"{words}.*<string>:1"):
            exec(change, {"ta": ta, "x": x, "z": z})
