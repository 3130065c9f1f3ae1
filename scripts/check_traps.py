#!/usr/bin/env python3
"""Compiles the sections of tests/traps/traps.cpp: a trap must be refused with the message it names, the rest must pass.

usage: check_traps.py [--compiler g++] ROOT
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

PREAMBLE = """#include <tarry/tarry.h>
#include <vector>
void trap(tarry::Array& x, tarry::Array& y, tarry::Array& k) {{
  (void)x, (void)y, (void)k;
#line 1 "{name}"
{body}
}}
"""


def sections(text):
    for part in re.split(r"^//== ", text, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        name, _, pattern = head.partition(" : ")
        yield name, pattern, body


def problem(compiler, include, name, pattern, body):
    command = [compiler, "-std=c++20", "-Werror=unused-result", "-fsyntax-only", "-I", include, "-x", "c++", "-"]
    done = subprocess.run(command, input=PREAMBLE.format(name=name, body=body), capture_output=True, text=True)
    if pattern == "compiles":
        return f"{name}: does not compile\n{done.stderr}" if done.returncode else None
    if not done.returncode:
        return f"{name}: compiles"
    return None if re.search(pattern, done.stderr) else f"{name}: refused, but without /{pattern}/\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    rows = list(sections((options.root / "tests/traps/traps.cpp").read_text(encoding="utf-8")))
    include = str(options.root / "include")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = [p for p in pool.map(lambda row: problem(options.compiler, include, *row), rows) if p]
    print("\n".join(found + [f"traps: {len(rows)} sections, {len(found)} problems"]))
    sys.exit(1 if found or not rows else 0)


if __name__ == "__main__":
    main()
