KERNEL = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]


def step(xp, p, picture):
    x = p.astype(picture, xp.float32)

    def blurred(x, axis):
        first, last = (x[:1], x[-1:]) if axis == 0 else (x[:, :1], x[:, -1:])
        wide, n = p.concat((first, first, x, last, last), axis), x.shape[axis]
        return sum(k * (wide[i : i + n] if axis == 0 else wide[:, i : i + n]) for i, k in enumerate(KERNEL))

    detail = x - blurred(blurred(x, 0), 1)
    sharp = xp.where(abs(detail) > 3, x + 0.8 * detail, x)
    return (p.astype(xp.clip(xp.round(sharp), 0, 255), xp.uint8),)
