import math

RADIUS = 3


def step(xp, p, image):
    wide, (height, width) = p.pad_edge(image, RADIUS), image.shape
    total, weights = xp.zeros_like(image), xp.zeros_like(image)
    for i in range(-RADIUS, RADIUS + 1):
        for j in range(-RADIUS, RADIUS + 1):
            other = wide[i + RADIUS : i + RADIUS + height, j + RADIUS : j + RADIUS + width]
            weight = math.exp(-(i * i + j * j) / 8) * xp.exp(-50 * (other - image) ** 2)
            total, weights = total + weight * other, weights + weight
    return (total / weights,)
