import math


def coefficient(n, i, j, k):
    return math.cos(1.0 + n + 2.0 * i + 3.0 * j + 5.0 * k) / (1 << (i + j + k))


def polynomial(n, s, t, p):
    in_p = 0
    for k in range(6, -1, -1):
        in_t = 0
        for j in range(6 - k, -1, -1):
            in_s = coefficient(n, 6 - j - k, j, k)
            for i in range(5 - j - k, -1, -1):
                in_s = in_s * s + coefficient(n, i, j, k)
            in_t = in_t * t + in_s
        in_p = in_p * p + in_t
    return in_p


def step(xp, _, salinity, temperature, pressure):
    s, t, p = xp.sqrt(salinity / 40), temperature / 30, pressure / 5000
    density = 1000 + polynomial(0, s, t, p) + s * s * s * xp.log(1 + s)
    enthalpy = polynomial(1, s, t, p) + xp.log(1 + p) / density
    return density, enthalpy, 1500 * xp.sqrt(1 + 0.01 * polynomial(2, s, t, p))
