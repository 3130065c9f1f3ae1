"""Prices and deltas of European options over all strikes and maturities, in one formula that writes each once."""
import importlib.util

import numpy as np
import tarry as ta

spot, rate, volatility = 100.0, 0.05, 0.2
strike = ta.linspace(50, 150, 401, dtype=ta.float64)
years = ta.linspace(0.05, 2, 391, dtype=ta.float64)[:, None]


def normal(x):
    return 0.5 * (1 + ta.erf(x / 2**0.5))


deviation = volatility * ta.sqrt(years)
d1 = ta.log(spot / strike) / deviation + (rate + volatility**2 / 2) * years / deviation
discounted = strike * ta.exp(-rate * years)
call = spot * normal(d1) - discounted * normal(d1 - deviation)
put = discounted * normal(deviation - d1) - spot * normal(-d1)
delta = normal(d1)
report = ta.evaluate(call, put, delta)

print(f"{call.size:,} calls, puts and deltas: {report.counters.bytes_temporary:,} bytes of temporaries, of strikes and "
      f"maturities alone; {report.counters.bytes_written:,} bytes written")
print("       " + "".join(f"{k:8.0f}" for k in strike[::100].tolist()))
for row in range(0, 391, 130):
    print(f"{float(years[row, 0]):6.2f} " + "".join(f"{price:8.3f}" for price in call[row, ::100].tolist()))
parity = float(ta.max(ta.abs(call - put - (spot - discounted))))
print(f"call - put differs from spot - strike by at most {parity:.1e}")
assert abs(float(call[190, 200]) - 10.450584) < 1e-6 and parity < 1e-12  # a year, at the money

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    strikes, times, prices = (np.asarray(part) for part in (strike[::8], years[::6], call[::6, ::8]))
    colours = plt.get_cmap("viridis")(np.asarray(delta[::6, ::8]))
    figure, axis = plt.subplots(figsize=(7, 5.5), layout="constrained", subplot_kw={"projection": "3d"})
    axis.plot_surface(strikes, times, prices, facecolors=colours, rstride=1, cstride=1, shade=False)
    axis.set(title="Prices of calls, spot at 100", xlabel="strike", ylabel="years", zlabel="price")
    axis.view_init(28, 40)
    figure.colorbar(plt.cm.ScalarMappable(cmap="viridis"), ax=axis, label="delta", shrink=0.6)
    figure.savefig("options.png", dpi=80)
    print("options.png shows prices and deltas")
else:
    print("no picture: Matplotlib is not installed")
