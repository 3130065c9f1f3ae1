"""A plate with a hot edge and a cold obstacle: every step is one kernel, which reads and writes the plate once."""
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
