#!/usr/bin/env python3
"""The tests that take hours: 100,000 random graphs, every hidden test (sweeps over whole types, annealing), all mutants.

The graphs are dealt out in chunks to one process per core; all of them share one kernel cache. The result (commit, seed,
counts) goes to tests/long.json, which is committed, and the exit code is 1 if anything failed or is missing.

usage: long_test.py [--graphs 100000] [--minutes M] [--seed 1] [--jobs 2] [--device cpu|cuda] [--only graphs,hidden,mutants]
                    [--commit ID] ROOT BUILD
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

CHUNK = 256  # graphs per process
TESTS = {"cpu": "fuzz: random graphs agree on the CPU", "cuda": "fuzz: random graphs agree on the GPU"}


def commit_of(root):
    head = subprocess.run(["git", "-C", root, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(["git", "-C", root, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True).stdout
    changed = [line for line in changed.splitlines() if not line.endswith("tests/long.json")]
    return head + ("-changed" if changed else "") if head else "unknown"


def run_chunk(executable, test, cache, seed, count):
    """(graphs that ran, failures) of one process."""
    environment = dict(os.environ, TARRY_FUZZ_GRAPHS=str(count), TARRY_FUZZ_SEED=str(seed), TARRY_CACHE_DIR=cache,
                       TARRY_NUM_THREADS=os.environ.get("TARRY_NUM_THREADS", "2"))
    done = subprocess.run([executable, test], env=environment, capture_output=True, text=True)
    progress = re.findall(r": (\d+) graphs, .* per second, (\d+) failures", done.stderr)
    ran, failures = (int(progress[-1][0]), int(progress[-1][1])) if progress else (0, 0)
    if done.returncode:
        print(f"graphs from seed {seed}\n{(done.stdout + done.stderr)[-4000:]}", flush=True)
        failures = max(failures, 1)  # a crash is one
    return ran, failures


def all_graphs(executable, options):
    start = time.monotonic()
    first = list(range(0, options.graphs, CHUNK))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as cache:

        def chunk(k):
            if options.minutes and time.monotonic() - start > 60 * options.minutes:
                return 0, 0
            return run_chunk(executable, TESTS[options.device], cache, options.seed + k, min(CHUNK, options.graphs - k))

        results = list(pool.map(chunk, first))
    return {"device": options.device, "seed": options.seed, "graphs": sum(r[0] for r in results),
            "failures": sum(r[1] for r in results), "seconds": round(time.monotonic() - start)}


def hidden_tests(executable):
    names = subprocess.run([executable, "[.]", "--list-test-names-only"], capture_output=True, text=True).stdout.splitlines()
    for name in filter(None, map(str.strip, names)):
        start = time.monotonic()
        done = subprocess.run([executable, name.replace(",", "\\,")], capture_output=True, text=True)
        counted = re.search(r"(\d+) assertions?", done.stdout)
        if done.returncode:
            print(done.stdout[-4000:], done.stderr[-4000:])
        yield {"test": name, "passed": done.returncode == 0, "assertions": int(counted.group(1)) if counted else 0,
               "seconds": round(time.monotonic() - start)}


def mutants(options):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        script = pathlib.Path(__file__).with_name("check_mutants.py")
        subprocess.run([sys.executable, script, "--jobs", str(options.jobs), "--json", file.name, options.root, options.build])
        return json.loads(pathlib.Path(file.name).read_text(encoding="utf-8") or "[]")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=0, help="start no graphs after that long; 0: all")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400 * 1_000_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", choices=TESTS, default="cpu")
    parser.add_argument("--only", default="graphs,hidden,mutants")
    parser.add_argument("--commit", default=None)
    parser.add_argument("--output", type=pathlib.Path, default=None)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    executable = str((options.build / "bin/tarry_tests").resolve())
    output = options.output or options.root / "tests/long.json"
    parts = options.only.split(",")

    result = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    head = {"commit": options.commit or commit_of(options.root), "date": datetime.date.today().isoformat(),
            "machine": platform.machine(), "cores": os.cpu_count()}
    failed = False
    if "graphs" in parts:
        graphs = all_graphs(executable, options)
        failed |= graphs["failures"] > 0 or graphs["graphs"] < options.graphs
        result[f"graphs_{options.device}"] = head | graphs
    if "hidden" in parts:
        tests = list(hidden_tests(executable))
        failed |= not all(t["passed"] for t in tests)
        result["hidden"] = head | {"tests": tests}
    if "mutants" in parts:
        planted = mutants(options)
        failed |= not planted or not all(m.get("graphs") for m in planted)
        result["mutants"] = head | {"caught": sum(bool(m.get("graphs")) for m in planted), "planted": planted}
    output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"long tests: {'FAILED' if failed else 'passed'}, see {output}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
