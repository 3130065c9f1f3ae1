"""A drum that swings in one of its modes: every step is one kernel, and the exact motion is known."""
import importlib.util
import math

import numpy as np
import tarry as ta

n, steps = 201, 300
step = 0.5 / (n - 1)  # half a cell, at a speed of one
x = ta.linspace(0, 1, n, dtype=ta.float64)
mode = ta.sin(2 * math.pi * x)[:, None] * ta.sin(3 * math.pi * x)
frequency = math.sqrt(2**2 + 3**2) * math.pi

before, now = mode, mode * math.cos(frequency * step)
for _ in range(steps - 1):
    after = 2 * now - before
    after[1:-1, 1:-1] += 0.25 * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1])
    before, now = now, after
    report = ta.evaluate(now)

error = float(ta.max(ta.abs(now - mode * math.cos(frequency * steps * step))))
print(f"{steps} steps of {n} x {n} points, {report.counters.kernels} kernel a step")
print(f"largest difference to the exact motion: {error:.1e}")
assert error < 2e-3 and report.counters.kernels == 1

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    x, height = np.asarray(x), np.asarray(now)
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained", subplot_kw={"projection": "3d"})
    axis.plot_surface(x[:, None], x, height, cmap="Spectral", rcount=60, ccount=60, edgecolor="0.25", linewidth=0.15)
    axis.set(title=f"The drum after {steps} steps", zlim=(-1, 1), zticks=[-1, 0, 1])
    axis.set_box_aspect((1, 1, 0.5), zoom=1.25)
    figure.savefig("wave.png", dpi=80)
    print("wave.png shows the drum")
else:
    print("no picture: Matplotlib is not installed")
