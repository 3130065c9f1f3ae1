"""A damped wave: its area and its spread, in one kernel that reads the samples once."""
import tarry as ta

t = ta.arange(1_000_000, dtype=ta.float32) * 1e-5

y = ta.exp(-t) * ta.sin(t)  # nothing is computed yet
area, spread = ta.sum(y) * 1e-5, ta.std(y)

print(ta.plan(area, spread))  # kernels, bytes and compilations, predicted
report = ta.evaluate(area, spread)  # one kernel writes two numbers
print(report)
print(f"area {float(area):.6f}, std {float(spread):.6f}")
assert abs(float(area) - 0.500031) < 1e-5 and report.counters.kernels == 1
