#!/usr/bin/env python3
"""Runs every program a few steps and compares its results with those of NumPy in float64: check.py TARRY_PROGRAMS
[NAME ...] [--size small] [--device cpu], or check.py --self-test. Exit code 77: there is no NumPy.

Errors are relative to the largest element of a result. Where rounding may decide (a flip, a nearest centre, a byte),
UNDECIDED elements in a thousand may differ.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: there is no NumPy")
    sys.exit(77)

from peers import Reference, load

ALLOWED = {"float32": 2e-5, "float64": 1e-11}
UNDECIDED = 5  # elements in a thousand
STEPS = 3


def expected(row, size):
    """The results of NumPy after as many steps."""
    peer = Reference(size, row["dtype"])
    step, arrays = load(row["w"]).step, peer.inputs(row)
    for _ in range(STEPS):
        results = step(np, peer, *arrays)
        arrays[: row["state"]] = results[: row["state"]]
    return results


def error(got, want, allowed):
    """The largest error of a result, those that may differ left out."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    scale = max(float(np.max(np.abs(want.astype(np.float64)), initial=0)), 1e-30)
    errors = np.sort(np.abs(got.astype(np.float64) - want.astype(np.float64)).reshape(-1)) / scale
    if not np.all(np.isfinite(errors)):
        return "not finite"
    left = errors[: max(1, errors.size - errors.size * UNDECIDED // 1000)]
    return "" if left[-1] <= allowed else f"error {left[-1]:.2g}, allowed {allowed:.2g}"


def self_test():
    """Results that must not pass do not."""
    want = np.linspace(1, 2, 1000)
    few, many = want.copy(), want.copy()
    few[:UNDECIDED], many[: UNDECIDED + 1] = 5, 5
    good = [want, want + 1e-9, few]
    bad = [want[:-1], want + 1e-3, many, np.where(want > 1.5, np.nan, want)]
    wrong = [x for x in good if error(x, want, 1e-6)] + [x for x in bad if not error(x, want, 1e-6)]
    print(f"self-test: {len(good) + len(bad)} results, {len(wrong)} taken for something else")
    return len(wrong)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="tarry_programs")
    parser.add_argument("names", nargs="*", help="only programs of these names")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--size", default="small")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [options.program, "--json", "--device", options.device, "--size", options.size]
        command += ["--steps", str(STEPS), "--save", folder, *options.names]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        failed = 0 if rows else 1
        for row in rows:
            wrong = [row["err"]] if "err" in row else []
            if not wrong:
                allowed = getattr(load(row["w"]), "ALLOWED", ALLOWED)[row["dtype"]]
                size = "small" if options.size == "small" else options.device
                for i, want in enumerate(expected(row, size)):
                    got = np.load(f"{folder}/{row['w']}.{row['dtype']}.{i}.npy")
                    problem = error(got, want, allowed)
                    wrong += [f"result {i}: {problem}"] if problem else []
            failed += bool(wrong)
            print(f"{row['w']:<20}{row['dtype']:<9}{'; '.join(wrong) or 'right'}", flush=True)
    return 1 if failed or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
