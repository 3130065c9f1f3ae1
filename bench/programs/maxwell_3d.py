ALL, INNER = slice(None), slice(1, -1)


def difference(x, axis):
    lower, upper = [ALL] * 3, [ALL] * 3
    lower[axis], upper[axis] = slice(None, -1), slice(1, None)
    return x[tuple(upper)] - x[tuple(lower)]


def step(xp, p, ex, ey, ez, hx, hy, hz):
    c = 0.5
    hx = hx - c * (difference(ez, 1) - difference(ey, 2))
    hy = hy - c * (difference(ex, 2) - difference(ez, 0))
    hz = hz - c * (difference(ey, 0) - difference(ex, 1))
    ex = p.add(ex, (ALL, INNER, INNER), c * (difference(hz, 1)[:, :, 1:-1] - difference(hy, 2)[:, 1:-1]))
    ey = p.add(ey, (INNER, ALL, INNER), c * (difference(hx, 2)[1:-1] - difference(hz, 0)[:, :, 1:-1]))
    ez = p.add(ez, (INNER, INNER, ALL), c * (difference(hy, 0)[:, 1:-1] - difference(hx, 1)[1:-1]))
    return ex, ey, ez, hx, hy, hz
