def step(xp, p, u, v):
    def laplacian(x):
        return p.roll(x, 1, 0) + p.roll(x, -1, 0) + p.roll(x, 1, 1) + p.roll(x, -1, 1) - 4 * x

    feed, kill = 0.037, 0.06
    reaction = u * v * v
    return (
        u + 0.16 * laplacian(u) - reaction + feed * (1 - u),
        v + 0.08 * laplacian(v) + reaction - (feed + kill) * v,
    )
