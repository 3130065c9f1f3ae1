def step(xp, p, w, v, samples, labels):
    rate, momentum, decay, n = 0.5, 0.9, 1e-4, labels.shape[0]
    truth = p.astype(labels, w.dtype)
    for _ in range(8):
        error = p.sigmoid(samples @ w) - truth
        v = momentum * v - rate * (error @ samples / n + decay * w)
        w = w + v
    margin = samples @ w
    return w, v, xp.mean(xp.logaddexp(xp.zeros_like(margin), margin) - truth * margin)
