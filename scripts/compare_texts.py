#!/usr/bin/env python3
"""Compares what two builds make of random programs: plans, bytes, launch geometries, arguments and the keys of kernels
(which hash their texts), for six targets.

usage: compare_texts.py [--graphs 2000] BUILD OTHER_BUILD
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def texts(build, graphs, file):
    environment = dict(os.environ, TARRY_FUZZ_GRAPHS=str(graphs), TEXTS_FILE=str(file), TARRY_CACHE_DIR="off")
    subprocess.run([build / "bin/tarry_tests", "[.texts]"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return file.read_text(encoding="utf-8").splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("builds", nargs=2, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one, other = (texts(build.resolve(), options.graphs, pathlib.Path(folder) / str(i)) for i, build in enumerate(options.builds))
    kernels = sum(line.startswith("  ") for line in one)
    different = [(a, b) for a, b in zip(one, other) if a != b]
    for a, b in different[:5]:
        print(f"- {a}\n+ {b}")
    if len(one) != len(other):
        print(f"{len(one)} lines, {len(other)} lines")
    print(f"texts: {options.graphs} programs, {kernels} kernels, {len(different)} lines differ")
    sys.exit(bool(different) or len(one) != len(other))


if __name__ == "__main__":
    main()
