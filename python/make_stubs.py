#!/usr/bin/env python3
"""Writes the type stubs of the extension module beside it.

usage: make_stubs.py PACKAGE
"""
import os
import pathlib
import re
import subprocess
import sys

PACKAGE = pathlib.Path(sys.argv[1]).absolute()


def classes(found):
    """Exceptions call themselves by their public names, and would be imported from where they are going."""
    import tarry

    made = [getattr(tarry, name) for name in re.findall(r"(\w+) as (?!__)", found[1])]
    made.sort(key=lambda made: len(made.__mro__))
    return "\n".join(f"class {each.__name__}({', '.join(base.__name__ for base in each.__bases__)}): ..." for each in made)


def annotated(line):
    """The module has a bool of its own, which annotations do not mean."""
    return re.sub(r"(?<=: )bool\b|(?<=\| )bool\b|(?<=> )bool\b", "builtins.bool", line)


def imports(module):
    """Names that annotations of the module need."""
    ours = "from collections.abc import Sequence\n\nfrom tarry import Array, Device, Dtype\n"
    return "\n\nimport builtins\n" + ("" if module == "__init__" else ours)


def main():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-m", "tarry._tarry", "-O", str(PACKAGE)]
    subprocess.run(command, env=environment, check=True)
    sys.path.insert(0, str(PACKAGE.parent))
    for stub in (PACKAGE / "_tarry").glob("*.pyi"):
        text = re.sub(r"from tarry import \((.*?)\)", classes, stub.read_text(encoding="utf-8"), flags=re.S)
        lines = [annotated(line) if re.match(r"\s*def ", line) else line for line in text.split("\n")]
        stub.write_text("\n".join(lines).replace("\n\n", imports(stub.stem), 1), encoding="utf-8")


main()
