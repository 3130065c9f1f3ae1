#!/usr/bin/env python3
"""Compiles each public header alone, twice included, and measures what <tarry/tarry.h> costs a user.

usage: check_headers.py [--compiler CXX] [--limit SECONDS] INCLUDE_DIR
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
         "-Wno-sign-conversion", "-Werror", "-x", "c++", "-"]


def compile_text(compiler, include, text):
    """CPU seconds of one compilation; exits with the compiler's words where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([compiler, "-I", include, *FLAGS], input=text, text=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{text}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--limit", type=float, default=1.6,
                        help="what <tarry/tarry.h> may cost, as a multiple of the standard headers that it includes")
    parser.add_argument("include")
    options = parser.parse_args()

    headers = sorted(pathlib.Path(options.include, "tarry").glob("*.h"))
    for header in headers:
        compile_text(options.compiler, options.include, f"#include <tarry/{header.name}>\n" * 2)
    # Seconds depend on the machine, and on what else runs there: the standard headers alone are the yardstick, compiled in
    # turn, and the least of several counts, since other work only ever adds.
    standard = sorted({line for header in headers for line in header.read_text(encoding="utf-8").splitlines()
                       if re.match(r"#include <[a-z_]+>$", line)})
    costs, yardsticks = [], []
    for _ in range(7):
        costs.append(compile_text(options.compiler, options.include, "#include <tarry/tarry.h>\n"))
        yardsticks.append(compile_text(options.compiler, options.include, "\n".join(standard) + "\n"))
    cost, yardstick = min(costs), min(yardsticks)
    print(f"headers: {len(headers)} stand alone; <tarry/tarry.h> compiles in {cost:.2f} s, "
          f"{cost / yardstick:.2f} times its standard headers (limit {options.limit:.2f})")
    sys.exit(0 if cost <= options.limit * yardstick else "headers: <tarry/tarry.h> is too dear")


if __name__ == "__main__":
    main()
