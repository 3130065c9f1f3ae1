"""Arrays: operators, indices, values, text."""
import copy
import pickle
import sys
import weakref

import numpy as np
import pytest
import tarry as ta


def test_recording_computes_nothing():
    x = ta.asarray([1.0, 2.0])
    y = x * 2
    assert not y.is_evaluated
    assert ta.evaluate(y).counters.kernels == 1
    assert y.is_evaluated


def test_an_expression_is_one_kernel():
    x = ta.arange(1000, dtype=ta.float32)
    y = ta.exp(-x / 100) * ta.sin(x) + 1
    assert ta.plan(y).counters.kernels == 1
    np.testing.assert_allclose(y, np.exp(-np.arange(1000) / 100) * np.sin(np.arange(1000)) + 1, rtol=1e-5)


@pytest.mark.parametrize("expression", [
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "x < y", "x <= y", "x == y", "x != y", "x > y",
    "2 + x", "2.5 - x", "3 * x", "1 / y", "7 // y", "7 % y", "2 ** y", "-x", "+x", "abs(-x)", "divmod(x, y)[1]",
])
def test_operators_are_those_of_numpy(expression):
    a, b = np.array([1.5, -2.0, 3.0]), np.array([2.0, 4.0, 0.5])
    ours = eval(expression, {"x": ta.asarray(a), "y": ta.asarray(b)})
    np.testing.assert_allclose(ours, eval(expression, {"x": a, "y": b}), rtol=1e-12)


@pytest.mark.parametrize("expression", ["x & 6", "6 | x", "x ^ x", "~x", "x << 2", "x >> 1", "1 << x"])
def test_operators_on_bits(expression):
    a = np.array([1, 2, 7])
    np.testing.assert_array_equal(eval(expression, {"x": ta.asarray(a)}), eval(expression, {"x": a}))


def test_updating_in_place_keeps_the_object_and_leaves_views_alone():
    x = ta.asarray([1.0, 2.0, 3.0])
    same, part = x, x[1:]
    x += 1
    x[0] = 7
    assert same is x and same.tolist() == [7.0, 3.0, 4.0]
    assert part.tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="would turn float32"):
        x += ta.ones((3, 3))


KEYS = [0, -1, slice(1, None), slice(None, None, -1), slice(-2, None), slice(5, 1, -2), ..., None, (), (0, 1), (..., 2),
        (slice(None), -1), (None, 0, ..., None), (slice(0, 0), slice(1, 3)), np.int64(1), ([1, 0], [2, 2]),
        (slice(None), [2, 0])]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_read_what_numpy_reads(key):
    a = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(ta.asarray(a)[key], a[key])


@pytest.mark.parametrize("key", KEYS[:14], ids=str)
def test_indices_write_what_numpy_writes(key):
    a = np.arange(24).reshape(2, 3, 4)
    x = ta.asarray(a)
    x[key] = 100
    a[key] = 100
    np.testing.assert_array_equal(x, a)


def test_a_mask_is_written_through():
    a = np.arange(6).reshape(2, 3)
    x = ta.asarray(a)
    x[x > 2] = 0
    a[a > 2] = 0
    np.testing.assert_array_equal(x, a)
    x[ta.asarray([True, False])] = 5
    assert x.tolist() == [[5, 5, 5], [0, 0, 0]]


