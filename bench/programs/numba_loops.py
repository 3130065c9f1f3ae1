"""Programs as loops that a user of Numba would write: one pass where one will do, threads over the outermost axis, fast
maths. The programs that are left out are products of matrices, or many passes over whole arrays, for which that user
would call NumPy."""
import math

import numpy as np
from numba import njit, prange

loops = njit(parallel=True, fastmath=True)
inline = njit(fastmath=True)


@loops
def shallow_water(u, v, depth):
    gravity, coriolis, dx, dt, viscosity = 9.81, 0.1, 1.0, 0.02, 0.1
    rows, columns = u.shape
    h, vorticity, flux_x, flux_y = np.empty_like(u), np.empty_like(u), np.empty_like(u), np.empty_like(u)
    for j in prange(rows):
        for i in range(columns):
            flux_x[j, i] = 0.5 * u[j, i] * (depth[j, i] + depth[j, i - 1])
            flux_y[j, i] = 0.5 * v[j, i] * (depth[j, i] + depth[j - 1, i])
    for j in prange(rows):
        n = (j + 1) % rows
        for i in range(columns):
            e = (i + 1) % columns
            h[j, i] = depth[j, i] - dt / dx * (flux_x[j, e] - flux_x[j, i] + flux_y[n, i] - flux_y[j, i])
    for j in prange(rows):
        for i in range(columns):
            corner = 0.25 * (h[j, i] + h[j, i - 1] + h[j - 1, i] + h[j - 1, i - 1])
            vorticity[j, i] = (coriolis + (v[j, i] - v[j, i - 1] - u[j, i] + u[j - 1, i]) / dx) / corner
    head, turn_x, turn_y = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    for j in prange(rows):
        n = (j + 1) % rows
        for i in range(columns):
            e = (i + 1) % columns
            kinetic = u[j, i] ** 2 + u[j, e] ** 2 + v[j, i] ** 2 + v[n, i] ** 2
            head[j, i] = gravity * h[j, i] + 0.25 * kinetic
            turn_x[j, i] = vorticity[j, i] * 0.5 * (flux_y[j, i] + flux_y[j, i - 1])
            turn_y[j, i] = vorticity[j, i] * 0.5 * (flux_x[j, i] + flux_x[j - 1, i])
    u_after, v_after = np.empty_like(u), np.empty_like(u)
    for j in prange(rows):
        n = (j + 1) % rows
        for i in range(columns):
            e = (i + 1) % columns
            du = u[j, i - 1] + u[j, e] + u[j - 1, i] + u[n, i] - 4 * u[j, i]
            dv = v[j, i - 1] + v[j, e] + v[j - 1, i] + v[n, i] - 4 * v[j, i]
            x = 0.5 * (turn_x[j, i] + turn_x[n, i]) - (head[j, i] - head[j, i - 1]) / dx + viscosity * du
            y = -0.5 * (turn_y[j, i] + turn_y[j, e]) - (head[j, i] - head[j - 1, i]) / dx + viscosity * dv
            u_after[j, i], v_after[j, i] = u[j, i] + dt * x, v[j, i] + dt * y
    return u_after, v_after, h


@loops
def maxwell_2d(e, hx, hy, keep, gain):
    n, half = e.shape[0], e.dtype.type(0.5)
    for i in prange(n):
        for j in range(n - 1):
            hx[i, j] -= half * (e[i, j + 1] - e[i, j])
        if i < n - 1:
            for j in range(n):
                hy[i, j] += half * (e[i + 1, j] - e[i, j])
    for i in prange(1, n - 1):
        for j in range(1, n - 1):
            curl = hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1]
            e[i, j] = keep[i - 1, j - 1] * e[i, j] + gain[i - 1, j - 1] * curl
    return e, hx, hy


@loops
def maxwell_3d(ex, ey, ez, hx, hy, hz):
    n, c = ex.shape[0], ex.dtype.type(0.5)
    for i in prange(n + 1):
        for j in range(n + 1):
            for k in range(n + 1):
                if j < n and k < n:
                    hx[i, j, k] -= c * (ez[i, j + 1, k] - ez[i, j, k] - ey[i, j, k + 1] + ey[i, j, k])
                if i < n and k < n:
                    hy[i, j, k] -= c * (ex[i, j, k + 1] - ex[i, j, k] - ez[i + 1, j, k] + ez[i, j, k])
                if i < n and j < n:
                    hz[i, j, k] -= c * (ey[i + 1, j, k] - ey[i, j, k] - ex[i, j + 1, k] + ex[i, j, k])
    for i in prange(n + 1):
        for j in range(n + 1):
            for k in range(n + 1):
                inner_i, inner_j, inner_k = 0 < i < n, 0 < j < n, 0 < k < n
                if i < n and inner_j and inner_k:
                    ex[i, j, k] += c * (hz[i, j, k] - hz[i, j - 1, k] - hy[i, j, k] + hy[i, j, k - 1])
                if j < n and inner_i and inner_k:
                    ey[i, j, k] += c * (hx[i, j, k] - hx[i, j, k - 1] - hz[i, j, k] + hz[i - 1, j, k])
                if k < n and inner_i and inner_j:
                    ez[i, j, k] += c * (hy[i, j, k] - hy[i - 1, j, k] - hx[i, j, k] + hx[i, j - 1, k])
    return ex, ey, ez, hx, hy, hz


