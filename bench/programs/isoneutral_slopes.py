def slopes(xp, p, t, s, by_t, by_s, axis):
    def before(x):
        return x[:-1] if axis == 0 else x[:, :-1]

    def after(x):
        return x[1:] if axis == 0 else x[:, 1:]

    dt, ds = after(t) - before(t), after(s) - before(s)
    dt_z, ds_z = t[:, :, 1:] - t[:, :, :-1], s[:, :, 1:] - s[:, :, :-1]
    levels = dt.shape[2]
    tapered, diffusivity = p.zeros(dt.shape + (2, 2), t), 0
    for side, of in enumerate((before, after)):
        for level in range(2):
            z = slice(level, levels - 2 + level)
            a, b = of(by_t)[:, :, 1:-1], of(by_s)[:, :, 1:-1]
            across = a * dt[:, :, 1:-1] + b * ds[:, :, 1:-1]
            down = a * of(dt_z)[:, :, z] + b * of(ds_z)[:, :, z]
            slope = -across / (p.minimum(down, 0.0) - 1e-3)
            taper = 0.5 * (1 + xp.tanh((4 - abs(slope)) / 0.8))
            tapered = p.set(tapered, (slice(None), slice(None), slice(1, -1), side, level), taper * slope)
            diffusivity = diffusivity + 0.25 * p.maximum(taper, 0.01)
    return tapered, diffusivity


def step(xp, p, t, s):
    by_t, by_s = -0.2 - 0.01 * t + 0.0002 * t * t, 0.78 - 0.003 * t + 0.001 * s
    return slopes(xp, p, t, s, by_t, by_s, 0) + slopes(xp, p, t, s, by_t, by_s, 1)
