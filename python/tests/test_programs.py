"""Short programs as users of NumPy write them: one text runs on NumPy's arrays and on ours and gives the same."""
import numpy as np
import pytest

import tarry as ta

rng = np.random.default_rng(20261128)
PROGRAMS = {}


def program(**inputs):
    def keep(f):
        PROGRAMS[f.__name__] = (f, inputs)
        return f

    return keep


@program(z=rng.standard_normal((8, 300)))
def american_put_by_least_squares(xp, z):
    steps, strike, rate, volatility = z.shape[0], 40.0, 0.06, 0.2
    dt = 1.0 / steps
    growth = (rate - volatility**2 / 2) * dt + volatility * np.sqrt(dt) * z
    spot = 36.0 * xp.exp(xp.cumulative_sum(growth, axis=0))
    cash = xp.maximum(strike - spot[-1], 0.0)
    for i in range(steps - 2, -1, -1):
        cash = cash * np.exp(-rate * dt)
        x = spot[i] / strike
        in_money = xp.astype(x < 1.0, xp.float64)
        basis = xp.stack([xp.ones_like(x), x, x * x], axis=1)
        weighted = (basis * in_money[:, None]).T
        held = basis @ xp.linalg.solve(weighted @ basis, weighted @ cash)
        exercised = xp.maximum(strike - spot[i], 0.0)
        cash = xp.where((x < 1.0) & (exercised > held), exercised, cash)
    return [xp.mean(cash) * np.exp(-rate * dt)]


@program(points=rng.standard_normal((60, 4)), labels=rng.integers(0, 3, 60), asked=rng.standard_normal((20, 4)))
def nearest_neighbours(xp, points, labels, asked):
    apart = xp.sum((asked[:, None, :] - points[None, :, :]) ** 2, axis=2)
    nearest = labels[xp.argsort(apart, axis=1)[:, :5]]
    votes = xp.stack([xp.sum(nearest == c, axis=1) for c in range(3)], axis=1)
    return [xp.argmax(votes, axis=1)]


@program(source=rng.integers(0, 40, 300), target=rng.integers(0, 40, 300))
def page_rank(xp, source, target):
    links = xp.bincount(source, minlength=40)
    share = xp.where(links > 0, 1.0 / xp.astype(xp.maximum(links, 1), xp.float64), 0.0)
    rank = xp.full((40,), 1 / 40, dtype=xp.float64)
    for _ in range(5):
        flow = xp.bincount(target, weights=(rank * share)[source], minlength=40)
        rank = 0.15 / 40 + 0.85 * (flow + xp.sum(xp.where(links == 0, rank, 0.0)) / 40)
    return [rank]


@program(image=rng.uniform(0, 1, (20, 30)))
def rotation_with_interpolation(xp, image):
    h, w = image.shape
    y, x = xp.meshgrid(xp.arange(h, dtype=xp.float64), xp.arange(w, dtype=xp.float64), indexing="ij")
    u, v = 0.9 * (x - 15) + 0.4 * (y - 10) + 15, -0.4 * (x - 15) + 0.9 * (y - 10) + 10
    inside = (u >= 0) & (u < w - 1) & (v >= 0) & (v < h - 1)
    i = xp.clip(xp.astype(xp.floor(v), xp.int64), 0, h - 2)
    k = xp.clip(xp.astype(xp.floor(u), xp.int64), 0, w - 2)
    a, b = u - xp.floor(u), v - xp.floor(v)
    above = image[i, k] * (1 - a) + image[i, k + 1] * a
    below = image[i + 1, k] * (1 - a) + image[i + 1, k + 1] * a
    return [xp.where(inside, above * (1 - b) + below * b, 0.0)]


@program(x=np.repeat(rng.integers(0, 3, 50), rng.integers(1, 6, 50)))
def run_lengths(xp, x):
    begins = xp.concat([xp.asarray([True]), x[1:] != x[:-1]])
    at = xp.nonzero(begins)[0]
    return [x[at], xp.diff(xp.concat([at, xp.asarray([x.shape[0]])]))]


