"""A plate with a hot edge and a cold obstacle: every step is one kernel, which reads and writes the plate once."""
import importlib.util

import tarry as ta

height, width = 40, 72
u = ta.zeros((height, width))
u[0] = 100
row, column = ta.reshape(ta.arange(height), (height, 1)), ta.arange(width)
obstacle = (row - 12) ** 2 + (column - 36) ** 2 < 6**2

for _ in range(1000):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    u[obstacle] = 0
    report = ta.evaluate(u)

shades = " .:-=+*#%@"
for line in u[::2].tolist():
    print("".join(shades[min(int(value / 100 * 10), 9)] for value in line))
print(f"a step: {report.counters.kernels} kernel, {report.counters.bytes_written} bytes written")
assert float(u[12, 36]) == 0 and float(u[2, 5]) > 20

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    shown = axis.imshow(u, cmap="inferno", interpolation="bilinear")
    lines = axis.contour(u, levels=[5, 10, 20, 40, 60, 80], colors="white", linewidths=0.7)
    axis.clabel(lines, fontsize=8)
    axis.add_patch(plt.Circle((36, 12), 6.2, color="steelblue", zorder=3))
    axis.set(title="A plate with a hot edge, and a cold disc in it", xticks=[], yticks=[])
    figure.colorbar(shown, label="temperature", shrink=0.8)
    figure.savefig("heat.png", dpi=80)
    print("heat.png shows the plate")
else:
    print("no picture: Matplotlib is not installed")
