"""The workloads as loops that a user of Numba would write: one pass each, threads over the outermost axis, fast maths."""
import math

import numpy as np
from numba import njit, prange

loops = njit(parallel=True, fastmath=True)
ONE, HALF = np.float32(1), np.float32(0.5)


@loops
def axpy(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = np.float32(2.5) * x[i] + y[i]
    return out


@loops
def chain20(x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        a = x[i] * np.float32(1.1) + y[i]
        for _ in range(6):
            a = a * np.float32(0.9) + x[i] - y[i] * np.float32(0.1)
            if a > np.float32(2):
                a = a * HALF
        out[i] = a
    return out


@njit(fastmath=True)
def cdf(d):
    return HALF * (ONE + np.float32(math.erf(d * np.float32(0.70710678))))


@loops
def black_scholes(spot, strike, years):
    rate, volatility = np.float32(0.02), np.float32(0.3)
    call, put = np.empty_like(spot), np.empty_like(spot)
    for i in prange(spot.size):
        spread = volatility * np.sqrt(years[i])
        d1 = (np.log(spot[i] / strike[i]) + (rate + HALF * volatility * volatility) * years[i]) / spread
        d2 = d1 - spread
        discounted = strike[i] * np.exp(-rate * years[i])
        call[i] = spot[i] * cdf(d1) - discounted * cdf(d2)
        put[i] = discounted * cdf(-d2) - spot[i] * cdf(-d1)
    return call, put


@loops
def total(x):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i]
    return s


@loops
def meanstd(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    mean = s / x.size
    squares = 0.0
    for i in prange(x.size):
        squares += (x[i] - mean) ** 2
    return np.float32(mean), np.float32(math.sqrt(squares / x.size))


@loops
def dot(x, y):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i] * y[i]
    return s


@loops
def normdiff(x, y):
    s = np.float32(0)
    for i in prange(x.size):
        d = x[i] - y[i]
        s += d * d
    return np.sqrt(s)


@loops
def softmax(x):
    out = np.empty_like(x)
    for r in prange(x.shape[0]):
        most = x[r, 0]
        for c in range(x.shape[1]):
            most = max(most, x[r, c])
        s = np.float32(0)
        for c in range(x.shape[1]):
            e = np.exp(x[r, c] - most)
            out[r, c] = e
            s += e
        scale = ONE / s
        for c in range(x.shape[1]):
            out[r, c] *= scale
    return out


@loops
def layernorm(x, gain, bias):
    out = np.empty_like(x)
    columns = np.float32(x.shape[1])
    for r in prange(x.shape[0]):
        s = np.float32(0)
        for c in range(x.shape[1]):
            s += x[r, c]
        mean = s / columns
        squares = np.float32(0)
        for c in range(x.shape[1]):
            d = x[r, c] - mean
            squares += d * d
        scale = ONE / np.sqrt(squares / columns + np.float32(1e-5))
        for c in range(x.shape[1]):
            out[r, c] = (x[r, c] - mean) * scale * gain[c] + bias[c]
    return out


@loops
def logsumexp(x):
    out = np.empty((x.shape[0], 1), np.float32)
    for r in prange(x.shape[0]):
        most = x[r, 0]
        for c in range(x.shape[1]):
            most = max(most, x[r, c])
        s = np.float32(0)
        for c in range(x.shape[1]):
            s += np.exp(x[r, c] - most)
        out[r, 0] = np.log(s) + most
    return out


@loops
def colsum(x):
    out = np.zeros(x.shape[1], np.float32)
    width = 512
    for b in prange((x.shape[1] + width - 1) // width):
        first, last = b * width, min((b + 1) * width, x.shape[1])
        for r in range(x.shape[0]):
            for c in range(first, last):
                out[c] += x[r, c]
    return out


@loops
def stencil9(x):
    out = np.empty((x.shape[0] - 2, x.shape[1] - 2), np.float32)
    for r in prange(out.shape[0]):
        for c in range(out.shape[1]):
            s = x[r, c] + x[r, c + 1] + x[r, c + 2] + x[r + 1, c] + x[r + 1, c + 1] + x[r + 1, c + 2]
            out[r, c] = (s + x[r + 2, c] + x[r + 2, c + 1] + x[r + 2, c + 2]) / np.float32(9)
    return out


@loops
def transpose_add(a, b):
    out = np.empty_like(a)
    tile = 32
    for t in prange((a.shape[0] + tile - 1) // tile):
        for u in range((a.shape[1] + tile - 1) // tile):
            for r in range(t * tile, min((t + 1) * tile, a.shape[0])):
                for c in range(u * tile, min((u + 1) * tile, a.shape[1])):
                    out[r, c] = a[r, c] + b[c, r]
    return out


@loops
def rbf(a, b):
    out = np.empty((a.shape[0], b.shape[0]), np.float32)
    for i in prange(a.shape[0]):
        for j in range(b.shape[0]):
            s = np.float32(0)
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                s += d * d
            out[i, j] = np.exp(-HALF * s)
    return out


@loops
def rbf_sum(a, b):
    out = np.empty(a.shape[0], np.float32)
    for i in prange(a.shape[0]):
        row = np.float32(0)
        for j in range(b.shape[0]):
            s = np.float32(0)
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                s += d * d
            row += np.exp(-HALF * s)
        out[i] = row
    return out


@njit(fastmath=True)
def points_inside(count):
    inside = 0
    for _ in range(count):
        u, v = np.random.random(), np.random.random()
        if u * u + v * v < 1.0:
            inside += 1
    return inside


@loops
def estimate_of_pi(chunks, chunk):
    inside = 0
    for _ in prange(chunks):
        inside += points_inside(chunk)
    return np.float32(4.0 * inside / (chunks * chunk))


def mcpi(draws):
    chunk = 1 << 16
    return lambda: estimate_of_pi(draws // chunk, chunk)


@loops
def after_product(p, b):
    sample = np.empty_like(p)
    for r in prange(p.shape[0]):
        for c in range(p.shape[1]):
            v = ONE / (ONE + np.exp(-(p[r, c] + b[r, 0])))
            p[r, c] = v
            sample[r, c] = ONE if np.random.random() < v else np.float32(0)
    return p, sample


def dahl(w, x, b):
    return after_product(w @ x, b)


@njit(fastmath=True)
def cumsum(x):
    out = np.empty_like(x)
    s = np.float32(0)
    for i in range(x.size):
        s += x[i]
        out[i] = s
    return out


@njit(fastmath=True)
def small10(x, y):
    out = np.empty_like(x)
    for i in range(x.size):
        a = x[i] * y[i] + ONE
        a = np.exp(-a) + x[i]
        a = np.sqrt(a * a + ONE)
        out[i] = a * HALF - y[i]
    return out


@loops
def heat_step(u, v):
    for r in prange(1, u.shape[0] - 1):
        for c in range(1, u.shape[1] - 1):
            middle = u[r, c]
            around = u[r - 1, c] + u[r + 1, c] + u[r, c - 1] + u[r, c + 1] - np.float32(4) * middle
            v[r, c] = middle + np.float32(0.1) * around


def heat(steps):
    def run(u):
        u, v = u.copy(), u.copy()
        for _ in range(steps):
            heat_step(u, v)
            u, v = v, u
        return u

    return run


@loops
def where_sum(x):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i] * x[i] if x[i] > HALF else np.float32(0)
    return s


@loops
def argmax(x):
    out = np.empty(x.shape[0], np.int64)
    for r in prange(x.shape[0]):
        best = 0
        for c in range(1, x.shape[1]):
            if x[r, c] > x[r, best]:
                best = c
        out[r] = best
    return out


@loops
def multi_out(x, y):
    a, b, c = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for i in prange(x.size):
        a[i], b[i], c[i] = x[i] + y[i], x[i] - y[i], x[i] * y[i]
    return a, b, c


def workloads(draws, heat_steps):
    return {
        "axpy": axpy,
        "chain20": chain20,
        "black_scholes": black_scholes,
        "sum": total,
        "meanstd": meanstd,
        "dot": dot,
        "normdiff": normdiff,
        "softmax": softmax,
        "layernorm": layernorm,
        "logsumexp": logsumexp,
        "colsum": colsum,
        "stencil9": stencil9,
        "transpose_add": transpose_add,
        "rbf": rbf,
        "rbf_sum": rbf_sum,
        "mcpi": mcpi(draws),
        "dahl": dahl,
        "cumsum": cumsum,
        "small10": small10,
        "heat_small": heat(heat_steps),
        "heat_big": heat(heat_steps),
        "where_sum": where_sum,
        "argmax": argmax,
        "multi_out": multi_out,
    }
