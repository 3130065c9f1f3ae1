"""Softmax attention in the names of the array API, beside NumPy in float64."""
import numpy as np
import tarry as ta


def attention(xp, q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return (weights / xp.sum(weights, axis=-1, keepdims=True)) @ v


rng = np.random.default_rng(0)
q, k, v = (rng.normal(size=(4, 256, 64)) for _ in range(3))
expected = attention(np, q, k, v)
result = attention(ta, *(ta.asarray(x, dtype=ta.float32) for x in (q, k, v)))

print(ta.plan(result))
error = float(np.max(np.abs(np.asarray(result) - expected)))
print(f"largest difference to NumPy in float64: {error:.1e}")
assert error < 1e-5
