def step(xp, p, state, covariance, measured):
    dt, noise = 0.1, 0.5
    motion = p.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]], state)
    identity = p.array([[float(i == j) for j in range(4)] for i in range(4)], state)
    x = state @ motion.T
    c = motion @ covariance @ motion.T + 0.01 * identity
    s = c[:, :2, :2] + noise * identity[:2, :2]
    determinant = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]
    adjugate = xp.stack([xp.stack([s[:, 1, 1], -s[:, 0, 1]], 1), xp.stack([-s[:, 1, 0], s[:, 0, 0]], 1)], 1)
    inverse = adjugate / determinant[:, None, None]
    gain = c[:, :, :2] @ inverse
    surprise = measured - x[:, :2]
    distance = xp.sum((inverse @ surprise[:, :, None])[:, :, 0] * surprise, axis=1)
    return (
        x + (gain @ surprise[:, :, None])[:, :, 0],
        c - gain @ c[:, :2],
        -0.5 * xp.mean(distance + xp.log(determinant)),
    )
