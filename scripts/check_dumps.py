#!/usr/bin/env python3
"""Checks that dumped kernels are programs: each file compiles alone, and what its main() computes is what the engine does.

build: makes the kernels of all operations, dtypes and schedules for a GPU architecture, without a GPU, and compiles each
       with nvcc into FOLDER. A kernel of one formula of tests/runtime/observe/dump_programs.cpp is then FOLDER/NAME.
       With --part 3 a third of them, another one each day.
run:   evaluates those formulas on a device and runs the kernels that were dumped meanwhile (cpu: built with the C compiler;
       cuda: built with nvcc, or taken from --programs FOLDER where `build` has put them), then compares checksums.
       With --examples BIN the kernels of the example programs are built and run too.

usage: check_dumps.py build TESTS FOLDER [--arch sm_90] [--part N] [--nvcc NVCC] [--jobs N]
       check_dumps.py run TESTS [--device cpu|cuda] [--programs FOLDER] [--examples BIN] [--nvcc NVCC] [--jobs N]
       check_dumps.py --self-test
TESTS is the test executable (build/release/bin/tarry_tests).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

NEEDED_RUNS = 3  # fewer comparisons than that prove nothing
EXAMPLES = {
    "quickstart": [],
    "black_scholes": ["--n", "10007", "--repeat", "1", "--json"],
    "standard_deviation": ["--n", "10007", "--repeat", "1", "--json"],
    "softmax_layernorm": ["--n", "10000", "--columns", "1000", "--repeat", "1", "--json"],
    "smoothing": ["--n", "61", "--repeat", "1", "--json"],
}


def find_nvcc(wanted):
    return wanted or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def child(tests, name, folder, **settings):
    """Runs a child program of the tests with dumps going to `folder`; its output."""
    environment = {**os.environ, "TARRY_TEST_CHILD": name, "TARRY_DUMP": "source", "TARRY_DUMP_DIR": str(folder), **settings}
    result = subprocess.run([str(tests)], env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{name} failed: {result.stderr.strip()}")
    return result.stdout


def compile_file(source, program, nvcc):
    """Builds a dumped file as its build line says; "" or what went wrong."""
    line = re.search(r"^// build: (.+)$", source.read_text(encoding="utf-8"), flags=re.M)
    if not line:
        return f"{source.name}: no build line"
    command = shlex.split(line.group(1))
    command[0] = nvcc if command[0] == "nvcc" else os.environ.get("TARRY_CC") or command[0]
    command[-2:] = [str(program), str(source)]
    result = subprocess.run(command, capture_output=True, text=True)
    said = (result.stdout + result.stderr).strip()
    return f"{source.name}: does not compile\n{said}" if result.returncode else ""


def compile_all(sources, folder, nvcc, jobs):
    """Problems of compiling all of them, into `folder`."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [p for p in pool.map(lambda s: compile_file(s, folder / s.stem, nvcc), sources) if p]


def checksums(program):
    """The checksums that a dumped program prints, or None where it fails."""
    result = subprocess.run([str(program)], capture_output=True, text=True)
    found = re.findall(r"^b\d+ \w+ \d+ bytes fnv1a ([0-9a-f]{16})$", result.stdout, flags=re.M)
    return found if result.returncode == 0 else None


def compare(engine, folder):
    """Problems of the programs in `folder`; `engine` has lines "formula kernel checksum"."""
    problems, runs = [], 0
    for formula, kernel, expected in (line.split() for line in engine.splitlines()):
        if kernel == "-":
            problems.append(f"{formula}: not one kernel")
        elif not (folder / kernel).exists():
            problems.append(f"{formula}: no program {kernel}")
        elif (found := checksums(folder / kernel)) != [expected]:
            problems.append(f"{formula}: {kernel} gives {found}, the engine {expected}")
        else:
            runs += 1
    if runs < NEEDED_RUNS:
        problems.append(f"only {runs} kernels agree with the engine, at least {NEEDED_RUNS} must")
    return problems, runs


