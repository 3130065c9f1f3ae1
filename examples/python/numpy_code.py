"""Code that calls NumPy records in Tarry when it is given arrays of Tarry: nothing of it is changed."""
import numpy as np
import tarry as ta


def standardised(x):
    x = np.log1p(np.abs(x))
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0)


values = np.random.default_rng(1).normal(size=(10_000, 8))
lazy = standardised(ta.asarray(values))
print(repr(lazy))
print(ta.evaluate(lazy))
assert np.allclose(lazy, standardised(values))
