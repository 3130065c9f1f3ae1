"""The Mandelbrot set: ten iterations on each point are one kernel, compiled once and run six times."""
import importlib.util

import tarry as ta

height, width, turns = 480, 640, 60
real = ta.linspace(-2.2, 0.8, width)
imaginary = ta.linspace(-1.2, 1.2, height)[:, None]
x, y = real + 0 * imaginary, imaginary + 0 * real
count = ta.zeros((height, width), dtype=ta.uint8)
for turn in range(1, turns + 1):
    squares = x * x + y * y
    inside = squares < 256
    count = count + ta.astype(inside, ta.uint8)
    x, y = ta.where(inside, x * x - y * y + real, x), ta.where(inside, 2 * x * y + imaginary, y)
    if turn % 10 == 0:
        report = ta.evaluate(x, y, count)

for row in count[::24, ::9].tolist():
    print("".join(" .:-=+*#%@"[min(value * 10 // turns, 9)] for value in row))
area = 3.0 * 2.4 * float(ta.mean(ta.astype(count == turns, ta.float32)))
print(f"area about {area:.2f}; {report.counters.kernels} kernel for ten iterations")
assert abs(area - 1.55) < 0.1 and report.counters.kernels == 1

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(width / 80, height / 80))
    axis = figure.add_axes((0, 0, 1, 1), frame_on=False)
    smooth = ta.where(inside, ta.nan, count + 1 - ta.log2(ta.log(x * x + y * y)))
    axis.imshow(smooth, cmap=plt.get_cmap("twilight_shifted").with_extremes(bad="black"), norm="log")
    axis.set_axis_off()
    figure.savefig("mandelbrot.png", dpi=80)
    print("mandelbrot.png shows it")
else:
    print("no picture: Matplotlib is not installed")
