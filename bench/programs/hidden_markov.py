def step(xp, p, observed, rates, mean, deviation):
    transition = rates / xp.sum(rates, axis=1)[:, None]

    def emit(now, forward):
        z = (now[:, None] - mean) / deviation
        forward = xp.exp(-0.5 * z * z) / deviation * forward
        scale = xp.sum(forward, axis=1)
        return forward / scale[:, None], xp.log(scale)

    def move(carry, now):
        forward, likelihood = carry
        forward, more = emit(now, forward @ transition)
        return (forward, likelihood + more), None

    first = emit(observed[0], 1.0)
    (forward, likelihood), _ = p.scan(move, first, [observed[1:]])
    return likelihood, forward
