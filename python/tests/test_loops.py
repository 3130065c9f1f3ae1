"""Loops with a body: beside plain loops over NumPy's arrays."""
import numpy as np
import pytest
import tarry as ta

RNG = np.random.default_rng(1)
A, B = RNG.uniform(-1, 1, (2, 50, 7))


def test_a_recurrence_is_that_of_a_plain_loop():
    last, ys = ta.scan(lambda c, x: ((n := c * x[0] + x[1]), n), ta.zeros((7,), dtype=ta.float64),
                       (ta.asarray(A), ta.asarray(B)))
    expected, carry = np.empty_like(A), np.zeros(7)
    for k in range(50):
        expected[k] = carry = carry * A[k] + B[k]
    np.testing.assert_array_equal(ys, expected)
    np.testing.assert_array_equal(last, carry)


def test_an_axis_and_its_direction():
    last, ys = ta.scan(lambda c, x: (c + x, c), 0.0, ta.asarray(A, dtype=ta.float32), axis=1, reverse=True)
    sums = np.cumsum(A.astype(np.float32)[:, ::-1], axis=1, dtype=np.float32)[:, ::-1]
    np.testing.assert_array_equal(last, sums[:, 0])
    np.testing.assert_array_equal(ys[:, :-1], sums[:, 1:])


def test_trees_come_back_as_they_were():
    def step(state, _):
        return {"a": state["b"], "b": state["a"] + state["b"]}, (state["a"], None)

    state, (fibonacci, nothing) = ta.scan(step, {"b": ta.asarray(1), "a": ta.asarray(0)}, length=10)
    assert list(state) == ["a", "b"] and int(state["a"]) == 55 and nothing is None
    assert fibonacci.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_mistakes_are_errors_of_python_and_lose_nothing():
    x = ta.asarray(A)
    with pytest.raises(TypeError, match="returns a carry and a y"):
        ta.scan(lambda c, x: c, 0.0, x)
    with pytest.raises(ZeroDivisionError):
        ta.scan(lambda c, x: 1 // 0, 0.0, x)
    assert "test_loops.py" in repr(ta.scan(lambda c, x: (c, c), 0.0, x)[1])
    with pytest.raises(ValueError, match="elementwise.*test_loops.py"):
        ta.scan(lambda c, x: (c, ta.sum(x)), 0.0, x)
    with pytest.raises(ValueError, match="body of a scan"):
        ta.scan(lambda c, x: (c, x) if float(x[0]) > 0 else (x, c), 0.0, x)
    np.testing.assert_array_equal(x, A)


def test_recurrences_with_names():
    from_rest = ta.lfilter([0.5, 0.5], [1.0, -0.25], ta.asarray(A), axis=0)
    y = np.zeros(7)
    for k in range(50):
        y = 0.5 * A[k] + (0.5 * A[k - 1] if k else 0) + 0.25 * y
        np.testing.assert_allclose(from_rest[k], y, rtol=1e-12, atol=1e-14)
    main, side = 4 + A, B
    matrix = np.diag(main[:, 0]) + np.diag(side[1:, 0], -1) + np.diag(side[:-1, 0], 1)
    x = ta.tridiagonal_solve(ta.asarray(side), ta.asarray(main), ta.asarray(side), ta.asarray(A), axis=0)
    np.testing.assert_allclose(x[:, 0], np.linalg.solve(matrix, A[:, 0]), rtol=1e-10)
    matrix += np.diag(side[2:, 0], -2) + np.diag(side[:-2, 0], 2)
    bands = [ta.asarray(band) for band in (side, side, main, side, side)]
    x = ta.pentadiagonal_solve(*bands, ta.asarray(A), axis=0)
    np.testing.assert_allclose(x[:, 0], np.linalg.solve(matrix, A[:, 0]), rtol=1e-10)
    np.testing.assert_array_equal(ta.linear_recurrence(ta.asarray([1.0, 2.0]), [1.0, 1.0], initial=3.0), [4.0, 9.0])
    np.testing.assert_array_equal(ta.ewma([1.0, 3.0, 5.0], 0.5), [1.0, 2.0, 3.5])


def test_an_associative_scan_runs_through_combinations():
    x = np.asarray([1.0, 3.0, 2.0, 5.0, 4.0])
    assert np.array_equal(np.asarray(ta.associative_scan(ta.maximum, ta.asarray(x))), np.maximum.accumulate(x))
    assert np.array_equal(np.asarray(ta.associative_scan(ta.add, ta.arange(5), reverse=True)), [10, 10, 9, 7, 4])


def test_an_associative_scan_of_a_tree_gives_that_tree():
    a, b = np.full((4, 3), 0.5), np.ones((4, 3))
    found = ta.associative_scan(
        lambda p, q: {"a": p["a"] * q["a"], "b": q["a"] * p["b"] + q["b"]}, {"a": ta.asarray(a), "b": ta.asarray(b)})
    expected = np.ones((4, 3))
    for k in range(1, 4):
        expected[k] = 0.5 * expected[k - 1] + 1
    assert np.array_equal(np.asarray(found["b"]), expected)
    with pytest.raises(ta.InvalidArgument):
        ta.associative_scan(lambda p, q: p[:1], ta.ones((4,)))
    with pytest.raises(ZeroDivisionError):
        ta.associative_scan(lambda p, q: 1 // 0, ta.ones((4,)))
