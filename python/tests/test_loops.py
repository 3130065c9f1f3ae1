"""Loops with a body: beside plain loops over NumPy's arrays."""
import signal
import threading

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
    with pytest.raises(ValueError, match="keeps its shape.*test_loops.py"):
        ta.scan(lambda c, x: (c + x, ta.sum(x)), ta.asarray(0.0, dtype=ta.float64), x)
    with pytest.raises(ValueError, match="body of a scan"):
        ta.scan(lambda c, x: (c, x) if float(x[0]) > 0 else (x, c), 0.0, x)
    np.testing.assert_array_equal(x, A)


def test_a_body_may_mix_elements():
    weights = RNG.uniform(-1, 1, (7, 7)) / 3
    w = ta.asarray(weights)

    def step(h, x):
        h = ta.tanh(h @ w + x)
        return h, {"norm": ta.sum(h * h), "first": h[:2]}

    last, ys = ta.scan(step, ta.zeros(7, dtype=ta.float64), ta.asarray(A))
    h = np.zeros(7)
    for k in range(50):
        h = np.tanh(h @ weights + A[k])
        np.testing.assert_allclose(ys["norm"][k], np.sum(h * h), rtol=1e-12)
        np.testing.assert_allclose(ys["first"][k], h[:2], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(last, h, rtol=1e-11, atol=1e-14)


def test_a_loop_in_the_body_of_another():
    def outer(c, x):
        sums, _ = ta.scan(lambda s, y: (s + c[0] * y, None), ta.asarray(0.0, dtype=ta.float64), x)
        return c + sums, sums

    last, ys = ta.scan(outer, ta.ones(2, dtype=ta.float64), ta.asarray(A))
    c = np.ones(2)
    for k in range(50):
        sums = np.sum(c[0] * A[k])
        np.testing.assert_allclose(ys[k], sums, rtol=1e-9, atol=1e-12)
        c = c + sums
    np.testing.assert_allclose(last, c, rtol=1e-9, atol=1e-12)


def test_a_while_loop_about_the_whole_array():
    m = RNG.uniform(-1, 1, (20, 20))
    spd, b = m @ m.T + np.eye(20), RNG.uniform(-1, 1, 20)
    a, right = ta.asarray(spd), ta.asarray(b)

    def step(s):
        p, rr = a @ s["p"], ta.vecdot(s["r"], s["r"])
        alpha = rr / ta.vecdot(s["p"], p)
        r = s["r"] - alpha * p
        return {"x": s["x"] + alpha * s["p"], "r": r, "p": r + ta.vecdot(r, r) / rr * s["p"], "n": s["n"] + 1}

    start = {"x": ta.zeros_like(right), "r": right, "p": right, "n": ta.asarray(0)}
    done = ta.while_loop(lambda s: ta.vecdot(s["r"], s["r"]) > 1e-20, step, start)
    np.testing.assert_allclose(done["x"], np.linalg.solve(spd, b), rtol=1e-7)
    assert 5 < int(done["n"]) < 60
    with pytest.raises(ValueError, match="no values yet"):
        ta.scan(lambda c, x: (ta.while_loop(lambda s: ta.sum(s) < 9, lambda s: s + 1, c), x), ta.zeros(100), length=3)


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


def test_a_loop_over_a_whole_array_that_does_not_end_can_be_interrupted():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background do not have
    try:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            ta.while_loop(lambda s: ta.sum(s) < 1e9, lambda s: s * 0.5, ta.ones(1000), limit=10**7)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_draw_in_a_body_is_refused():
    rng = ta.random.Generator(1)
    with pytest.raises(ta.InvalidArgument, match="same numbers at every level"):
        ta.scan(lambda c, x: (c, x + rng.uniform(())), ta.asarray(0.0), ta.ones(3))
