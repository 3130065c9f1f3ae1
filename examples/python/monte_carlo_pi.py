"""Pi from random points: the draws are computed where they are used, so no array of them is ever in memory."""
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
