def step(xp, p, x):
    def tendency(x):
        return (p.roll(x, -1, 1) - p.roll(x, 2, 1)) * p.roll(x, 1, 1) - x + 8

    dt = 0.01
    k1 = tendency(x)
    k2 = tendency(x + dt / 2 * k1)
    k3 = tendency(x + dt / 2 * k2)
    k4 = tendency(x + dt * k3)
    return (x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4),)
