"""k-means: the distances of all points to all centres are computed where the nearest is chosen, and never stored."""
import importlib.util

import numpy as np
import tarry as ta

clusters, points = 5, 20_000
true = np.array([[0, 0], [6, 1], [2, 7], [-5, 4], [-3, -6]])
g = ta.random.Generator(7)
labels = g.integers(points, 0, clusters)
x = ta.take(ta.asarray(true, dtype=ta.float32), labels, axis=0) + g.normal((points, 2))
x.evaluate()


def squares(x, centres):
    return ta.sum((x[:, None, :] - centres) ** 2, axis=-1)


centres = x[:1]  # each further one is the point that is farthest from those before
for _ in range(clusters - 1):
    farthest = ta.argmax(ta.min(squares(x, centres), axis=1))
    centres = ta.concat([centres, x[int(farthest)][None]])

for turn in range(100):
    nearest = ta.argmin(squares(x, centres), axis=1)
    moved = ta.segment_mean(x, nearest, groups=clusters)
    shift = float(ta.max(ta.abs(moved - centres)))
    centres = moved
    if shift < 1e-5:
        break

counts = ta.segment_count(nearest, groups=clusters).tolist()
for centre, count in zip(centres.tolist(), counts):
    print(f"{count:6} points around ({centre[0]:5.2f}, {centre[1]:5.2f})")
found = np.asarray(centres)
distance = np.sqrt(((true[:, None] - found) ** 2).sum(-1)).min(1).max()
print(f"{turn + 1} turns; no true centre is farther than {distance:.3f} from a found one")
assert sum(counts) == points and distance < 0.1

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    x, nearest = np.asarray(x), np.asarray(nearest)
    across, up = np.meshgrid(np.linspace(-9.5, 10.5, 500), np.linspace(-10, 11, 500))
    pixels = ta.asarray(np.stack([across.ravel(), up.ravel()], axis=-1), dtype=ta.float32)
    regions = ta.argmin(squares(pixels, centres), axis=1)
    figure, axis = plt.subplots(figsize=(6.5, 6.5), layout="constrained")
    axis.pcolormesh(across, up, np.asarray(regions).reshape(across.shape), cmap="Set2", vmax=7, alpha=0.35)
    axis.scatter(*x[:4000].T, c=nearest[:4000], cmap="Dark2", vmax=7, s=3)
    axis.plot(*found.T, "k+", markersize=16, markeredgewidth=2.5, label="centres found")
    axis.set(title="Points, and the regions of their nearest centres", aspect="equal")
    axis.legend(loc="upper right")
    figure.savefig("kmeans.png", dpi=80)
    print("kmeans.png shows the clusters")
else:
    print("no picture: Matplotlib is not installed")
