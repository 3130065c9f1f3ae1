import math


def step(xp, p, strike):
    steps = 12 if p.size == "small" else 200
    spot, rate, volatility, dt = 100, 0.05, 0.3, 1 / steps
    up, discount = math.exp(volatility * math.sqrt(dt)), math.exp(-rate * dt)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    nodes = p.array(range(steps + 1), strike)

    def exercise(level):
        return p.maximum(strike[:, None] - spot * xp.exp((2 * nodes[: level + 1] - level) * math.log(up)), 0.0)

    value = exercise(steps)
    for level in range(steps - 1, -1, -1):
        value = xp.maximum(discount * (chance * value[:, 1:] + (1 - chance) * value[:, :-1]), exercise(level))
    return (value[:, 0],)
