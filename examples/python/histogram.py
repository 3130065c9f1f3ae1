"""A histogram of a file that is larger than the memory allowed: all bins are counted while it is read once in chunks.

histogram.py 1000000000 counts a billion samples, in a file of 4 GB.
"""
import importlib.util
import math
import os
import sys
import tempfile

import tarry as ta

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
edges = [step / 4 for step in range(-16, 17)]
with ta.Scope(device="cpu"), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "samples.npy")
    ta.set_memory_limit("cpu", ta.memory_stats("cpu").live + (4 << 20))
    ta.save_npy(path, ta.random.Generator(5).normal(samples))
    x = ta.open_npy(path)

    below = ta.count_nonzero(x[:, None] < ta.asarray(edges), axis=0)
    report = ta.evaluate(below)
    ta.set_memory_limit("cpu", 0)
    del x
counts = [int(high) - int(low) for low, high in zip(below.tolist(), below.tolist()[1:])]


def expected(low, high):
    return samples * 0.5 * (math.erf(high / 2**0.5) - math.erf(low / 2**0.5))


for count, low, high in zip(counts[4:-4], edges[4:], edges[5:]):
    print(f"{low:5.2f} to {high:5.2f} {count:11,} " + "#" * (count * 50 // max(counts)))
surprise = max(abs(count - expected(low, high)) / math.sqrt(count)
               for count, low, high in zip(counts, edges, edges[1:]))
print(f"{samples:,} samples in {report.counters.chunks} chunks, {report.counters.bytes_read:,} bytes read")
print(f"the farthest bin is {surprise:.1f} standard deviations off")
assert surprise < 4.5 and report.counters.bytes_read < 4.1 * samples

if importlib.util.find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.bar(edges[:-1], counts, width=0.25, align="edge", color="tab:blue", edgecolor="white", label="counted")
    line = [low / 20 for low in range(-80, 81)]
    axis.plot(line, [samples * 0.25 * math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) for x in line],
              color="tab:red", label="expected")
    axis.set(title=f"{samples:,} samples of a file, in {report.counters.chunks} chunks", xlabel="value", ylabel="count")
    axis.legend()
    figure.savefig("histogram.png", dpi=80)
    print("histogram.png shows the counts")
else:
    print("no picture: Matplotlib is not installed")
