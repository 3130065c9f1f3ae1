BOX = {"small": 3, "cpu": 11, "cuda": 22}


def step(xp, p, position, velocity):
    box, dt, n = BOX[p.size], 0.001, position.shape[0]
    eye = p.astype(xp.arange(n)[:, None] == xp.arange(n), position.dtype)

    def forces(x):
        d = x[:, None] - x
        d = d - box * xp.round(d / box)
        inverse = 1 / p.maximum(xp.sum(d * d, axis=-1) + eye, 0.8)
        sixth = inverse * inverse * inverse
        other = (1 - eye) * sixth
        strength = other * (48 * sixth - 24) * inverse
        return xp.sum(strength[:, :, None] * d, axis=1), 2 * xp.sum(other * (sixth - 1))

    half = velocity + 0.5 * dt * forces(position)[0]
    moved = position + dt * half
    force, energy = forces(moved)
    v = half + 0.5 * dt * force
    return moved, v, energy + 0.5 * xp.sum(v * v)
