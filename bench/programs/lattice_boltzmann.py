X = [0, 1, 0, -1, 0, 1, -1, -1, 1]
Y = [0, 0, 1, 0, -1, 1, 1, -1, -1]
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]
WEIGHT = [4 / 9] + 4 * [1 / 9] + 4 * [1 / 36]


def step(xp, p, f, solid):
    x, y, weight = (p.array(values, f).reshape(9, 1, 1) for values in (X, Y, WEIGHT))
    moved = [p.roll(p.roll(f[i], Y[i], 0), X[i], 1) for i in range(9)]
    inward = xp.stack(moved)
    density = xp.sum(inward, axis=0)
    u, v = xp.sum(inward * x, axis=0) / density, xp.sum(inward * y, axis=0) / density
    along = 3 * (x * u + y * v)
    equilibrium = weight * density * (1 + along + 0.5 * along * along - 1.5 * (u * u + v * v))
    return (xp.where(solid, xp.stack([moved[i] for i in OPPOSITE]), inward + (equilibrium - inward) / 0.8),)