def test_values_are_numbers_of_python():
    assert float(ta.sum(ta.asarray([1.5, 2.0]))) == 3.5
    assert int(ta.asarray(7)) == 7 and [1, 2, 3][ta.asarray(1)] == 2
    assert bool(ta.asarray(True)) and not bool(ta.asarray([0.0]))
    assert ta.asarray(2**64 - 1).item() == 2**64 - 1
    assert ta.asarray([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        float(ta.asarray([1.0, 2.0]))
    with pytest.raises(TypeError):
        [1, 2][ta.asarray(1.0)]
    with pytest.raises(ValueError):
        bool(ta.asarray([True, False]))


def test_rows_are_iterated_over():
    x = ta.reshape(ta.arange(6), (3, 2))
    assert len(x) == 3 and [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert 4 in x and 6 not in x
    with pytest.raises(TypeError):
        iter(ta.asarray(1))


def test_text_says_how_a_lazy_array_came_about_and_shows_the_values_of_others():
    x = ta.asarray([1.0, 2.5])
    assert repr(x) == "Array([1. , 2.5], dtype=float32)".replace("1. ,", "1., ") and str(x) == "[1.  2.5]"
    y = x + 1
    assert repr(y).startswith("Array(float32, (2,), lazy: add at test_arrays.py:")
    assert not y.is_evaluated


def test_an_array_that_could_not_be_evaluated_says_so():
    wrong = ta.arange(5.0)[ta.asarray([99])]
    with pytest.raises(IndexError):
        ta.evaluate(wrong)
        wrong.tolist()
    assert repr(wrong).startswith("Array(float32, (1,), failed: [index] index 99 at (0,)")
    assert "failed" in wrong._repr_html_() and "index 99" in wrong._repr_html_()
    with pytest.raises(IndexError):
        str(wrong)


def test_text_of_an_array_without_elements_tells_its_shape():
    for shape in ((2, 0), (0, 2, 3)):
        assert repr(ta.zeros(shape).evaluate()) == f"Array([], shape={shape}, dtype=float32)"
    assert repr(ta.zeros(0).evaluate()) == "Array([], dtype=float32)"


def test_the_size_of_an_array_is_that_of_its_elements_where_they_are_computed():
    x, lazy = ta.zeros(1000).evaluate(), ta.zeros(1000) + 1
    assert sys.getsizeof(x) - sys.getsizeof(lazy) == x.nbytes == 4000


LARGE, FEW = 2**64, -2**70


@pytest.mark.parametrize("call", [
    "x < LARGE", "x <= FEW", "x == LARGE", "x != FEW", "LARGE > x", "FEW >= x", "LARGE in x", "m.less(x, LARGE)",
    "m.equal(FEW, x)", "m.clip(x, 0, LARGE)", "m.clip(x, FEW, 2)", "np.less(x, LARGE)", "m.array_equal(x, LARGE)",
])
def test_integers_of_more_than_64_bits_are_compared_exactly_and_are_no_bounds(call):
    names = {"LARGE": LARGE, "FEW": FEW, "np": np}
    for a in (np.array([-2**63, 0, 2**63 - 1]), np.array([2**64 - 1, 0, 1], dtype=np.uint64), np.array([1.5, -np.inf, 2e30])):
        theirs = a if a.dtype.kind == "f" or "clip" not in call else a.astype(object)
        ours = eval(call, {"x": ta.asarray(a), "m": ta, **names})
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(eval(call, {"x": theirs, "m": np, **names})).astype(
            np.asarray(ours).dtype))


def test_integers_of_more_than_64_bits_are_floats_beside_floats():
    a = np.array([1.5, -2.0, 2e30])
    for call in ("x + LARGE", "FEW * x", "m.where(x > 0, x, LARGE)", "m.maximum(x, LARGE)", "x / LARGE",
                 "m.full(2, LARGE, dtype=float)", "m.asarray([LARGE], dtype=float)"):
        ours = eval(call, {"x": ta.asarray(a), "m": ta, "LARGE": LARGE, "FEW": FEW})
        np.testing.assert_array_equal(ours, eval(call, {"x": a, "m": np, "LARGE": LARGE, "FEW": FEW}))
    x = ta.asarray(a)
    x[0] = LARGE
    x += LARGE
    assert x[0].item() == 2.0 * LARGE and ta.linspace(0, LARGE, 2)[1].item() == LARGE
    x.fill(FEW)
    assert x.tolist() == [float(FEW)] * 3


@pytest.mark.parametrize("call, op", [
    ("i + LARGE", "add"), ("LARGE - i", "subtract"), ("i % LARGE", "remainder"), ("divmod(i, LARGE)", "divmod"),
    ("i.__iadd__(LARGE)", "add"), ("i.__setitem__(0, LARGE)", "set"), ("i.fill(LARGE)", "fill"),
    ("ta.where(i > 0, i, LARGE)", "where"), ("ta.maximum(i, LARGE)", "maximum"), ("ta.ones(2) + 10**400", "add"),
])
def test_integers_of_more_than_64_bits_do_not_fit_integers(call, op):
    with pytest.raises(ta.InvalidValue, match=rf"^\[{op}\] .* does not fit .*<string>:1"):
        eval(call, {"i": ta.arange(3), "ta": ta, "LARGE": LARGE})
    for made in (lambda: ta.asarray(LARGE), lambda: ta.asarray([LARGE]), lambda: ta.full(2, LARGE)):
        with pytest.raises(OverflowError, match="holds the number 18446744073709551616.*test_arrays.py"):
            made()


def test_names_that_are_none_are_told_with_those_there_are():
    x = ta.ones(2)
    for call in (lambda: ta.zeros(2, device="gpu"), lambda: x.to_device("gpu"), lambda: ta.Scope(device="gpu")):
        with pytest.raises(ta.InvalidValue, match="no device 'gpu'; there are 'cpu', 'cuda'.*test_arrays.py"):
            call()
    for call in (lambda: ta.zeros(2, dtype="float31"), lambda: x.astype("float31"), lambda: ta.dtype("float31"),
                 lambda: ta.sum(x, dtype="float31"), lambda: ta.asarray([1], dtype="float31")):
        with pytest.raises(ta.InvalidDtype, match="no dtype 'float31'; there are bool, int8,.*test_arrays.py"):
            call()
    with pytest.raises(TypeError, match="no dtype dtype.*complex128"):
        ta.zeros(2, dtype=np.dtype(complex))
    assert np.sum(x, dtype=complex).dtype == complex and np.zeros_like(x, dtype=complex).dtype == complex


def test_messages_name_options_as_python_does():
    with pytest.raises(ta.InvalidValue, match=r"pass axis=\.\.\."):
        ta.cumulative_sum(ta.ones((2, 2)))
    with pytest.raises(ta.InvalidValue, match=r"pass length=\.\.\."):
        ta.scan(lambda c, x: (c, c), ta.zeros(2))


def test_memory_without_a_copy_has_the_dtype_of_the_array():
    x = ta.ones(2)
    assert x.__array__(dtype=np.float32, copy=False).dtype == np.float32 and x.__array__(float).dtype == float
    with pytest.raises(ValueError, match="takes a copy"):
        x.__array__(dtype=float, copy=False)


def test_numbers_are_formatted():
    assert f"{ta.asarray(2.0):.2f} {ta.asarray([1, 2])}" == "2.00 [1 2]"


def test_arrays_are_copied_pickled_and_referred_to_weakly_but_not_hashed():
    x = ta.asarray([[1, 2], [3, 4]], dtype=ta.int16)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x * 2, protocol))
        assert y.dtype is ta.int16 and y.tolist() == [[2, 4], [6, 8]]
    parts = []
    data = pickle.dumps(x, 5, buffer_callback=parts.append)
    assert pickle.loads(data, buffers=parts).tolist() == x.tolist() and len(parts) == 1
    for y in (copy.copy(x), copy.deepcopy(x)):
        y[0, 0] = 9
        assert x[0, 0].item() == 1
    assert weakref.ref(x)() is x
    assert pickle.loads(pickle.dumps(ta.float32)) is ta.float32
    with pytest.raises(TypeError):
        hash(x)