@loops
def gray_scott(u, v):
    rows, columns = u.shape
    feed, kill, du, dv = 0.037, 0.06, 0.16, 0.08
    u_after, v_after = np.empty_like(u), np.empty_like(v)
    for j in prange(rows):
        n = (j + 1) % rows
        for i in range(columns):
            e, a, b = (i + 1) % columns, u[j, i], v[j, i]
            reaction = a * b * b
            spread_u = u[j - 1, i] + u[n, i] + u[j, i - 1] + u[j, e] - 4 * a
            spread_v = v[j - 1, i] + v[n, i] + v[j, i - 1] + v[j, e] - 4 * b
            u_after[j, i] = a + du * spread_u - reaction + feed * (1 - a)
            v_after[j, i] = b + dv * spread_v + reaction - (feed + kill) * b
    return u_after, v_after


X = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
Y = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
WEIGHT = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])


@loops
def lattice_boltzmann(f, solid):
    _, rows, columns = f.shape
    out = np.empty_like(f)
    for j in prange(rows):
        here = np.empty(9, f.dtype)
        for i in range(columns):
            density = u = v = 0.0
            for k in range(9):
                here[k] = f[k, (j - Y[k]) % rows, (i - X[k]) % columns]
                density += here[k]
                u += here[k] * X[k]
                v += here[k] * Y[k]
            u, v = u / density, v / density
            for k in range(9):
                if solid[j, i]:
                    out[k, j, i] = here[OPPOSITE[k]]
                else:
                    along = 3 * (X[k] * u + Y[k] * v)
                    equilibrium = WEIGHT[k] * density * (1 + along + 0.5 * along * along - 1.5 * (u * u + v * v))
                    out[k, j, i] = here[k] + (equilibrium - here[k]) / 0.8
    return (out,)


@loops
def tridiagonal(exchange, rhs):
    rows, columns, levels = rhs.shape
    x = np.empty_like(rhs)
    for i in prange(rows):
        upper = np.empty(levels, rhs.dtype)
        for j in range(columns):
            for k in range(levels):
                down = exchange[i, j, k] if k + 1 < levels else 0.0
                diagonal, value = 1 + down, rhs[i, j, k]
                if k > 0:
                    up = exchange[i, j, k - 1]
                    diagonal += up - up * upper[k - 1]
                    value += up * x[i, j, k - 1]
                upper[k] = down / diagonal
                x[i, j, k] = value / diagonal
            for k in range(levels - 2, -1, -1):
                x[i, j, k] += upper[k] * x[i, j, k + 1]
    return x


@loops
def exchanges(temperature, u, v):
    rows, columns, levels = u.shape
    viscosity = np.empty((rows, columns, levels - 1), u.dtype)
    diffusivity = np.empty_like(viscosity)
    for i in prange(rows):
        for j in range(columns):
            for k in range(levels - 1):
                shear = (u[i, j, k + 1] - u[i, j, k]) ** 2 + (v[i, j, k + 1] - v[i, j, k]) ** 2
                richardson = max(0.002 * (temperature[i, j, k + 1] - temperature[i, j, k]) / (shear + 1e-4), 0.0)
                a = 0.01 / (1 + 5 * richardson) ** 2 + 1e-4
                viscosity[i, j, k] = 100 * a
                diffusivity[i, j, k] = 100 * (a / (1 + 5 * richardson) + 1e-5)
    return viscosity, diffusivity


def vertical_mixing(temperature, u, v):
    viscosity, diffusivity = exchanges(temperature, u, v)
    return tridiagonal(diffusivity, temperature), tridiagonal(viscosity, u), tridiagonal(viscosity, v)


