#!/usr/bin/env python3
"""Plants the faults of tests/mutants/*.mutant one by one and checks that the fuzzer finds each.

A mutant is a text file: its first line says what is wrong, the second names a source file, then the original text between
`--- original` and `--- mutant`, and what replaces it after that. The mutated file is compiled alone, linked with the
objects of the build, and random graphs run until one fails.

usage: check_mutants.py [--graphs 1000] [--seed 1] [--filter NAME] [--jobs N] [--json FILE] ROOT BUILD
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time


def parse(path):
    head, _, rest = path.read_text(encoding="utf-8").partition("--- original\n")
    original, _, mutant = rest.partition("--- mutant\n")
    description, file = head.strip().splitlines()
    return description, file, original.rstrip("\n"), mutant.rstrip("\n")


def link_command(build):
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "tarry_tests"], check=True, capture_output=True, text=True)
    return commands.stdout.strip().splitlines()[-1]


def compile_command(build, source):
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if pathlib.Path(entry["file"]) == source:
            return entry
    sys.exit(f"{source} is not compiled by {build}")


def fuzz(executable, options, cache):
    """(graphs run when the first failure was printed, how it failed), or (None, "") where all graphs agree."""
    environment = dict(os.environ, TARRY_FUZZ_GRAPHS=str(options.graphs), TARRY_FUZZ_SEED=str(options.seed), TARRY_FUZZ_STOP="1",
                       TARRY_CACHE_DIR=cache)
    try:
        done = subprocess.run([executable, "fuzz: random graphs agree on the CPU"], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return options.graphs, "hangs"
    found = re.search(r"^seed (\d+): (.*)", done.stdout + done.stderr, flags=re.M)
    if found:
        return int(found.group(1)) - options.seed + 1, found.group(2)[:100]
    return (options.graphs, "crashes") if done.returncode else (None, "")


def run(options, path, cache):
    description, file, original, mutant = parse(path)
    source = options.root / file
    text = source.read_text(encoding="utf-8")
    if text.count(original) != 1:
        return {"mutant": path.stem, "what": description, "error": f"the original text stands {text.count(original)} times in {file}"}
    entry = compile_command(options.build, source)
    with tempfile.TemporaryDirectory() as folder:
        # Beside its headers' root, so that includes mean what they meant.
        mutated = pathlib.Path(folder) / source.name
        mutated.write_text(text.replace(original, mutant), encoding="utf-8")
        result = pathlib.Path(folder) / "mutant.o"
        words = shlex.split(entry["command"])
        index = words.index("-o")
        old = words[index + 1]
        words[index + 1] = str(result)
        words = [str(mutated) if pathlib.Path(w) == source else w for w in words]
        words = [w for w in words if w not in ("-Werror",)]
        done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
        if done.returncode:
            return {"mutant": path.stem, "what": description, "error": "does not compile\n" + done.stderr}
        executable = pathlib.Path(folder) / "tarry_tests"
        command = link_command(options.build).replace(old, str(result)).replace("-o bin/tarry_tests", f"-o {executable}")
        subprocess.run(command, shell=True, cwd=options.build, check=True)
        start = time.monotonic()
        graphs, how = fuzz(str(executable), options, cache)
        return {"mutant": path.stem, "what": description, "graphs": graphs, "how": how, "seconds": round(time.monotonic() - start, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="", help="a part of the names to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds until a run counts as hanging")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    options.root, options.build = options.root.resolve(), options.build.resolve()
    results = []
    # One cache for all: keys are the text of kernels, so a mutant finds those that it does not change.
    with tempfile.TemporaryDirectory() as folder:
        cache = os.environ.get("TARRY_CACHE_DIR", folder)
        graphs, how = fuzz(str(options.build / "bin/tarry_tests"), options, cache)
        if graphs:
            sys.exit(f"graph {graphs} fails without a mutant: {how}")
        paths = [p for p in sorted((options.root / "tests/mutants").glob("*.mutant")) if options.filter in p.stem]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for r in pool.map(lambda path: run(options, path, cache), paths):
                results.append(r)
                state = r.get("error") or (f"caught after {r['graphs']} graphs, {r['seconds']} s: {r['how']}" if r["graphs"] else "NOT CAUGHT")
                print(f"{r['mutant']}: {r['what']}: {state}", flush=True)
    missed = [r for r in results if not r.get("graphs")]
    print(f"mutants: {len(results)}, {len(missed)} not caught")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if missed or not results else 0)


if __name__ == "__main__":
    main()
