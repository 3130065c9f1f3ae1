def step(xp, p, e, hx, hy, keep, gain):
    hx = hx - 0.5 * (e[:, 1:] - e[:, :-1])
    hy = hy + 0.5 * (e[1:] - e[:-1])
    curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]
    return p.set(e, (slice(1, -1), slice(1, -1)), keep * e[1:-1, 1:-1] + gain * curl), hx, hy
