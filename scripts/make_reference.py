#!/usr/bin/env python3
"""Writes docs/reference: a page per chapter, from the docstrings of include/tarry.

docstrings.py says how docstrings are written. An example is "`code`" or "`expression` is `text`", the text being what
the expression prints.

usage: make_reference.py [--check] ROOT | --examples FILE ROOT
--check writes nothing and names pages that are not what the headers give, and functions that leave out a part.
--examples writes a C++ program that runs every example with a text and compiles the others.
"""
import argparse
import pathlib
import re
import sys
import textwrap

import docstrings

CHAPTERS = [  # page, title, headers
    ("arrays", "Arrays", ["array.h", "slice.h", "shape.h"]),
    ("creation", "Creation", ["create.h"]),
    ("elementwise", "Elementwise operations", ["ops.h", "constants.h"]),
    ("reductions", "Reductions", ["reduce.h"]),
    ("statistics", "Statistics", ["statistics.h"]),
    ("scans", "Scans", ["scan.h"]),
    ("own_code", "Your own code", ["function.h", "kernel.h"]),
    ("loops", "Loops", ["loop.h", "solve.h"]),
    ("functions", "Whole functions", ["replay.h"]),
    ("manipulation", "Manipulation", ["views.h"]),
    ("windows", "Borders and windows", ["windows.h"]),
    ("indexing", "Indexing by arrays", ["index.h"]),
    ("sorting", "Sorting and searching", ["sort.h"]),
    ("grouping", "Counting and grouping", ["group.h"]),
    ("linear_algebra", "Linear algebra", ["linalg.h"]),
    ("random", "Random numbers", ["random.h"]),
    ("evaluation", "Evaluation", ["evaluate.h", "plan.h", "scope.h", "progress.h", "history.h"]),
    ("devices", "Devices and memory", ["device.h", "memory.h"]),
    ("files", "Files", ["io.h"]),
    ("interop", "Memory of other code", ["interop.h", "dlpack.h"]),
    ("dynamic", "Dtypes, indices and places at run time", ["dynamic.h", "type_info.h"]),
    ("kernels", "Kernel cache and warming", ["cache.h", "warm.h"]),
    ("types", "Dtypes, errors, messages", ["dtype.h", "half.h", "error.h", "log.h", "stream.h"]),
]
HEAD = """# Reference

Every public function and type, by chapter: signature, shapes, dtypes, errors and an example. The pages are made from
the docstrings of [include/tarry](../../include) by `scripts/make_reference.py`; a test runs the examples.

- [Numerics](numerics.md): promotion, conversions, special values, error bounds, the order of reductions and scans.
- [Operations](ops.md): one table of all operations, their dtypes and errors.
- [Words of plans and reports](plan.md): why an edge went through memory, a value was copied or stored.
- [Switches](switches.md): environment variables. [Kernel cache](cache.md): promises, file formats, shipping.
"""
PROGRAM = """// Made by scripts/make_reference.py: the examples of the docstrings.
#include "tests/reference/compare.h"

int main() {
// compiled
// run
  return wrong;
}
"""
NO_CHAPTER = {"tarry.h", "export.h", "shared.h"}
WIDTH = 120


def markdown(words):
    """Words of a comment as Markdown: outside of code nothing is a tag or bold."""
    pieces = re.split(r"(```.*?```|`[^`]*`)", words, flags=re.S)
    return "".join(p if p.startswith("`") else re.sub(r"__", r"\_\_", re.sub(r"<(?=\w)", "&lt;", p)) for p in pieces)


def wrapped(text):
    """Prose in lines of 120; none begins with what Markdown takes for a list, a quotation or a heading."""
    lines, code = [], False
    for line in text.splitlines():
        code ^= line.startswith("```")
        bound = re.sub(r" (?=[-+>#*=|]|\d+[.)] )", "\0", line[2:])
        indent = "  " if line.startswith("- ") else ""
        lines += [line] if code or line.startswith(("#", "```")) else textwrap.wrap(
            line[:2] + bound, WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent) or [""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).replace("\0", " ") + "\n")


def anchors(text):
    """Headings of a page and the anchors that Markdown gives them."""
    seen = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), flags=re.M):
        slug = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        yield heading, slug + (f"-{seen[slug]}" if slug in seen else "")
        seen[slug] = seen.get(slug, 0) + 1


