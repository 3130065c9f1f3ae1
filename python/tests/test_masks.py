"""Masks and writes by index: beside NumPy."""
import threading
import time

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


def test_a_mask_may_have_extent_0_where_the_array_has_another():
    x = ta.ones((2, 3, 4))
    assert x[ta.zeros(0, dtype=ta.bool)].shape == (0, 3, 4) and x[ta.zeros((2, 0), dtype=ta.bool)].shape == (0, 4)
    for shape in ((0, 2), (1,), (2, 0, 4, 5)):
        with pytest.raises(IndexError, match="does not fit"):
            x[ta.zeros(shape, dtype=ta.bool)]


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


def test_a_mask_of_no_axes_is_all_or_nothing():
    a = np.arange(6.0).reshape(2, 3)
    for values in (a, a[0, 1]):
        for mask in (True, False):
            x, expected = ta.asarray(values), np.array(values)
            np.testing.assert_array_equal(x[ta.asarray(mask)], expected[mask])
            x[ta.asarray(mask)] = -values
            expected[mask] = -values
            np.testing.assert_array_equal(x, expected)
            x[ta.asarray(mask)] = 2 * x[ta.asarray(mask)]
            np.testing.assert_array_equal(x, 2 * expected if mask else expected)


BAD = ["[1, 9]", "np.array([[0, -6]])", "range(9)", "(0, 5),", "np.array(5)", "np.array([7], dtype=np.uint8)"]


@pytest.mark.parametrize("key", BAD)
def test_places_that_the_host_knows_are_checked_at_the_call(key):
    x, at = ta.arange(5.0), eval(key)
    for change in ("x[at]", "x[at] = 7", "x[at] += 1", "ta.add.at(x, at, 1)"):
        with pytest.raises(ta.OutOfRange, match=r"out of range for axis 0 of extent 5 .*<string>:1") as caught:
            exec(change, {"x": x, "at": at, "ta": ta})
        assert isinstance(caught.value, IndexError)
    assert x.tolist() == [0, 1, 2, 3, 4]
    cube = ta.zeros((2, 3, 4))
    for place in ((0, [3]), (slice(None), [0, 3]), (..., [1, 4]), (None, [2]), ([True, False], [4]), ([0], [0], [-5])):
        with pytest.raises(IndexError, match="index -?[2-5] at .* is out of range"):
            cube[place] = 1
        with pytest.raises(IndexError, match="index -?[2-5] at .* is out of range"):
            cube[place]


KEYS = ["[]", "([], [])", "((0, 1),)", "((),)", "[[]]", "(None, True)", "(True, [0, 1])", "([0, 1], True)", "(None, False)",
        "(slice(None), False, [2])", "(np.True_, 1)", "(..., True)", "(True, True)"]


@pytest.mark.parametrize("key", KEYS)
def test_empty_lists_tuples_and_masks_of_no_axes_are_numpys(key):
    a, at = np.arange(6.0).reshape(2, 3), eval(key)
    x = ta.asarray(a)
    np.testing.assert_array_equal(x[at], a[at], strict=True)
    x[at] = 7
    a[at] = 7
    np.testing.assert_array_equal(x, a)
    np.testing.assert_array_equal(x[0, ta.asarray(True)], a[0, True], strict=True)


@pytest.mark.parametrize("key, shape", [("0", (1, 1, 1, 4)), ("0, 1", (1, 1, 4)), ("()", (1, 2, 3, 4)), ("...", (1, 1, 3, 1)),
                                        ("[0, 1], 1:", (1, 1, 2, 4)), ("0, 0, 0, ...", (1, 1)), ("[True, False]", (1, 1, 3, 4)),
                                        ("True", (1, 1, 2, 3, 4)), ("None, [0]", (1, 1, 1, 1, 3, 4))])
def test_a_value_that_is_assigned_may_have_axes_of_one_element_in_front(key, shape):
    a, value = np.zeros((2, 3, 4)), np.random.default_rng(1).random(shape)
    x = ta.asarray(a)
    exec(f"x[{key}] = value\na[{key}] = value", {"x": x, "a": a, "value": value})
    np.testing.assert_array_equal(x, a)
    with pytest.raises(ta.InvalidShape):
        x[0] = np.zeros((2, 1, 3, 4))