def build(options):
    nvcc = find_nvcc(options.nvcc)
    if not nvcc:
        print("dumps: no nvcc here, nothing built (the unit tests compile the same files with NVRTC)")
        return []
    options.folder.mkdir(parents=True, exist_ok=True)
    for stale in options.folder.glob("*.cu"):
        stale.unlink()
    child(options.tests, "dump_everything", options.folder, TARRY_TEST_TARGET=options.arch)
    sources = sorted(options.folder.glob("*.cu"))
    part = sources[int(time.time()) // 86400 % options.part::options.part]
    problems = compile_all(part, options.folder, nvcc, options.jobs)
    if len(sources) < 40:
        problems.append(f"only {len(sources)} CUDA files were dumped")
    print(f"dumps: {len(part)} of {len(sources)} CUDA files compiled for {options.arch}")
    return problems


def run_examples(options, folder):
    """Every kernel of the examples compiles and runs; the lines of the index name files that are there."""
    problems, count = [], 0
    for name, arguments in EXAMPLES.items():
        place = folder / name
        environment = {**os.environ, "TARRY_DUMP": "source", "TARRY_DUMP_DIR": str(place), "TARRY_DEVICE": options.device}
        if subprocess.run([options.examples / name, *arguments], env=environment, capture_output=True, cwd=folder).returncode:
            problems.append(f"{name}: the example fails while it dumps")
            continue
        index = [json.loads(line) for line in (place / "index.jsonl").read_text(encoding="utf-8").splitlines()]
        sources = sorted({place / line["file"] for line in index})
        problems += [f"{name}: {s.name} stands in the index and is missing" for s in sources if not s.exists()]
        sources = [s for s in sources if s.exists()]
        problems += compile_all(sources, place, find_nvcc(options.nvcc), options.jobs)
        problems += [f"{name}: {s.stem} does not run" for s in sources if (place / s.stem).exists() and not checksums(place / s.stem)]
        count += len(sources)
    print(f"dumps: {count} kernels of {len(EXAMPLES)} examples built and run")
    return problems


def run(options):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        engine = child(options.tests, "dump_runs", folder, TARRY_DEVICE=options.device)
        programs, problems = options.programs or folder, []
        if not options.programs:
            sources = sorted(folder.glob("*.cu" if options.device.startswith("cuda") else "*.c"))
            nvcc = find_nvcc(options.nvcc)
            if options.device.startswith("cuda") and not nvcc:
                sys.exit("no nvcc here: build the programs elsewhere and name their folder with --programs")
            problems = compile_all(sources, folder, nvcc, options.jobs)
        different, runs = compare(engine, programs)
        print(f"dumps: {runs} kernels run alone on {options.device} give the engine's bits")
        problems += different
        if options.examples:
            problems += run_examples(options, folder)
    return problems


SOURCE = """// build: cc -DTARRY_MAIN -o {0} {0}.c
#include <stdio.h>
int main(void) {{ printf("b0 f32 4 bytes fnv1a %s\\n", "{1}"); return {2}; }}
"""


def self_test():
    right, wrong = "0123456789abcdef", "fedcba9876543210"
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, text in {
            "a": SOURCE.format("a", right, 0), "b": SOURCE.format("b", right, 0), "c": SOURCE.format("c", right, 0),
            "different": SOURCE.format("different", wrong, 0), "failing": SOURCE.format("failing", right, 1),
            "broken": SOURCE.format("broken", right, "}"), "bare": "int main(void) { return 0; }\n",
        }.items():
            (folder / f"{name}.c").write_text(text, encoding="utf-8")
        found = compile_all(sorted(folder.glob("*.c")), folder, None, 2)
        assert len(found) == 2 and "bare.c: no build line" in found[0] and "broken.c: does not compile" in found[1], found
        lines = "".join(f"{k} {k} {right}\n" for k in "abc")
        assert compare(lines, folder) == ([], 3)
        for planted, complaint in [("x different", "the engine"), ("x failing", "gives None"), ("x -", "not one kernel"),
                                   ("x gone", "no program gone")]:
            problems, _ = compare(f"{lines}{planted} {right}\n", folder)
            assert len(problems) == 1 and complaint in problems[0], (planted, problems)
        assert "only 2 kernels" in compare("".join(lines.splitlines(True)[:2]), folder)[0][0]
    print("dumps: 7 planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, action in {"build": build, "run": run}.items():
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("tests", type=pathlib.Path)
        command.add_argument("--nvcc")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        if action is build:
            command.add_argument("folder", type=pathlib.Path)
            command.add_argument("--arch", default="sm_90")
            command.add_argument("--part", type=int, default=1)
        else:
            command.add_argument("--device", default="cpu")
            command.add_argument("--programs", type=pathlib.Path)
            command.add_argument("--examples", type=pathlib.Path)
    options = parser.parse_args()
    options.tests = options.tests.resolve()
    for folder in ("folder", "programs", "examples"):
        if getattr(options, folder, None):
            setattr(options, folder, getattr(options, folder).resolve())
    problems = options.action(options)
    print("\n".join(problems + [f"dumps: {len(problems)} problems"]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
