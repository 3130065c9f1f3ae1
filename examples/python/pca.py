"""Principal components of curves in chunks: Dask holds rows of Tarry, and a power iteration goes over all of them."""
import importlib.util
import sys

import numpy as np
import tarry as ta

try:
    import dask.array as da
except ImportError:
    print("Dask is not installed; pip install 'dask[array]'")
    sys.exit()

chunks, rows, features, components = 8, 5_000, 40, 3
spread = ta.asarray([5.0, 3.0, 1.5])
x = ta.linspace(0, 1, features)
hidden = ta.sin(np.pi * ta.arange(1, components + 1)[:, None] * x) * (2 / features) ** 0.5


def curves(block_id):
    """Rows of one chunk, drawn where they are needed: sums of three hidden curves, and noise."""
    g = ta.random.Generator(block_id[0])
    return (g.normal((rows, components)) * spread) @ hidden + 0.2 * g.normal((rows, features)) + 10


table = da.map_blocks(curves, chunks=((rows,) * chunks, (features,)), meta=ta.zeros((0, 0)))
table = table.map_blocks(ta.Array.evaluate).persist()
centred = (table - table.mean(axis=0)).map_blocks(ta.Array.evaluate).persist()
found, variances = [], []
for component in range(components):
    v, turns = ta.ones(features) / features**0.5, 0
    while turns < 200:
        direction = da.from_array(v, asarray=False)
        image = (centred.T @ (centred @ direction)).compute()
        for other in found:
            image = image - (image @ other) * other
        length = ta.linalg.vector_norm(image)
        moved, v = ta.linalg.vector_norm(image / length - v), image / length
        ta.evaluate(length, moved, v)
        turns += 1
        if float(moved) < 1e-5:
            break
    found.append(v)
    variances.append(float(length) / (chunks * rows - 1))
    print(f"component {component + 1}: variance {variances[-1]:6.3f} after {turns} turns")

whole = np.asarray(table.compute(), dtype=np.float64)
direct = np.linalg.eigh(np.cov(whole, rowvar=False))
explained = sum(variances) / direct.eigenvalues.sum()
angles = [abs(np.asarray(v) @ direct.eigenvectors[:, -1 - i]) for i, v in enumerate(found)]
print(f"{len(whole):,} rows in {chunks} chunks; {components} components hold {explained:.1%} of the variance")
assert isinstance(table.compute(), ta.Array) and min(angles) > 0.999
np.testing.assert_allclose(variances, direct.eigenvalues[::-1][:components], rtol=1e-3)

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    scores = np.asarray((centred @ da.from_array(ta.stack(found, axis=1), asarray=False)).compute())
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for number, v in enumerate(found):
        sign = 1 if float(v[1]) > 0 else -1
        share = variances[number] / direct.eigenvalues.sum()
        left.plot(x, sign * v, "o", markersize=4, label=f"{number + 1}: {share:.0%}")
        left.plot(x, hidden[number], color="0.5", linewidth=1)
    left.set(title="Components, and the hidden curves in grey", xlabel="x")
    left.legend(title="variance")
    right.hexbin(scores[:, 0], scores[:, 1], gridsize=60, cmap="viridis", mincnt=1)
    right.set(title=f"{len(whole):,} rows", xlabel="along component 1", ylabel="along component 2", aspect="equal")
    figure.savefig("pca.png", dpi=80)
    print("pca.png shows components and rows")
else:
    print("no picture: Matplotlib is not installed")
