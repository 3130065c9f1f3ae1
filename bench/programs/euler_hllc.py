GAMMA = 1.4


def step(xp, p, density, mx, my, total):
    def sides(x, axis):
        a, b = x - p.roll(x, 1, axis), p.roll(x, -1, axis) - x
        slope = 0.5 * xp.where(a * b > 0, xp.where(abs(a) < abs(b), a, b), 0)
        return x + slope, p.roll(x - slope, -1, axis)

    def side(rho, u, v, pressure, speed, contact):
        energy = pressure / (GAMMA - 1) + 0.5 * rho * (u * u + v * v)
        factor = rho * (speed - u) / (speed - contact)
        star_energy = factor * (energy / rho + (contact - u) * (contact + pressure / (rho * (speed - u))))
        states = rho, rho * u, rho * v, energy
        stars = factor, factor * contact, factor * v, star_energy
        own = rho * u, rho * u * u + pressure, rho * u * v, (energy + pressure) * u
        return [xp.where(speed * contact < 0, f + speed * (s - q), f) for f, q, s in zip(own, states, stars)]

    def fluxes(axis, *gas):
        l, r = zip(*(sides(x, axis) for x in gas))
        sound_l, sound_r = xp.sqrt(GAMMA * l[3] / l[0]), xp.sqrt(GAMMA * r[3] / r[0])
        speed_l, speed_r = xp.minimum(l[1] - sound_l, r[1] - sound_r), xp.maximum(l[1] + sound_l, r[1] + sound_r)
        push_l, push_r = l[0] * (speed_l - l[1]), r[0] * (speed_r - r[1])
        contact = (r[3] - l[3] + push_l * l[1] - push_r * r[1]) / (push_l - push_r)
        both = zip(side(*l, speed_l, contact), side(*r, speed_r, contact))
        return [xp.where(contact >= 0, a, b) for a, b in both]

    u, v = mx / density, my / density
    pressure = (GAMMA - 1) * (total - 0.5 * density * (u * u + v * v))
    x, y = fluxes(1, density, u, v, pressure), fluxes(0, density, v, u, pressure)
    y[1], y[2] = y[2], y[1]
    return tuple(
        state - 0.1 * (fx - p.roll(fx, 1, 1) + fy - p.roll(fy, 1, 0))
        for state, fx, fy in zip((density, mx, my, total), x, y)
    )
