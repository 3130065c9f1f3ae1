"""Random programs give the same bits lazily and step by step, and NumPy's values."""
import numpy as np
import tarry as ta
from hypothesis import given, settings
from hypothesis import strategies as st

STEPS = {
    "add": lambda xp, a, b: a + b, "multiply": lambda xp, a, b: a * b, "subtract": lambda xp, a, b: b - a * 0.5,
    "flip": lambda xp, a, b: a[::-1] + b, "row": lambda xp, a, b: a * b[0], "sqrt": lambda xp, a, b: xp.sqrt(abs(a)),
    "where": lambda xp, a, b: xp.where(a > b, a, -b), "sum": lambda xp, a, b: a - xp.sum(b, axis=0) / 8,
    "max": lambda xp, a, b: xp.maximum(a, b) - xp.max(b), "divide": lambda xp, a, b: a / (b * b + 1),
    "roll": lambda xp, a, b: xp.roll(a, 1, axis=0) + b, "scale": lambda xp, a, b: a / (1 + xp.max(abs(a))),
}


def run(xp, x, y, steps, evaluated):
    values = [x, y]
    for name, i, j in steps:
        made = STEPS[name](xp, values[i % len(values)], values[j % len(values)])
        values.append(made / (1 + abs(made)))  # bounded, however long the program
        if evaluated:
            values[-1].evaluate()
    return values[-1]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9)), min_size=1,
                max_size=8), st.integers(0, 2**32 - 1))
def test_a_program_gives_the_same_bits_lazily_and_step_by_step(steps, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-2, 2, (4, 5)), rng.uniform(-2, 2, (4, 5))
    lazy = np.asarray(run(ta, ta.asarray(a), ta.asarray(b), steps, False))
    eager = np.asarray(run(ta, ta.asarray(a), ta.asarray(b), steps, True))
    assert lazy.tobytes() == eager.tobytes()
    np.testing.assert_allclose(lazy, run(np, a, b, steps, False), rtol=1e-9, atol=1e-12)
