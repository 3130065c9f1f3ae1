#!/usr/bin/env python3
"""Runs a program that prints JSON and checks what it says.

usage: check_example.py CONDITION... -- PROGRAM ARGUMENTS...
A condition is a Python expression over the members of the JSON object, e.g. "kernels == 1".
"""
import json
import subprocess
import sys


def main():
    split = sys.argv.index("--")
    conditions, command = sys.argv[1:split], sys.argv[split + 1:]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}\n{done.stdout}")
    values = json.loads(done.stdout)
    print(done.stdout)
    failed = [c for c in conditions if not eval(c, {"__builtins__": {}}, values)]
    sys.exit("\n".join(f"not so: {c}" for c in failed) if failed or not conditions else 0)


if __name__ == "__main__":
    main()
