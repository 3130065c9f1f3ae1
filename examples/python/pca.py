"""Principal components of a table in chunks: Dask holds rows of Tarry, and a power iteration goes over all of them."""
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
hidden = ta.random.Generator(11).normal((components, features)) / features**0.5


def table(block_id):
    """Rows of one chunk, drawn where they are needed: three hidden directions, and noise."""
    g = ta.random.Generator(block_id[0])
    return (g.normal((rows, components)) * spread) @ hidden + 0.2 * g.normal((rows, features)) + 10


x = da.map_blocks(table, chunks=((rows,) * chunks, (features,)), meta=ta.zeros((0, 0)))
x = x.map_blocks(ta.Array.evaluate).persist()
centred = (x - x.mean(axis=0)).map_blocks(ta.Array.evaluate).persist()
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

whole = np.asarray(x.compute(), dtype=np.float64)
direct = np.linalg.eigh(np.cov(whole, rowvar=False))
explained = sum(variances) / direct.eigenvalues.sum()
angles = [abs(np.asarray(v) @ direct.eigenvectors[:, -1 - i]) for i, v in enumerate(found)]
print(f"{len(whole):,} rows in {chunks} chunks; {components} components hold {explained:.1%} of the variance")
assert isinstance(x.compute(), ta.Array) and min(angles) > 0.999
np.testing.assert_allclose(variances, direct.eigenvalues[::-1][:components], rtol=1e-3)