@loops
def adi_heat(heat):
    plates, n, _ = heat.shape
    r = heat.dtype.type(0.8)
    upper, pivot = np.empty(n, heat.dtype), np.empty(n, heat.dtype)
    for k in range(n):
        pivot[k] = 1 / (1 + 2 * r - (r * upper[k - 1] if k > 0 else 0))
        upper[k] = r * pivot[k]
    out = np.empty_like(heat)
    for plate in prange(plates):
        x, half = heat[plate], np.empty((n, n), heat.dtype)
        for i in range(n):
            for j in range(n):
                value = (1 - 2 * r) * x[i, j]
                if i > 0:
                    value += r * x[i - 1, j]
                if i < n - 1:
                    value += r * x[i + 1, j]
                half[i, j] = (value + (r * half[i, j - 1] if j > 0 else 0)) * pivot[j]
            for j in range(n - 2, -1, -1):
                half[i, j] += upper[j] * half[i, j + 1]
        y = out[plate]
        for i in range(n):
            for j in range(n):
                value = (1 - 2 * r) * half[i, j]
                if j > 0:
                    value += r * half[i, j - 1]
                if j < n - 1:
                    value += r * half[i, j + 1]
                y[i, j] = (value + (r * y[i - 1, j] if i > 0 else 0)) * pivot[i]
        for i in range(n - 2, -1, -1):
            for j in range(n):
                y[i, j] += upper[i] * y[i + 1, j]
    return (out,)


@inline
def tendency(x, out):
    n = x.size
    for i in range(n):
        out[i] = (x[(i + 1) % n] - x[i - 2]) * x[i - 1] - x[i] + 8


@loops
def lorenz_96(x):
    members, n = x.shape
    dt, out = x.dtype.type(0.01), np.empty_like(x)
    for m in prange(members):
        k1, k2, k3, k4 = np.empty(n, x.dtype), np.empty(n, x.dtype), np.empty(n, x.dtype), np.empty(n, x.dtype)
        tendency(x[m], k1)
        tendency(x[m] + dt / 2 * k1, k2)
        tendency(x[m] + dt / 2 * k2, k3)
        tendency(x[m] + dt * k3, k4)
        out[m] = x[m] + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return (out,)


@inline
def sick_and_well(s, i, contact, recovery):
    return contact * s * i, recovery * i


@loops
def sir_ensemble(susceptible, infected, recovered, worst, contact, recovery):
    n, total, highest = worst.size, 0.0, 0.0
    s_after, i_after, r_after = np.empty_like(worst), np.empty_like(worst), np.empty_like(worst)
    w_after = np.empty_like(worst)
    for m in prange(n):
        s, i, r, w, c, g = susceptible[m], infected[m], recovered[m], worst[m], contact[m], recovery[m]
        for _ in range(7):
            a1, b1 = sick_and_well(s, i, c, g)
            a2, b2 = sick_and_well(s - a1 / 2, i + (a1 - b1) / 2, c, g)
            a3, b3 = sick_and_well(s - a2 / 2, i + (a2 - b2) / 2, c, g)
            a4, b4 = sick_and_well(s - a3, i + a3 - b3, c, g)
            sick, well = (a1 + 2 * a2 + 2 * a3 + a4) / 6, (b1 + 2 * b2 + 2 * b3 + b4) / 6
            s, i, r = s - sick, i + sick - well, r + well
            w = max(w, i)
        s_after[m], i_after[m], r_after[m], w_after[m] = s, i, r, w
        total += i
        highest = max(highest, w)
    return s_after, i_after, r_after, w_after, total / n, highest


@loops
def american_option(strike):
    steps, spot, rate, volatility = 200, 100.0, 0.05, 0.3
    dt = 1 / steps
    up, discount = math.exp(volatility * math.sqrt(dt)), math.exp(-rate * dt)
    chance = (1 / discount - 1 / up) / (up - 1 / up)
    prices = np.empty(2 * steps + 1, strike.dtype)
    for j in range(2 * steps + 1):
        prices[j] = spot * up ** (j - steps)
    out = np.empty_like(strike)
    for m in prange(strike.size):
        value = np.empty(steps + 1, strike.dtype)
        for j in range(steps + 1):
            value[j] = max(strike[m] - prices[2 * j], 0.0)
        for level in range(steps - 1, -1, -1):
            for j in range(level + 1):
                held = discount * (chance * value[j + 1] + (1 - chance) * value[j])
                value[j] = max(held, strike[m] - prices[2 * j - level + steps])
        out[m] = value[0]
    return (out,)


@loops
def hidden_markov(observed, rates, mean, deviation):
    times, sequences = observed.shape
    states = mean.size
    transition = rates / rates.sum(1).reshape(states, 1)
    likelihood, forward = np.zeros(sequences, observed.dtype), np.empty((sequences, states), observed.dtype)
    for q in prange(sequences):
        a, b = np.ones(states, observed.dtype), np.empty(states, observed.dtype)
        for t in range(times):
            scale = 0.0
            for j in range(states):
                value = 0.0
                for i in range(states):
                    value += a[i] * transition[i, j]
                z = (observed[t, q] - mean[j]) / deviation[j]
                b[j] = math.exp(-0.5 * z * z) / deviation[j] * (value if t > 0 else 1.0)
                scale += b[j]
            for j in range(states):
                a[j] = b[j] / scale
            likelihood[q] += math.log(scale)
        forward[q] = a
    return likelihood, forward