@program(table=rng.permutation(64), slopes=rng.standard_normal((64, 2)))
def gradient_noise(xp, table, slopes):
    y, x = xp.meshgrid(xp.arange(24, dtype=xp.float64) / 5, xp.arange(24, dtype=xp.float64) / 5, indexing="ij")
    i, k = xp.astype(xp.floor(y), xp.int64), xp.astype(xp.floor(x), xp.int64)
    a, b = y - xp.floor(y), x - xp.floor(x)

    def corner(di, dk):
        slope = slopes[table[(table[(i + di) & 63] + k + dk) & 63]]
        return slope[..., 0] * (a - di) + slope[..., 1] * (b - dk)

    s, t = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
    upper = corner(0, 0) + t * (corner(0, 1) - corner(0, 0))
    lower = corner(1, 0) + t * (corner(1, 1) - corner(1, 0))
    return [upper + s * (lower - upper)]


@program(distance=rng.uniform(0, 1, (12, 12)))
def shortest_paths(xp, distance):
    for k in range(12):
        distance = xp.minimum(distance, distance[:, k : k + 1] + distance[k : k + 1, :])
    return [distance]


@program(score=rng.standard_normal((7, 4, 9)), step=rng.standard_normal((4, 4)))
def most_likely_path(xp, score, step):
    best, before = score[0], []
    for i in range(1, 7):
        reached = best[:, None, :] + step[:, :, None]
        before.append(xp.argmax(reached, axis=0))
        best = xp.max(reached, axis=0) + score[i]
    path = [xp.argmax(best, axis=0)]
    for back in reversed(before):
        path.append(back[path[-1], xp.arange(9)])
    return [xp.stack(path[::-1], axis=0)]


@program(image=rng.uniform(0, 1, (24, 24)))
def corners(xp, image):
    dx, dy = image[1:-1, 2:] - image[1:-1, :-2], image[2:, 1:-1] - image[:-2, 1:-1]

    def around(x, value=0.0):
        padded = xp.pad(x, 1, constant_values=value)
        return [padded[i : i + x.shape[0], k : k + x.shape[1]] for i in range(3) for k in range(3)]

    a, b, c = (sum(around(x)) / 9 for x in (dx * dx, dx * dy, dy * dy))
    response = a * c - b * b - 0.04 * (a + c) ** 2
    most = response
    for neighbour in around(response, -1e9):
        most = xp.maximum(most, neighbour)
    peak = (response == most) & (response > 0.01 * xp.max(response))
    return [xp.argwhere(peak), response[peak]]


@program(points=rng.uniform(0, 10, (50, 2)))
def distances_in_bins(xp, points):
    apart = xp.sqrt(xp.sum((points[:, None, :] - points[None, :, :]) ** 2, axis=-1))
    return [xp.bincount(xp.reshape(xp.astype(apart * 2, xp.int64), (-1,)), minlength=30)]


@program(pixels=rng.integers(0, 256, (12, 16, 3)).astype(np.uint8))
def equalised_histogram(xp, pixels):
    wide = xp.astype(pixels, xp.float64) / 255
    light = xp.astype((wide[..., 0] * 0.25 + wide[..., 1] * 0.5 + wide[..., 2] * 0.25) * 255, xp.int64)
    below = xp.cumulative_sum(xp.bincount(xp.reshape(light, (-1,)), minlength=256))
    equal = xp.astype(below, xp.float64)[light] / (12 * 16)
    return [xp.astype(xp.clip(wide * equal[..., None], 0, 1) * 255, xp.uint8)]


@program(returns=rng.standard_normal((80, 6)))
def bootstrap_of_means(xp, returns):
    drawn = xp.asarray(np.random.default_rng(3).integers(0, 80, (30, 80)))
    means = xp.sort(xp.mean(returns[drawn], axis=1), axis=0)
    return [means[1], means[-2], xp.std(means, axis=0)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_numpy_gives(name):
    f, inputs = PROGRAMS[name]
    found = f(ta, **{key: ta.asarray(value) for key, value in inputs.items()})
    for ours, wanted in zip(found, f(np, **inputs), strict=True):
        assert ours.shape == np.shape(wanted)
        np.testing.assert_allclose(np.asarray(ours), wanted, rtol=1e-11, atol=1e-13)
