#!/usr/bin/env python3
"""Runs a program that prints JSON and checks what it says.

usage: check_example.py CONDITION... -- PROGRAM ARGUMENTS...
A condition is a Python expression over the members of the JSON object, e.g. "kernels == 1". A program may print several
objects, one a line; then each must meet every condition.
"""
import json
import subprocess
import sys


def objects(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        yield value


def main():
    split = sys.argv.index("--")
    conditions, command = sys.argv[1:split], sys.argv[split + 1:]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}\n{done.stdout}")
    print(done.stdout)
    failed = [f"not so: {condition}: {values}" for values in objects(done.stdout) for condition in conditions
              if not eval(condition, {"__builtins__": {}}, values)]
    sys.exit("\n".join(failed) if failed or not conditions else 0)


if __name__ == "__main__":
    main()
