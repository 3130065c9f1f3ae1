"""A bank of Kalman filters: ten thousand bodies are tracked at once, and a step of all of them is one kernel."""
import tarry as ta

bodies, steps, interval = 10_000, 60, 0.1
push, blur = 0.5, 2.0  # standard deviations of the acceleration and of a measurement
g = ta.random.Generator(11)

place, speed = ta.zeros(bodies), g.normal(bodies)  # the truth
guess, rate = ta.zeros(bodies), ta.zeros(bodies)  # the filters' mean, and their covariance
p00, p01, p11 = blur**2, 0.0, 1.0
for _ in range(steps):
    kick = push * g.normal(bodies)
    place, speed = place + interval * speed + 0.5 * interval**2 * kick, speed + interval * kick
    measured = place + blur * g.normal(bodies)

    guess = guess + interval * rate
    p00 += interval * (2 * p01 + interval * p11) + push**2 * interval**4 / 4
    p01 += interval * p11 + push**2 * interval**3 / 2
    p11 += push**2 * interval**2
    gain0, gain1 = p00 / (p00 + blur**2), p01 / (p00 + blur**2)
    surprise = measured - guess
    guess, rate = guess + gain0 * surprise, rate + gain1 * surprise
    p00, p01, p11 = (1 - gain0) * p00, (1 - gain0) * p01, p11 - gain1 * p01
    report = ta.evaluate(place, speed, measured, guess, rate)


def error(x):
    return float(ta.sqrt(ta.mean((x - place) ** 2)))


print(f"{bodies:,} filters, {report.counters.kernels} kernel a step")
print(f"error of a measurement {error(measured):.3f}, of a filter {error(guess):.3f}, promised {p00**0.5:.3f}")
assert report.counters.kernels == 1 and abs(error(guess) - p00**0.5) < 0.05 * p00**0.5
