import math

PATHS = {"small": 257, "cpu": 1 << 17, "cuda": 1 << 22}


def step(xp, p):
    rate, reversion, level, volatility, correlation, steps = 0.03, 1.5, 0.04, 0.3, -0.7, 32
    paths, dt = PATHS[p.size], 1 / steps

    def move(state, _):
        price, variance = state
        a, b = p.normal((paths,)), p.normal((paths,))
        positive = p.maximum(variance, 0.0)
        root = xp.sqrt(positive * dt)
        shock = correlation * a + math.sqrt(1 - correlation * correlation) * b
        price = price + (rate - 0.5 * positive) * dt + root * a
        variance = variance + reversion * (level - positive) * dt + volatility * root * shock
        return (price, variance), None

    start = p.zeros((paths,), None)
    (price, _), _ = p.scan(move, (start, start + 0.04), [range(steps)])
    payoff = math.exp(-rate) * p.maximum(100 * xp.exp(price) - 100, 0.0)
    return xp.mean(payoff), p.std(payoff) / math.sqrt(paths)
