import math


def step(xp, p, weight, mean, variance, points):
    d = points[:, None] - mean
    exponent = xp.sum(d * d / variance + xp.log(variance) + math.log(2 * math.pi), axis=-1)
    joint = xp.log(weight) - 0.5 * exponent
    most = p.row_max(joint)
    likelihood = most + xp.log(p.row_sum(xp.exp(joint - most)))
    share = xp.exp(joint - likelihood)
    count = xp.sum(share, axis=0)
    mean = share.T @ points / count[:, None]
    variance = share.T @ (points * points) / count[:, None] - mean * mean + 1e-6
    return count / points.shape[0], mean, variance, xp.mean(likelihood)
