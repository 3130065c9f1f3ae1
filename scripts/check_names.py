#!/usr/bin/env python3
"""Rejects names of file-local constants and types that another file of their room declares in the same namespace: units
that are compiled as one share them.

usage: check_names.py ROOT | --self-test
"""
import collections
import pathlib
import re
import sys
import tempfile

ROOMS = ("support", "graph", "codegen", "cache", "runtime")
CONSTANT = re.compile(r"(?:inline |static )?(?:constexpr|const) [^(]*?\b(k[A-Z]\w*)\s*(?:=|\[|\{|,|;)")
TYPE = re.compile(r"(?:class|struct|enum class|enum) (\w+)[^;]*$")


def declared(text):
    """(namespace, name, whether it is file-local) of constants and types at the scope of a namespace."""
    open_namespaces = []
    for line in text.splitlines():
        if open_namespaces and re.match(r"}\s*// namespace", line):
            open_namespaces.pop()
        elif line.startswith("namespace {"):
            open_namespaces.append(None)
        elif match := re.match(r"(?:inline )?namespace ([\w:]+) {", line):
            open_namespaces.append(match[1])
        elif open_namespaces:
            names = re.findall(r"\b(k[A-Z]\w*)\s*(?==|\[|\{)", line) if CONSTANT.match(line) else []
            if match := TYPE.match(line):
                names.append(match[1])
            for name in names:
                yield "::".join(n for n in open_namespaces if n), name, None in open_namespaces


def problems(root):
    local, shared = collections.defaultdict(set), collections.defaultdict(set)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            for namespace, name, is_local in declared(path.read_text()):
                (local if is_local else shared)[room, namespace, name].add(path.relative_to(root))
    for key, files in sorted(local.items()):
        others = {f for f in shared.get(key, ()) if f.suffix == ".h"} - files
        if len(files) > 1 or others:
            yield f"{key[2]} in {key[1]}: {', '.join(str(f) for f in sorted(files | others))}"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "graph").mkdir()
        head, tail = "namespace tarry::graph {\nnamespace {\n", "}  // namespace\n}  // namespace tarry::graph\n"
        (root / "graph/a.cpp").write_text(head + "constexpr int kMost = 1, kFew = 2;\nstruct Piece {\n};\n" + tail)
        (root / "graph/b.cpp").write_text(head + "constexpr int kOther = 1;\nclass Other {\n};\n" + tail)
        assert not list(problems(root)), "different names"
        (root / "graph/b.cpp").write_text(head + "constexpr int kFew = 1;\nclass Other {\n};\n" + tail)
        assert len(list(problems(root))) == 1, "a constant of two files"
        (root / "graph/b.cpp").write_text(head + "class Piece {\n};\n" + tail)
        assert len(list(problems(root))) == 1, "a type of two files"
        (root / "graph/b.cpp").write_text("")
        (root / "graph/c.h").write_text("namespace tarry::graph {\ninline constexpr int kMost = 1;\n}  // namespace tarry::graph\n")
        assert len(list(problems(root))) == 1, "a constant of a header"
    print("names: what was planted is rejected")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        self_test()
        sys.exit()
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found + [f"names: {len(found)} problems"]))
    sys.exit(1 if found else 0)
