"""A picture with noise and specks, smoothed in plain array code: by a Gaussian, a median and a bilateral filter."""
import importlib.util
import math

import tarry as ta

size, reach = 256, 2
y, x = ta.linspace(-1, 1, size)[:, None], ta.linspace(-1, 1, size)
rings = 0.5 + 0.5 * ta.cos(36 * (x**2 + y**2)) * ta.exp(-3 * (x**2 + y**2))
board = ta.where((ta.floor(5 * x) + ta.floor(5 * y)) % 2 == 0, 0.15, 0.85)
clean = ta.where(x + 0.5 * y < 0, rings, ta.where((x - 0.55) ** 2 + (y - 0.1) ** 2 < 0.1, 0.5 + 0.4 * x * y, board))

g = ta.random.Generator(4)
chance = g.uniform((size, size))
noisy = clean + 0.08 * g.normal((size, size))
noisy = ta.where(chance < 0.03, 0.0, ta.where(chance > 0.97, 1.0, noisy))

padded = ta.pad(noisy, reach, mode="reflect")
steps = [(i, j) for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)]
shifted = {(i, j): padded[reach + i:reach + i + size, reach + j:reach + j + size] for i, j in steps}


def mean(weight):
    """The mean of the neighbours by weights, each of a step and of the values there."""
    weights = {step: weight(step, value) for step, value in shifted.items()}
    return sum(weights[step] * value for step, value in shifted.items()) / sum(weights.values())


def near(step):
    return math.exp(-(step[0] ** 2 + step[1] ** 2) / (2 * 1.2**2))


gaussian = mean(lambda step, value: near(step))
median = ta.median(ta.stack([shifted[i, j] for i, j in steps if abs(i) + abs(j) <= 2]), axis=0)
bilateral = mean(lambda step, value: near(step) * ta.exp(-((value - median) ** 2) / (2 * 0.15**2)))
pictures = {"with noise": noisy, "Gaussian": gaussian, "median": median, "bilateral around the median": bilateral}
errors = {name: ta.sqrt(ta.mean((picture - clean) ** 2)) for name, picture in pictures.items()}
report = ta.evaluate(clean, *pictures.values(), *errors.values())
for name, error in errors.items():
    print(f"{name:28} root mean square error {float(error):.3f}")
print(f"{report.counters.kernels} kernels")
found = [float(error) for error in errors.values()]
assert found == sorted(found, reverse=True) and found[-1] < 0.5 * found[0]

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 5, figsize=(15, 3.4), layout="constrained")
    for axis, (name, picture) in zip(axes, {"the picture": clean, **pictures}.items()):
        axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
        axis.set(title=name, xticks=[], yticks=[])
    figure.savefig("smooth_image.png", dpi=80)
    print("smooth_image.png shows them")
else:
    print("no picture: Matplotlib is not installed")