def test_errors_are_pythons_kinds_and_name_the_line():
    x = ta.zeros(3)
    with pytest.raises(ta.InvalidArgument, match=r"do not broadcast.*test_arrays\.py:\d+") as caught:
        x + ta.zeros(4)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, ta.Error)
    with pytest.raises(IndexError, match=r"index 5 is out of range.*test_arrays\.py"):
        x[5]
    for place in (lambda: x[0, 0], lambda: ta.expand_dims(x, 3), lambda: ta.sum(x, axis=1)):
        with pytest.raises(ta.OutOfRange, match="test_arrays.py"):
            place()
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(OverflowError):
        ta.asarray([300], dtype=ta.uint8)


@pytest.mark.parametrize("call, kind, builtin", [
    (lambda x: x[5], ta.OutOfRange, IndexError),
    (lambda x: x[ta.asarray([True, False])], ta.OutOfRange, IndexError),
    (lambda x: ta.sum(x, axis=1), ta.OutOfRange, IndexError),
    (lambda x: ta.take(x, ta.asarray([7])).tolist(), ta.OutOfRange, IndexError),  # found while it runs
    (lambda x: x + ta.zeros(4), ta.InvalidShape, ValueError),
    (lambda x: ta.reshape(x, (2, 2)), ta.InvalidShape, ValueError),
    (lambda x: x.__iadd__(ta.zeros((2, 3))), ta.InvalidShape, ValueError),
    (lambda x: x & x, ta.InvalidDtype, TypeError),
    (lambda x: ta.asarray([1]).__itruediv__(2), ta.InvalidDtype, TypeError),
    (lambda x: ta.zeros(3, dtype=ta.int8) + ta.zeros(3, dtype=ta.uint64), ta.InvalidDtype, TypeError),
    (lambda x: ta.arange(0, 3, 0), ta.InvalidValue, ValueError),
    (lambda x: ta.quantile(x, 1.5), ta.InvalidValue, ValueError),
])
def test_wrong_arguments_are_told_apart(call, kind, builtin):
    with pytest.raises(builtin, match="test_arrays.py") as caught:
        call(ta.zeros(3))
    assert type(caught.value) is kind
    assert issubclass(kind, ta.InvalidArgument) and issubclass(kind, ValueError)


def test_functions_are_pickled_by_name():
    for function in (ta.sin, ta.sum, ta.linalg.cross):
        assert pickle.loads(pickle.dumps(function)) is function
