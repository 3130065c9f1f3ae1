def solve(xp, p, exchange, rhs):
    none = xp.zeros_like(rhs[..., :1])
    up, down = p.concat((none, exchange), -1), p.concat((exchange, none), -1)

    def forward(carry, level):
        upper, x = carry
        above, below, value = level
        diagonal = 1 + above + below - above * upper
        carry = below / diagonal, (value + above * x) / diagonal
        return carry, carry

    def backward(x, level):
        upper, value = level
        x = value + upper * x
        return x, x

    levels = [p.moveaxis(a, -1, 0) for a in (up, down, rhs)]
    zero = xp.zeros_like(rhs[..., 0])
    _, (upper, value) = p.scan(forward, (zero, zero), levels)
    _, x = p.scan(backward, zero, [p.flip(upper, 0), p.flip(value, 0)])
    return p.moveaxis(p.flip(x, 0), 0, -1)


def step(xp, p, temperature, u, v):
    def difference(x):
        return x[..., 1:] - x[..., :-1]

    shear = difference(u) ** 2 + difference(v) ** 2
    richardson = p.maximum(0.002 * difference(temperature) / (shear + 1e-4), 0.0)
    viscosity = 0.01 / (1 + 5 * richardson) ** 2 + 1e-4
    diffusivity = viscosity / (1 + 5 * richardson) + 1e-5
    return (
        solve(xp, p, 100 * diffusivity, temperature),
        solve(xp, p, 100 * viscosity, u),
        solve(xp, p, 100 * viscosity, v),
    )
