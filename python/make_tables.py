#!/usr/bin/env python3
"""Writes the tables that the module is built with: the elementwise functions from the rows of graph/ops.def, and what
the docstrings of include/tarry say of every function.

usage: make_tables.py ROOT FOLDER
"""
import pathlib
import re
import sys

ROOT, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "scripts"))
import docstrings  # noqa: E402

FORMS = {"Unary": "UNARY", "Function": "UNARY", "Whole": "UNARY", "Binary": "BINARY"}
BY_HAND = {"round"}  # which has an argument more


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def documents():
    """Function name -> what its first declaration says, with shapes and dtypes."""
    found = {}
    for header in sorted((ROOT / "include/tarry").glob("*.h")):
        for kind, name, _, words, parts in docstrings.items(ROOT, header.name):
            name = name.rpartition("::")[2]
            if kind != "function" or not words or name in found:
                continue
            lines = [words] + [f"{part}: {parts[part]}" for part in ("Shapes", "Dtypes", "Algorithm") if part in parts]
            found[name] = "\n\n".join(lines)
    return found


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    rows = (ROOT / "graph/ops.def").read_text(encoding="utf-8")
    table = [f"TARRY_PYTHON_{FORMS[form]}({name})"
             for name, form in re.findall(r"^TARRY_OP\(\w+, (\w+),.*?(\w+)\)$", rows, flags=re.M)
             if form in FORMS and name not in BY_HAND]
    write(FOLDER / "op_table.inc", "\n".join(table) + "\n")
    docs = sorted(documents().items())
    write(FOLDER / "documents.inc", "".join(f"{{{quoted(name)}, {quoted(text)}}},\n" for name, text in docs))


main()
