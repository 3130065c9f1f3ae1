import math

PATHS = {"small": 129, "cpu": 1 << 14, "cuda": 1 << 19}


def step(xp, p):
    spot, strike, rate, volatility, dates = 100, 100, 0.03, 0.2, 64
    paths, dt = PATHS[p.size], 1 / dates
    drift = (rate - 0.5 * volatility * volatility) * dt
    shocks = volatility * math.sqrt(dt) * p.normal((dates, paths))

    def payoffs(moves):
        logarithm = xp.cumsum(drift + moves, axis=0)
        average, geometric = spot * xp.mean(xp.exp(logarithm), axis=0), spot * xp.exp(xp.mean(logarithm, axis=0))
        return p.maximum(average - strike, 0.0), p.maximum(geometric - strike, 0.0)

    up, down = payoffs(shocks), payoffs(-shocks)
    price, control = (math.exp(-rate) * 0.5 * (a + b) for a, b in zip(up, down))
    deviation = control - xp.mean(control)
    slope = xp.mean(deviation * price) / xp.mean(deviation * deviation)
    return xp.mean(price), xp.mean(control), p.std(price - slope * deviation) / math.sqrt(paths)
