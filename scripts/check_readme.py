#!/usr/bin/env python3
"""Checks that the README shows what its first program prints.

usage: check_readme.py README PROGRAM [ARGUMENTS...]
       check_readme.py --self-test

The program is run, and its output must be the first ```text block of the README. Milliseconds, the processor, the hash in a
kernel's name and the kernel cache's counts differ from run to run and from machine to machine: there anything equals anything.
"""
import re
import subprocess
import sys


def shown(readme):
    block = re.search(r"```text\n(.*?)```", readme, flags=re.S)
    if not block:
        sys.exit("the README has no ```text block")
    return block.group(1)


def general(text):
    """The lines of the text without what may differ and without the widths of columns."""
    text = re.sub(r"(?m)^( *)(milliseconds|kernel cache) .*", r"\2", text)
    text = re.sub(r"\b(x86-64-v\d|armv8-a|sm_\d+)\b", "TARGET", text)
    text = re.sub(r"_[0-9a-f]{8}\b", "_HASH", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def differences(readme, output):
    want, got = general(shown(readme)), general(output)
    lines = max(len(want), len(got))
    pairs = zip(want + ["nothing"] * (lines - len(want)), got + ["nothing"] * (lines - len(got)))
    return [f"the README shows: {a}\nthe program prints: {b}" for a, b in pairs if a != b]


def self_test():
    readme = "# A\n```text\nplan for x86-64-v3\n  sum_0123abcd   4 B\n  milliseconds  launch 1.5\nsum 2\n```\n"
    same = "plan for sm_90\n sum_deadbeef 4 B\n milliseconds launch 20.25\nsum 2\n"
    assert not differences(readme, same)
    for wrong in (same.replace("4 B", "8 B"), same.replace("sum 2", "sum 3"), same.replace("sum 2\n", ""), same + "more\n"):
        assert differences(readme, wrong), wrong
    print("self-test: passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    with open(sys.argv[1], encoding="utf-8") as file:
        readme = file.read()
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, check=True)
    sys.exit("\n".join(differences(readme, done.stdout)) or 0)


if __name__ == "__main__":
    main()
