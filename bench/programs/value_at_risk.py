SCENARIOS = {"small": 503, "cpu": 1 << 17, "cuda": 1 << 21}


def step(xp, p, mixing, weight):
    returns = 0.02 * (p.normal((SCENARIOS[p.size], weight.shape[0])) @ mixing)
    loss = -((xp.exp(returns) - 1) @ weight)
    low, high = xp.min(loss), xp.max(loss)
    for _ in range(20):
        middle = 0.5 * (low + high)
        above = p.mean(loss > middle)
        low, high = xp.where(above > 0.01, middle, low), xp.where(above > 0.01, high, middle)
    beyond = loss > high
    return high, xp.sum(xp.where(beyond, loss, 0)) / xp.sum(beyond)
