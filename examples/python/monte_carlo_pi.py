"""Pi from random points: the draws are computed where they are used, so no array of them is ever in memory."""
import importlib.util
import math

import tarry as ta

g = ta.random.Generator(42)
points = 4_000_000
x, y = g.uniform(points), g.uniform(points)
inside = ta.count_nonzero(x * x + y * y < 1)
report = ta.evaluate(inside)

pi = 4 * int(inside) / points
print(f"pi is about {pi:.4f}, from {points:,} points in {report.counters.kernels} kernel, "
      f"{report.counters.bytes_read} bytes read")
assert abs(pi - math.pi) < 0.01

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    shown, every = 5_000, 400
    running = ta.cumulative_sum(ta.astype(x * x + y * y < 1, ta.int64))[every - 1::every]
    drawn = ta.arange(every, points + 1, every)
    few_x, few_y = x[:shown], y[:shown]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    left.scatter(few_x, few_y, c=few_x**2 + few_y**2 < 1, cmap="coolwarm_r", s=2)
    left.set(title=f"The first {shown:,} points", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    right.semilogx(drawn, 4 * running / drawn, color="tab:red")
    right.fill_between(drawn, *(math.pi + side * 2 * 1.642 / ta.sqrt(drawn) for side in (-1, 1)), alpha=0.25)
    right.axhline(math.pi, color="black", linewidth=0.8)
    right.set(title="The estimate, and two standard deviations around pi", xlabel="points", ylim=(3.0, 3.3))
    figure.savefig("monte_carlo_pi.png", dpi=80)
    print("monte_carlo_pi.png shows points and estimates")
else:
    print("no picture: Matplotlib is not installed")
