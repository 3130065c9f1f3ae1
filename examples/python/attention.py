"""Softmax attention in the names of the array API, beside NumPy in float64: each head looks a distance back."""
import importlib.util

import numpy as np
import tarry as ta


def weights(xp, q, k):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


rng = np.random.default_rng(0)
heads, length, width = 4, 256, 64
distances = np.array([0, 20, 60, 120])
turns = np.arange(length) * 0.5 ** (np.arange(width // 2)[:, None] / 5)


def places(at):
    """Sines and cosines of places: two of them are alike where they are near each other."""
    return np.concatenate([np.sin(at), np.cos(at)]).T


keys = places(turns)
asked = np.stack([places(turns - distance * turns[:, 1:2]) for distance in distances])
q, k = (1.4 * x + rng.normal(scale=0.5, size=asked.shape) for x in (asked, keys))
v = rng.normal(size=(heads, length, width))
expected = weights(np, q, k) @ v
q, k, v = (ta.asarray(x, dtype=ta.float32) for x in (q, k, v))
attention = weights(ta, q, k)
result = attention @ v

print(ta.plan(result))
error = float(np.max(np.abs(np.asarray(result) - expected)))
print(f"largest difference to NumPy in float64: {error:.1e}")
assert error < 1e-4

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, heads, figsize=(13, 3.3), layout="constrained")
    for axis, head, distance in zip(axes, np.asarray(attention), distances):
        axis.imshow(head, cmap="magma", norm="log", vmin=1e-4, vmax=1)
        axis.set(title=f"{distance} back", xlabel="key")
    axes[0].set_ylabel("query")
    figure.colorbar(axes[0].images[0], ax=axes, label="weight")
    figure.savefig("attention.png", dpi=80)
    print("attention.png shows the weights")
else:
    print("no picture: Matplotlib is not installed")
