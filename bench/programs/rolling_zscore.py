# A variance from sums of squares cancels: prices of 1 deviate by 0.01.
ALLOWED = {"float64": 1e-9}


def step(xp, p, returns):
    window = 20

    def rolling_sum(x):
        total = p.concat((xp.zeros_like(x[:, :1]), xp.cumsum(x, axis=1)), 1)
        return total[:, window:] - total[:, :-window]

    price = xp.exp(0.01 * xp.cumsum(returns, axis=1))
    mean = rolling_sum(price) / window
    variance = p.maximum(rolling_sum(price * price) / window - mean * mean, 1e-10)
    score = (price[:, window - 1 :] - mean) / xp.sqrt(variance)
    position = p.astype(score < -1.5, score.dtype) - p.astype(score > 1.5, score.dtype)
    earned = position[:, :-1] * 0.01 * returns[:, window:]
    return score, xp.sum(earned, axis=1), xp.mean(earned, axis=1) / (p.std(earned, 1) + 1e-9)
