"""A bank of Kalman filters: ten thousand bodies are tracked for five hundred steps, in one kernel."""
import importlib.util

import numpy as np
import tarry as ta

bodies, steps, interval = 10_000, 500, 0.1
push, blur = 0.5, 2.0  # standard deviations of the acceleration and of a measurement
g = ta.random.Generator(11)


def step(state, noise):
    """The truth moves on; the filter predicts, and corrects itself by what it measures."""
    place, speed, guess, rate, p00, p01, p11 = state
    kick, error = push * noise[0], blur * noise[1]
    place, speed = place + interval * speed + 0.5 * interval**2 * kick, speed + interval * kick

    guess = guess + interval * rate
    p00 = p00 + (interval * (2 * p01 + interval * p11) + push**2 * interval**4 / 4)
    p01 = p01 + (interval * p11 + push**2 * interval**3 / 2)
    p11 = p11 + push**2 * interval**2
    gain0, gain1 = p00 / (p00 + blur**2), p01 / (p00 + blur**2)
    surprise = place + error - guess
    guess, rate = guess + gain0 * surprise, rate + gain1 * surprise
    state = place, speed, guess, rate, (1 - gain0) * p00, (1 - gain0) * p01, p11 - gain1 * p01
    return state, (place, place + error, guess)


start = (ta.zeros(bodies), g.normal(bodies), ta.zeros(bodies), ta.zeros(bodies),
         ta.full(bodies, blur**2), ta.zeros(bodies), ta.ones(bodies))
noise = g.normal((steps, bodies)), g.normal((steps, bodies))
state, _ = ta.scan(step, start, noise)
report = ta.evaluate(*state)
place, _, guess, _, p00, _, _ = state
error, promised = float(ta.sqrt(ta.mean((guess - place) ** 2))), float(p00[0]) ** 0.5

print(f"{bodies:,} filters, {steps} steps, {report.counters.kernels} kernel")
print(f"error of a measurement {blur:.3f}, of a filter {error:.3f}, promised {promised:.3f}")
assert report.counters.kernels == 1 and abs(error - promised) < 0.05 * promised

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    few = tuple(part[:3] for part in start)
    _, paths = ta.scan(step, few, tuple(part[:, :3] for part in noise))
    place, measured, guess = (np.asarray(path)[:200] for path in paths)
    seconds = interval * np.arange(len(place))
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for body, axis in enumerate(axes):
        axis.plot(seconds, measured[:, body], ".", color="0.7", markersize=4, label="measured")
        axis.plot(seconds, place[:, body], color="black", linewidth=1, label="true")
        axis.plot(seconds, guess[:, body], color="tab:red", label="filter")
        axis.set(title=f"Body {body + 1} of {bodies:,}", xlabel="seconds")
    axes[0].set_ylabel("place")
    axes[0].legend()
    figure.savefig("kalman.png", dpi=80)
    print("kalman.png shows three of the bodies")
else:
    print("no picture: Matplotlib is not installed")
