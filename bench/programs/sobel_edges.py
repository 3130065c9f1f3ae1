def step(xp, p, image):
    def part(x, i, j):
        return x[1 + i : i - 1 or None, 1 + j : j - 1 or None]

    def at(i, j):
        return part(image, i, j)

    dx = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
    dy = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    size = xp.sqrt(dx * dx + dy * dy)

    gx, gy, here = abs(part(dx, 0, 0)), abs(part(dy, 0, 0)), part(size, 0, 0)

    def ridge(i, j):
        return (here >= part(size, i, j)) & (here >= part(size, -i, -j))

    flat, steep = gy < 0.41421356 * gx, gy > 2.41421356 * gx
    oblique = xp.where(part(dx, 0, 0) * part(dy, 0, 0) > 0, ridge(1, 1), ridge(1, -1))
    thin = xp.where(xp.where(flat, ridge(0, 1), xp.where(steep, ridge(1, 0), oblique)), here, xp.zeros_like(here))
    return thin, p.astype(thin > 1.5, xp.uint8) + p.astype(thin > 0.75, xp.uint8)
