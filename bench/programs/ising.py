def step(xp, p, up):
    coupling = 0.44
    row, column = xp.arange(up.shape[0])[:, None], xp.arange(up.shape[1])
    one = p.zeros((1,), None) + 1
    for colour in range(2):
        spin = xp.where(up, one, -one)
        around = p.roll(spin, 1, 0) + p.roll(spin, -1, 0) + p.roll(spin, 1, 1) + p.roll(spin, -1, 1)
        flips = p.uniform(tuple(up.shape)) < xp.exp(-2 * coupling * spin * around)
        up = xp.where(((row + column) % 2 == colour) & flips, ~up, up)
    return up, xp.mean(xp.where(up, one, -one))
