#!/usr/bin/env python3
"""The tests that take hours: 100,000 random graphs, every hidden test (sweeps over whole types, annealing), the sweeps of which
other runs take a part, an hour of hostile files for each of their readers, all mutants.

The graphs are dealt out in chunks to one process per core; all of them share one kernel cache. On a CPU each chunk takes the next
of the levels that this one can run. The result (commit, seed,
counts) goes to tests/long.json, which is committed, and the exit code is 1 if anything failed or is missing.

usage: long_test.py [--graphs 100000] [--minutes M] [--seed 1] [--jobs 2] [--device cpu|cuda] [--only graphs,hidden,files,mutants]
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
ANNEALING = "fusion: a hundred large graphs beside a minute of annealing each"
ANNEALED = 100  # graphs of that
TESTS = {"cpu": "fuzz: random graphs agree on the CPU", "cuda": "fuzz: random graphs agree on the GPU"}


def commit_of(root):
    head = subprocess.run(["git", "-C", root, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(["git", "-C", root, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True).stdout
    changed = [line for line in changed.splitlines() if not line.endswith("tests/long.json")]
    return head + ("-changed" if changed else "") if head else "unknown"


def cpu_levels():
    """Values of TARRY_CPU for this CPU: one unless it is an x86-64, or where the caller has chosen one."""
    if platform.machine() != "x86_64" or "TARRY_CPU" in os.environ:
        return [os.environ.get("TARRY_CPU", "")]
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), flags=re.M).group(1).split())
    levels = ["x86-64-v2"]
    for level, needed in (("x86-64-v3", {"avx2", "fma", "bmi1", "bmi2"}), ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})):
        if not needed <= flags:
            break
        levels.append(level)
    return levels


def run_chunk(executable, test, cache, level, seed, count):
    """(graphs that ran, failures) of one process."""
    environment = dict(os.environ, TARRY_FUZZ_GRAPHS=str(count), TARRY_FUZZ_SEED=str(seed), TARRY_CACHE_DIR=cache, TARRY_CPU=level,
                       TARRY_NUM_THREADS=os.environ.get("TARRY_NUM_THREADS", "2"))
    done = subprocess.run([executable, test], env=environment, capture_output=True, text=True)
    progress = re.findall(r": (\d+) graphs, .* per second, (\d+) failures", done.stderr)
    ran, failures = (int(progress[-1][0]), int(progress[-1][1])) if progress else (0, 0)
    if done.returncode:
        print(f"graphs from seed {seed} {level}\n{(done.stdout + done.stderr)[-4000:]}", flush=True)
        failures = max(failures, 1)  # a crash is one
    return ran, failures


def all_graphs(executable, options):
    start = time.monotonic()
    first = list(range(0, options.graphs, CHUNK))
    levels = cpu_levels() if options.device == "cpu" else [os.environ.get("TARRY_CPU", "")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as cache:

        def chunk(k):
            if options.minutes and time.monotonic() - start > 60 * options.minutes:
                return 0, 0
            level = levels[k // CHUNK % len(levels)]
            return run_chunk(executable, TESTS[options.device], cache, level, options.seed + k, min(CHUNK, options.graphs - k))

        results = list(pool.map(chunk, first))
    return {"device": options.device, "levels": levels, "seed": options.seed, "graphs": sum(r[0] for r in results),
            "failures": sum(r[1] for r in results), "seconds": round(time.monotonic() - start)}


SWEEPS = "[sweep]~[.]"  # tests/helpers/sweep.h


def hidden_test(executable, name, first=None, count=None):
    """One hidden test, or its part of the graphs from number `first`; or all whole sweeps."""
    environment = dict(os.environ, TARRY_WHOLE_SWEEPS="1")
    if first is not None:
        environment.update(TARRY_TEST_FIRST=str(first), TARRY_TEST_GRAPHS=str(count))
    start = time.monotonic()
    done = subprocess.run([executable, name.replace(",", "\\,")], capture_output=True, text=True, env=environment)
    counted = re.search(r"(\d+) assertions?", done.stdout)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], flush=True)
    return {"test": name, "passed": done.returncode == 0, "assertions": int(counted.group(1)) if counted else 0,
            "seconds": round(time.monotonic() - start), "ratios": re.findall(r"^graph \d+ of .* nodes: ([\d.]+)$", done.stdout, flags=re.M)}


def hidden_tests(executable, jobs):
    """Every hidden test, side by side; the graphs of ANNEALING are dealt out, as each takes a minute."""
    names = subprocess.run([executable, "[.]", "--list-test-names-only"], capture_output=True, text=True).stdout.splitlines()
    names = list(filter(None, map(str.strip, names)))
    share = -(-ANNEALED // jobs)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        parts = [pool.submit(hidden_test, executable, ANNEALING, i, min(share, ANNEALED - i)) for i in range(0, ANNEALED, share)]
        whole = [pool.submit(hidden_test, executable, name) for name in [SWEEPS, *names] if name != ANNEALING]
        for part in whole:
            result = part.result()
            del result["ratios"]
            yield result
        done = [part.result() for part in parts]
    ratios = sorted(float(r) for d in done for r in d["ratios"])
    yield {"test": ANNEALING, "passed": all(d["passed"] for d in done) and len(ratios) == ANNEALED, "graphs": len(ratios),
           "within a tenth": sum(r <= 1.1 for r in ratios), "median": ratios[len(ratios) // 2] if ratios else None,
           "worst": ratios[-1] if ratios else None, "assertions": sum(d["assertions"] for d in done), "seconds": sum(d["seconds"] for d in done)}


def hostile_files(build, seconds, seed, jobs):
    """An hour of mutated files for every reader of files (tests/fuzz_targets)."""
    def one(program):
        done = subprocess.run([program.resolve(), "--seconds", str(seconds), "--seed", str(seed)], capture_output=True, text=True, cwd=build)
        counted = re.search(r"(\d+) mutations", done.stdout)
        if done.returncode:
            print(program.name, done.stderr[-4000:], flush=True)
        return {"target": program.name, "passed": done.returncode == 0, "seconds": seconds, "mutations": int(counted.group(1)) if counted else 0}

    programs = sorted(p for p in (build / "bin").glob("fuzz_*") if not p.name.endswith("_libfuzzer"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, programs))


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
    parser.add_argument("--fuzz-seconds", type=float, default=3600, help="for each reader of files")
    parser.add_argument("--only", default="graphs,hidden,files,mutants")
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
        tests = list(hidden_tests(executable, options.jobs))
        failed |= not all(t["passed"] for t in tests)
        result["hidden"] = head | {"tests": tests}
    if "files" in parts:
        files = hostile_files(options.build, options.fuzz_seconds, options.seed, options.jobs)
        failed |= not files or not all(f["passed"] for f in files)
        result["files"] = head | {"seed": options.seed, "targets": files}
    if "mutants" in parts:
        planted = mutants(options)
        failed |= not planted or not all(m.get("graphs") for m in planted)
        result["mutants"] = head | {"caught": sum(bool(m.get("graphs")) for m in planted), "planted": planted}
    output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"long tests: {'FAILED' if failed else 'passed'}, see {output}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
