def step(xp, p, u, v, depth):
    west, east = (lambda x: p.roll(x, 1, 1)), (lambda x: p.roll(x, -1, 1))
    south, north = (lambda x: p.roll(x, 1, 0)), (lambda x: p.roll(x, -1, 0))
    gravity, coriolis, dx, dt, viscosity = 9.81, 0.1, 1.0, 0.02, 0.1
    flux_x, flux_y = 0.5 * u * (depth + west(depth)), 0.5 * v * (depth + south(depth))
    h = depth - dt / dx * (east(flux_x) - flux_x + north(flux_y) - flux_y)

    corner = 0.25 * (h + west(h) + south(h) + south(west(h)))
    vorticity = (coriolis + (v - west(v) - u + south(u)) / dx) / corner
    head = gravity * h + 0.25 * (u * u + east(u * u) + v * v + north(v * v))
    turn_x, turn_y = vorticity * 0.5 * (flux_y + west(flux_y)), vorticity * 0.5 * (flux_x + south(flux_x))

    def diffusion(x):
        return viscosity * (west(x) + east(x) + south(x) + north(x) - 4 * x)

    return (
        u + dt * (0.5 * (turn_x + north(turn_x)) - (head - west(head)) / dx + diffusion(u)),
        v + dt * (-0.5 * (turn_y + east(turn_y)) - (head - south(head)) / dx + diffusion(v)),
        h,
    )