def test_an_index_that_is_no_whole_number_is_an_index_error_and_a_type_error():
    x = ta.arange(5.0)
    for key in (1.5, [1.0, 2.0], np.array([1.0]), ta.asarray([1.0]), np.float64(1), "a", {}, (0.5, None)):
        for change in ("x[key]", "x[key] = 1"):
            with pytest.raises(ta.InvalidIndex, match="<string>:1") as caught:
                exec(change, {"x": x, "key": key})
            assert isinstance(caught.value, IndexError) and isinstance(caught.value, ta.InvalidDtype)


def test_elements_are_repeated_as_often_as_their_counts_say():
    a = np.arange(6).reshape(2, 3)
    x = ta.asarray(a)
    for counts, axis in ((2, None), ([0, 2, 1], 1), ([3, 0], -2), ([1, 0, 2, 0, 0, 4], None), ([2], 0)):
        repeats = ta.asarray(counts)
        np.testing.assert_array_equal(ta.repeat(x, repeats, axis=axis), np.repeat(a, counts, axis))
    np.testing.assert_array_equal(ta.repeat(x, 2, axis=1), np.repeat(a, 2, 1))
    for counts in ([1, -1], [1, 2, 3], [0.5, 1.0]):
        with pytest.raises(ValueError):
            ta.repeat(x, ta.asarray(counts), axis=0)
    with pytest.raises(IndexError):
        ta.repeat(x, ta.asarray([1, 2]), axis=2)


def test_an_update_through_a_mask_is_one_kernel_that_waits_for_nothing():
    x = ta.asarray(np.arange(-50.0, 50.0).reshape(4, 25))
    mask = x < 0
    x[mask] *= 3
    x[x > 40] = 2 * x[x > 40] - 1
    assert not mask.is_evaluated
    assert ta.evaluate(x).counters.kernels == 1
    expected = np.arange(-50.0, 50.0).reshape(4, 25)
    expected[expected < 0] *= 3
    expected[expected > 40] = 2 * expected[expected > 40] - 1
    assert np.array_equal(np.asarray(x), expected)


def test_reductions_that_need_no_number_do_not_wait_for_it():
    x = ta.asarray(np.arange(100) % 7)
    mask = x > 2
    results = [x[mask].sum(), (x[mask] * 2).max(), ta.count_nonzero(x[mask] > 4), (x[mask] > 9).any()]
    assert not mask.is_evaluated
    chosen = (np.arange(100) % 7)[np.arange(100) % 7 > 2]
    assert [int(r) for r in results] == [chosen.sum(), chosen.max() * 2, (chosen > 4).sum(), 0]
    with pytest.raises(ValueError, match="nothing has no min"):
        float(x[x > 9].min())


def test_what_is_selected_says_what_it_is_and_settles_when_its_length_is_asked_for():
    x = ta.asarray(np.arange(10.0))
    chosen = x[x > 6] + 1
    assert repr(chosen).startswith("Array(float64, (?,), lazy: selection at test_masks.py:")
    assert chosen.ndim == 1 and chosen.dtype == ta.float64
    assert len(chosen) == 3 and chosen.shape == (3,)
    assert chosen.tolist() == [8.0, 9.0, 10.0]


def test_the_length_of_what_is_selected_is_found_without_the_gil():
    ran = []

    def slow(a):
        ran.append(threading.current_thread())
        time.sleep(0.2)
        return np.asarray(a) > 1

    x = ta.arange(4)
    (mask,) = ta.host_function(slow, [x], [((4,), ta.bool)])
    other = threading.Thread(target=lambda: ta.evaluate(mask))
    other.start()
    while not ran:
        time.sleep(0.001)
    assert x[mask].shape == (2,)  # waits for the other thread, whose function needs Python
    other.join()


def test_a_function_may_update_through_a_mask():
    @ta.function
    def rectified(x):
        y = x + 0
        y[y < 0] = y[y < 0] / 10
        return y

    for shape in ((8,), (3, 5)):
        x = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
        assert np.array_equal(np.asarray(rectified(ta.asarray(x))), np.where(x < 0, x / 10, x))


def test_an_index_that_is_computed_is_checked_though_it_reads_one_element_alone():
    q, one = ta.asarray(np.linspace(0, 2, 100)), ta.asarray([5.0])
    for index in (ta.astype(q > 1, ta.int64), ta.astype(q, ta.int64) + 1, -2 * ta.astype(q > 1, ta.int64)):
        for made in (ta.take(one, index, axis=0), one[index], ta.take(ta.asarray([[1.0, 2.0]]), index, axis=0)):
            with pytest.raises(IndexError, match="out of range"):
                made.tolist()
    assert ta.take(one, -ta.astype(q > 1, ta.int64), axis=0).tolist() == [5.0] * 100
