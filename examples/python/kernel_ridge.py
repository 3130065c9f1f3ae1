"""Kernel ridge regression by conjugate gradients, beside NumPy's direct solution."""
import importlib.util

import numpy as np
import tarry as ta

samples, width, ridge = 600, 0.3, 0.1
g = ta.random.Generator(3)
with ta.Scope(default_float=ta.float64):
    x = 6 * g.uniform(samples, dtype=ta.float64) - 3
    y = ta.sin(2 * x) + 0.2 * g.normal(samples, dtype=ta.float64)


def gaussian(a, b):
    return ta.exp(-((a[:, None] - b) ** 2) / (2 * width**2))


matrix = gaussian(x, x)
weights, residual = ta.zeros_like(y), y
direction, square = residual, residual @ residual
first = float(square)
for turn in range(500):
    image = matrix @ direction + ridge * direction
    length = square / (direction @ image)
    weights = weights + length * direction
    residual = residual - length * image
    last, square = square, residual @ residual
    direction = residual + square / last * direction
    ta.evaluate(matrix, weights, residual, direction, square)
    if float(square) < 1e-20 * first:
        break

direct = np.linalg.solve(np.asarray(matrix) + ridge * np.eye(samples), np.asarray(y))
difference = float(np.max(np.abs(np.asarray(weights) - direct)) / np.max(np.abs(direct)))
grid = ta.linspace(-2.8, 2.8, 200, dtype=ta.float64)
error = float(ta.sqrt(ta.mean((gaussian(grid, x) @ weights - ta.sin(2 * grid)) ** 2)))
print(f"{turn + 1} turns; relative difference to the direct solution {difference:.1e}")
print(f"root mean square error {error:.3f}, of samples with a noise of 0.2")
assert difference < 1e-6 and error < 0.1

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    curve = np.linspace(-3, 3, 400)
    fit = gaussian(ta.asarray(curve), x) @ weights
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.scatter(x, y, s=6, color="0.65", label="samples")
    axis.plot(curve, np.sin(2 * curve), "--", color="tab:blue", label="sin(2 x)")
    axis.plot(curve, fit, color="tab:red", linewidth=2, label="regression")
    title = f"A curve from {samples} samples, by {turn + 1} turns of conjugate gradients"
    axis.set(title=title, xlabel="x", ylabel="y", ylim=(-1.5, 2))
    axis.legend(loc="upper center", ncols=3)
    figure.savefig("kernel_ridge.png", dpi=80)
    print("kernel_ridge.png shows the curve")
else:
    print("no picture: Matplotlib is not installed")
