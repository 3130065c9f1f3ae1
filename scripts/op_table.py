#!/usr/bin/env python3
"""Writes docs/reference/ops.md: one row per op, from graph/ops.def and the docstrings of the public headers.

usage: op_table.py [--check] ROOT
--check writes nothing and fails where the page is not what the sources give.
"""
import argparse
import pathlib
import re
import sys

import docstrings
import make_reference

# Rows that are no functions: leaves, index arithmetic, parts of composite reductions.
NOT_FUNCTIONS = {"input", "selection", "scalar", "iota", "view", "update", "index", "gather", "scatter_set", "scatter_add",
                 "scatter_multiply", "scatter_min", "scatter_max", "compact", "segment_prod", "segment_m2", "pivots",
                 "moments", "moments_merge",
                 "random_bits", "multiply_high", "uniform", "normal",
                 "loop_level", "loop_carry", "loop_element", "loop_while", "loop_next", "loop_stack", "loop_last",
                 "loop_later"}
DTYPES = {
    "Same": "numbers", "Float": "floats; integers become float32 or float64", "Bool": "any; gives bool",
    "Logical": "bool",
    "Integer": "integers", "Bits": "integers, bool", "Special": "any",
}
HEAD = """# Operations

One row per op of [graph/ops.def](../../graph/ops.def), made by `scripts/op_table.py`. Names and semantics are those of
the Python array API standard. "numbers" are all integer and floating dtypes; how operands are brought to one dtype, and
what every op does with NaN, infinities, zeros and overflow, stands in [numerics.md](numerics.md).

The error is in units in the last place, in float32 and float64; "exact" is correctly rounded or exact, and then CPU and
GPU agree bit for bit. float16 and bfloat16 compute in float32 and round once. "composed" ops are recorded as others.

"""


def functions(root):
    """Function name without namespace -> its page, its whole name, the first sentence of its docstring, and its dtypes where
    the header names them."""
    found = {}
    for page, _, headers in make_reference.CHAPTERS:
        for kind, name, _, words, parts in [item for header in headers for item in docstrings.items(root, header)]:
            if kind == "function" and words:
                gives = re.split(r"(?<=\.)\s+(?=[A-Z])|;", words)[0].rstrip(";. ") + "."
                dtypes = parts.get("Dtypes", "").split(". ")[0].rstrip(".")
                dtypes = dtypes if len(dtypes) <= 60 else dtypes.split(";")[0]
                found.setdefault(name.removeprefix("linalg::"), (page, name, gives.replace("\n", " "), dtypes))
    return found


def error(op_class, ulp32, ulp64):
    if op_class == "Composite":
        return "composed"
    if op_class == "Library":
        return "the library's"
    if float(ulp32) == 0 and float(ulp64) == 0:
        return "exact"
    return f"{ulp32}, {ulp64}"


def page(root):
    text, docs = HEAD, functions(root)
    source = (root / "graph/ops.def").read_text(encoding="utf-8")
    for block in re.split(r"^// (?=[A-Z])", source[source.index("#endif"):], flags=re.M)[1:]:
        title, _, body = block.partition("\n")
        rows = []
        for match in re.findall(r"^TARRY_OP\((.*)\)$", body, flags=re.M):
            _, name, arity, op_class, rule, _, _, ulp32, ulp64, _ = [part.strip() for part in match.split(",")]
            if name in NOT_FUNCTIONS:
                continue
            bound = "moves bits" if op_class in ("Reshape", "Update") else error(op_class, ulp32, ulp64)
            if op_class in ("Reduce", "Scan"):
                bound = "tree R"
            page, name, gives, dtypes = docs.get(name, ("elementwise", name, "", ""))
            if name.startswith("linalg::"):
                bound = "backward stable"
            gives = gives.replace("|", "\\|")
            rows.append(f"| [`{name}`]({page}.md#{name.replace(':', '')}) | {dtypes or DTYPES[rule]} | {bound} | {gives} |")
        if rows:
            text += f"## {title.split(':')[0].rstrip('.')}\n\n"
            text += "| Function | Dtypes | Error [ulp] | Gives |\n| --- | --- | --- | --- |\n"
            text += "\n".join(rows) + "\n\n"
    return text.rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    path, text = options.root / "docs/reference/ops.md", page(options.root)
    if not options.check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit("docs/reference/ops.md is not what the sources give: run scripts/op_table.py .")


if __name__ == "__main__":
    main()
