"""A plate with a hot edge and a cold obstacle: every step is one kernel that reads the plate once and writes it once."""
import tarry as ta

size, steps = 200, 400
u = ta.zeros((size, size))
u[0] = 100
row, column = ta.reshape(ta.arange(size), (size, 1)), ta.arange(size)
obstacle = (row - 60) ** 2 + (column - 100) ** 2 < 20**2

for _ in range(steps):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    u[obstacle] = 0
    ta.evaluate(u)

shades = " .:-=+*#%@"
for line in u[::12, ::6].tolist():
    print("".join(shades[min(int(value / 100 * 10), 9)] for value in line))
assert float(u[60, 100]) == 0 and 0 < float(u[10, 20]) < 100
