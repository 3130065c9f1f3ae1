#!/usr/bin/env python3
"""Compiles each public header alone, twice included, and measures what <tarry/tarry.h> costs a user.

usage: check_headers.py [--compiler CXX] [--limit SECONDS] INCLUDE_DIR
"""
import argparse
import pathlib
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
    parser.add_argument("--limit", type=float, default=0.5, help="CPU seconds that <tarry/tarry.h> may cost")
    parser.add_argument("include")
    options = parser.parse_args()

    headers = sorted(pathlib.Path(options.include, "tarry").glob("*.h"))
    for header in headers:
        compile_text(options.compiler, options.include, f"#include <tarry/{header.name}>\n" * 2)
    # The least of several: other work on the machine only ever adds.
    cost = min(compile_text(options.compiler, options.include, "#include <tarry/tarry.h>\n") for _ in range(5))
    print(f"headers: {len(headers)} stand alone; <tarry/tarry.h> compiles in {cost:.2f} s (limit {options.limit:.2f} s)")
    sys.exit(0 if cost <= options.limit else "headers: <tarry/tarry.h> is too dear")


if __name__ == "__main__":
    main()
