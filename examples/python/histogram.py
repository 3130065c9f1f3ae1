"""A histogram of a file that is larger than the memory allowed: all bins are counted while it is read once in chunks."""
import math
import os
import tempfile

import tarry as ta

samples = 4_000_000
edges = list(range(-3, 4))
with ta.Scope(device="cpu"), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "samples.npy")
    ta.save_npy(path, ta.random.Generator(5).normal(samples))
    x = ta.open_npy(path)
    ta.trim("cpu")
    ta.set_memory_limit("cpu", ta.memory_stats("cpu").live + (4 << 20))

    below = [ta.count_nonzero(x < edge) for edge in edges]
    report = ta.evaluate(below)
    ta.set_memory_limit("cpu", 0)
    del x
counts = [int(high) - int(low) for low, high in zip(below, below[1:])]


def expected(low, high):
    return samples * 0.5 * (math.erf(high / 2**0.5) - math.erf(low / 2**0.5))


for count, low, high in zip(counts, edges, edges[1:]):
    print(f"{low:3} to {high:2} {count:9,} " + "#" * (count * 60 // max(counts)))
surprise = max(abs(count - expected(low, high)) / math.sqrt(count)
               for count, low, high in zip(counts, edges, edges[1:]))
print(f"{samples:,} samples in {report.counters.chunks} chunks, {report.counters.bytes_read:,} bytes read")
print(f"the farthest bin is {surprise:.1f} standard deviations off")
assert surprise < 4 and report.counters.bytes_read < 4.1 * samples