def chapter(root, title, headers):
    text = f"# {title}\n\nMade by `scripts/make_reference.py` from "
    text += ", ".join(f"[{h}](../../include/tarry/{h})" for h in headers) + ".\n"
    last = None
    for kind, name, code, words, parts in [item for header in headers for item in docstrings.items(root, header)]:
        if kind in ("function", "value") and not words and last and last[0] == kind:  # shares the words above
            at = text.rindex("```cpp\n")
            text = text[:at] + text[at:].replace("\n```\n", f"\n{code}\n```\n", 1)
            continue
        if kind == "head":
            text += f"\n## tarry/{name}\n" if len(headers) > 1 else ""
        elif kind != "value" and (kind, name) != last:
            text += f"\n{'##' if kind == 'section' else '###'} {name}\n"
        last = (kind, name)
        shown = [f"\n{markdown(words)}\n" if words else "", f"\n```cpp\n{code}\n```\n" if code else ""]
        text += "".join(reversed(shown) if kind == "function" else shown)
        lines = [f"- {'Errors' if p == 'Throws' else p}: {markdown(parts[p])}"
                 for p in ["Shapes", "Dtypes", "Throws", "Algorithm", "Example"] if p in parts]
        text += "\n" + "\n".join(lines) + "\n" if lines else ""
    return text


def pages(root):
    index = HEAD
    for page, title, headers in CHAPTERS:
        text = wrapped(chapter(root, title, headers))
        yield f"docs/reference/{page}.md", text
        links = [f"[{name}]({page}.md#{anchor})" for name, anchor in anchors(text)
                 if f"\n### {name}\n" in text and "operator" not in name]
        index += f"\n**[{title}]({page}.md)**: " + ", ".join(links) + ".\n"
    yield "docs/reference/README.md", wrapped(index)


def faults(root):
    """Docstrings that are not there, and the parts that they leave out."""
    known = {h for _, _, headers in CHAPTERS for h in headers} | NO_CHAPTER
    for header in sorted((root / "include/tarry").glob("*.h")):
        if header.name not in known:
            yield f"include/tarry/{header.name}: in no chapter of scripts/make_reference.py"
        last = None
        found = docstrings.items(root, header.name) if header.name not in NO_CHAPTER else []
        for kind, name, code, words, parts in found:
            wanted = []
            if kind == "function" and (words or last != "function"):
                wanted = ["Shapes", "Dtypes"] if re.search(r"\b(Array|Operand)\b", code) else []
                wanted += ["Example"] if "noexcept" in code else ["Throws", "Example"]
            elif kind == "type" and code.startswith("class"):
                wanted = ["Example"]
            if not words and (kind == "type" or wanted):
                yield f"include/tarry/{header.name}: {name} has no docstring"
            for part in wanted:
                if part not in parts:
                    yield f"include/tarry/{header.name}: {name} does not state {part}"
            last = kind


def problems(root):
    found = list(faults(root))
    if (root / "docs/reference/README.md").exists():
        for name, text in pages(root):
            if not (root / name).exists() or (root / name).read_text(encoding="utf-8") != text:
                found.append(f"{name}: not what the headers give; run scripts/make_reference.py .")
    return found


def example_program(root):
    run, compiled = "", ""
    for header in [h for _, _, headers in CHAPTERS for h in headers]:
        for _, name, _, words, parts in docstrings.items(root, header):
            example, shown = parts.get("Example", ""), r"`([^`]+)` is `([^`]*)`"
            for code, text in re.findall(shown, example):
                run += f'  compare("{header}: {name}", shown({code}), R"({text})");\n'
            blocks = re.findall(r"```cpp\n(.*?)```", words, flags=re.S)
            for code in re.findall(r"`([^`]+)`", re.sub(shown, "", example)) + blocks:
                compiled += f"  [[maybe_unused]] auto compiled_{len(compiled)} = [] {{\n    {code};\n  }};  // {name}\n"
    return PROGRAM.replace("// compiled\n", compiled).replace("// run\n", run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--examples", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    if options.examples:
        options.examples.write_text(example_program(options.root), encoding="utf-8")
        return
    if not options.check:
        for name, text in pages(options.root):
            (options.root / name).write_text(text, encoding="utf-8")
    found = problems(options.root)
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
