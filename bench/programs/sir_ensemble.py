def step(xp, p, susceptible, infected, recovered, worst, contact, recovery):
    def tendency(x):
        sick, well = contact * x[0] * x[1], recovery * x[1]
        return -sick, sick - well, well

    def moved(x, dt, k):
        return [a + dt * b for a, b in zip(x, k)]

    x = susceptible, infected, recovered
    for _ in range(7):
        k1 = tendency(x)
        k2 = tendency(moved(x, 0.5, k1))
        k3 = tendency(moved(x, 0.5, k2))
        k4 = tendency(moved(x, 1, k3))
        x = [a + (b + 2 * c + 2 * d + e) / 6 for a, b, c, d, e in zip(x, k1, k2, k3, k4)]
        worst = xp.maximum(worst, x[1])
    return x[0], x[1], x[2], worst, xp.mean(x[1]), xp.max(worst)
