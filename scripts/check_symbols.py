#!/usr/bin/env python3
"""Checks what a shared library with Tarry in it exports: the public names of tarry::v0 and of no room below it.

usage: check_symbols.py LIBRARY
"""
import re
import subprocess
import sys

# Weak symbols of templates of the standard library and of headers are merged by name in every C++ program.
INTERNAL = re.compile(r"\btarry::(support|graph|codegen|cache|runtime)::|\b(fmt|spdlog|boost)::v?\d*")


def main():
    listing = subprocess.run(["nm", "-DC", "--defined-only", sys.argv[1]], check=True, capture_output=True, text=True)
    names = [(line.split()[1], line.split(None, 2)[2]) for line in listing.stdout.splitlines() if len(line.split()) > 2]
    public = [name for _, name in names if "tarry::v0::" in name]
    # A strong symbol is ours; a parameter of an internal type does not make a public function internal.
    leaked = [name for kind, name in names if kind in "TDBR" and INTERNAL.match(name)]
    print("\n".join([f"leaked: {name}" for name in leaked] + [f"symbols: {len(public)} public, {len(leaked)} leaked"]))
    sys.exit(0 if public and not leaked else 1)


if __name__ == "__main__":
    main()