@loops
def assigned(points, centres):
    nearest = np.empty(points.shape[0], np.int64)
    for i in prange(points.shape[0]):
        least = np.inf
        for k in range(centres.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                distance += (points[i, d] - centres[k, d]) ** 2
            if distance < least:
                least, nearest[i] = distance, k
    return nearest


@inline
def gathered(points, centres, nearest):
    total, size = np.zeros_like(centres), np.zeros(centres.shape[0], points.dtype)
    for i in range(points.shape[0]):
        total[nearest[i]] += points[i]
        size[nearest[i]] += 1
    out = centres.copy()
    for k in range(size.size):
        if size[k] > 0:
            out[k] = total[k] / size[k]
    return out


def k_means(points, centres):
    for _ in range(5):
        nearest = assigned(points, centres)
        centres = gathered(points, centres, nearest)
    return centres, nearest


@loops
def pair_forces(x, box):
    n, energy = x.shape[0], 0.0
    force = np.zeros_like(x)
    for i in prange(n):
        for j in range(n):
            if i != j:
                dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                dx, dy, dz = dx - box * np.rint(dx / box), dy - box * np.rint(dy / box), dz - box * np.rint(dz / box)
                inverse = 1 / max(dx * dx + dy * dy + dz * dz, x.dtype.type(0.8))
                sixth = inverse * inverse * inverse
                strength = sixth * (48 * sixth - 24) * inverse
                force[i, 0] += strength * dx
                force[i, 1] += strength * dy
                force[i, 2] += strength * dz
                energy += 2 * sixth * (sixth - 1)
    return force, energy


def lennard_jones(position, velocity):
    box, dt = position.dtype.type(11), position.dtype.type(0.001)
    half = velocity + dt / 2 * pair_forces(position, box)[0]
    moved = position + dt * half
    force, energy = pair_forces(moved, box)
    v = half + dt / 2 * force
    return moved, v, energy + 0.5 * np.sum(v * v)


@loops
def bilateral(image):
    height, width = image.shape
    out = np.empty_like(image)
    for y in prange(height):
        for x in range(width):
            total = weights = image.dtype.type(0)
            for i in range(-3, 4):
                for j in range(-3, 4):
                    other = image[min(max(y + i, 0), height - 1), min(max(x + j, 0), width - 1)]
                    weight = np.exp(np.float32(-(i * i + j * j) / 8) - np.float32(50) * (other - image[y, x]) ** 2)
                    total += weight * other
                    weights += weight
            out[y, x] = total / weights
    return (out,)


@loops
def rolling_zscore(returns):
    stocks, days = returns.shape
    window = 20
    score = np.empty((stocks, days - window + 1), returns.dtype)
    earned, ratio = np.empty(stocks, returns.dtype), np.empty(stocks, returns.dtype)
    for s in prange(stocks):
        price, level = np.empty(days, returns.dtype), 0.0
        for t in range(days):
            level += returns[s, t]
            price[t] = math.exp(0.01 * level)
        total = squares = gain = gain_2 = 0.0
        for t in range(days):
            total += price[t]
            squares += price[t] * price[t]
            if t >= window - 1:
                mean = total / window
                z = (price[t] - mean) / math.sqrt(max(squares / window - mean * mean, 1e-10))
                score[s, t - window + 1] = z
                if t + 1 < days:
                    made = (-1.0 if z > 1.5 else 1.0 if z < -1.5 else 0.0) * 0.01 * returns[s, t + 1]
                    gain += made
                    gain_2 += made * made
                total -= price[t - window + 1]
                squares -= price[t - window + 1] * price[t - window + 1]
        n = days - window
        earned[s] = gain
        ratio[s] = gain / n / (math.sqrt(max(gain_2 / n - (gain / n) ** 2, 0.0)) + 1e-9)
    return score, earned, ratio


@loops
def unsharp_mask(picture):
    height, width, _ = picture.shape
    weight = np.array([1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16], np.float32)
    out = np.empty_like(picture)
    for y in prange(height):
        column = np.empty((width, 3), np.float32)
        for x in range(width):
            for c in range(3):
                column[x, c] = 0
                for i in range(5):
                    column[x, c] += weight[i] * picture[min(max(y + i - 2, 0), height - 1), x, c]
        for x in range(width):
            for c in range(3):
                blurred = np.float32(0)
                for i in range(5):
                    blurred += weight[i] * column[min(max(x + i - 2, 0), width - 1), c]
                here = np.float32(picture[y, x, c])
                detail = here - blurred
                sharp = here + np.float32(0.8) * detail if abs(detail) > 3 else here
                out[y, x, c] = np.uint8(min(max(np.rint(sharp), np.float32(0)), np.float32(255)))
    return (out,)
