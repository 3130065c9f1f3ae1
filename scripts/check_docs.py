#!/usr/bin/env python3
"""Checks that the documents agree with the sources.

Links lead to pages and headings that are there; the README's example is examples/quickstart.cpp, and its figure is what
draw_results.py draws; sentences of the README and the guides are short; every op has a docstring, a changelog line and
a test and stands on its page; every reason for an unfused edge and every public header is explained; public functions
state shapes, dtypes, errors and an example, and docs/reference is what the headers give; files say what they are and
stay short, comments begin with their subject, READMEs name every unit of their folder; a header offers
no bool parameters; the text that a mutant replaces is there.

usage: check_docs.py ROOT | --self-test
"""
import pathlib
import re
import sys
import tempfile

import check_mutants as mutants
import draw_results
import make_reference
import op_table

SOURCE_FOLDERS = ["include", "support", "graph", "codegen", "cache", "runtime", "tools", "examples", "tests"]
ROOMS = ["support", "graph", "codegen", "cache", "runtime", "tools", "examples", "bench"]
MAX_LINES = 600
MAX_TEST_LINES = 1000  # rows of cases read well in one place
MAX_OPENINGS = 10  # comments that begin with "What", "Whether" or "Of"; a few are right, and kernel text keeps its own
MAX_WORDS = 30  # of a sentence that users read
# Ops that users reach by other names: parts of composite reductions, and nodes that recording makes.
INTERNAL_OPS = {"input", "selection", "scalar", "iota", "view", "update", "moments", "moments_merge", "segment_m2",
                "random_bits", "multiply_high", "uniform", "normal",
                "index", "gather", "scatter_set", "scatter_add", "scatter_multiply", "scatter_min", "scatter_max",
                "compact", "segment_prod", "segment_m2", "pivots",
                "loop_level", "loop_carry", "loop_element", "loop_while", "loop_next", "loop_stack", "loop_last",
                "loop_later"}


def read(root, name):
    path = root / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def documents(root):
    return [p for p in sorted(root.glob("**/*.md")) if not p.relative_to(root).parts[0].startswith((".", "build"))]


def check_links(root):
    for document in documents(root):
        text = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(encoding="utf-8"), flags=re.S)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?[^)]*\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            page = document.parent / target if target else document
            if not page.exists():
                yield f"{document.relative_to(root)}: link to {target}, which does not exist"
            elif anchor and page.suffix == ".md":
                if anchor not in [a for _, a in make_reference.anchors(page.read_text(encoding="utf-8"))]:
                    yield f"{document.relative_to(root)}: link to {target}#{anchor}, which is no heading there"


def sentences(text):
    """Sentences of a page with the numbers of their lines; of a table each cell is prose of its own."""
    text = re.sub(r"```.*?\n```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    paragraph = re.compile(r"(?m)^(?:[^\n|#].*\n?)(?:(?!\s*(?:[-*|#]|\d+\.) ?)[^\n].*\n?)*|^[|#].*$")
    for found in paragraph.finditer(text):
        for cell in found[0].split("|") if found[0].startswith("|") else [found[0]]:
            for sentence in re.split(r"(?<=[.!?])[\s]", cell):
                yield text.count("\n", 0, found.start()) + 1, sentence


def check_sentences(root):
    for page in [root / "README.md", root / "docs/README.md", *sorted((root / "docs/guides").glob("*.md"))]:
        for line, sentence in sentences(page.read_text(encoding="utf-8") if page.exists() else ""):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MAX_WORDS:
                yield f"{page.relative_to(root)}:{line}: a sentence of {len(words)} words: {' '.join(words[:8])} ..."


def check_figure(root):
    if (root / draw_results.RESULTS).exists() and read(root, draw_results.FIGURE) != draw_results.drawn(root):
        yield f"{draw_results.FIGURE}: not what the results give; run scripts/draw_results.py ."


def check_example(root):
    fence = re.search(r"```cpp\n(.*?)```", read(root, "README.md"), flags=re.S)
    example = read(root, "examples/quickstart.cpp").partition("\n")[2]
    if not fence or fence.group(1) != example:
        yield "README.md: the first C++ example is not examples/quickstart.cpp"


def check_ops(root):
    header = "\n".join(p.read_text(encoding="utf-8") for p in sorted((root / "include/tarry").glob("*.h")))
    changelog = read(root, "CHANGELOG.md")
    tests = "".join(p.read_text(encoding="utf-8") for p in sorted((root / "tests").rglob("*")) if p.suffix in (".h", ".cpp"))
    for op, form in re.findall(r"^TARRY_OP\(\w+, (\w+),.*?(\w+)\)$", read(root, "graph/ops.def"), flags=re.M):
        if op in INTERNAL_OPS:
            continue
        declared = re.search(rf"^((?:.*\n)?)\[\[nodiscard\]\] TARRY_EXPORT \w+ {op}\(", header, flags=re.M)
        if not declared:
            yield f"include/tarry: op {op} is not declared"
        elif not declared.group(1).startswith("///"):
            yield f"include/tarry: op {op} has no docstring"
        if not re.search(rf"[`\s]{op}[`\s]", changelog):
            yield f"CHANGELOG.md: op {op} is not mentioned"
        # Tests have lists of the elementary functions from the op table.
        if form != "Function" and not re.search(rf"\b{op}\b", tests):
            yield f"tests: op {op} is not mentioned"


def check_tables(root):
    pages = ["docs/reference/plan.md", "docs/guides/performance.md"]  # it means this, and one does that about it
    scheduler = "".join(p.read_text(encoding="utf-8") for p in sorted((root / "graph").rglob("*.cpp")))
    for word in re.findall(r'case Reason::\w+:\s+return "([^"]+)"', scheduler):
        for page in pages:
            if word != "fused" and f"| `{word}` |" not in read(root, page):
                yield f"{page}: reason {word} is not explained"
    rooms = read(root, "include/README.md")
    for header in sorted((root / "include/tarry").glob("*.h")):
        if header.name not in rooms:
            yield f"include/README.md: {header.name} is not mentioned"


def check_wings(root):
    """Every folder of a room says what each of its files is for; a schedule's are named by its row of the table."""
    schedules = set(re.findall(r"^TARRY_SCHEDULE\(\w+, (\w+),", read(root, "codegen/ir/schedules.def"), flags=re.M))
    for room in ROOMS:
        for folder in sorted({path.parent for path in (root / room).rglob("*.cpp")}):
            readme = read(root, f"{folder.relative_to(root)}/README.md")
            for unit in sorted({path.stem for path in folder.iterdir() if path.suffix in (".h", ".cpp")}):
                is_known = unit in schedules and "schedules.def" in readme
                if not is_known and not re.search(rf"`{unit}\.(h|cpp|\*)`", readme):
                    yield f"{folder.relative_to(root)}/README.md: {unit} is not mentioned"


def check_comments(root):
    """A comment begins with its subject."""
    opening = re.compile(r"^\s*//+<?\s*(?:What|Whether|Of)\b", flags=re.M)
    sources = [p for folder in SOURCE_FOLDERS + ["bench"] for p in (root / folder).rglob("*")
               if p.suffix in (".h", ".cpp", ".def")]
    found = sum(len(opening.findall(p.read_text(encoding="utf-8"))) for p in sources)
    if found > MAX_OPENINGS:
        yield f"comments: {found} begin with What, Whether or Of, more than {MAX_OPENINGS}; begin with the subject"


def check_op_page(root):
    if read(root, "docs/reference/ops.md") and read(root, "docs/reference/ops.md") != op_table.page(root):
        yield "docs/reference/ops.md: not what the sources give; run scripts/op_table.py ."


def check_reference(root):
    yield from make_reference.problems(root)


def check_files(root):
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".def"):
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            if not lines or not lines[0].startswith("// "):
                yield f"{path.relative_to(root)}: the first line does not say what the file is"
            limit = MAX_TEST_LINES if folder == "tests" else MAX_LINES
            if len(lines) > limit:
                yield f"{path.relative_to(root)}: {len(lines)} lines, more than {limit}"


def check_bools(root):
    """A call `f(x, true)` does not say what is true: what a header offers takes an enum, or there are two functions."""
    for folder in set(SOURCE_FOLDERS) - {"tests"}:
        for path in sorted((root / folder).rglob("*.h")):
            shown, private = "", False
            for line in re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8")).splitlines():
                if label := re.match(r"\s*(private|protected|public):", line):
                    private = label.group(1) == "private"
                elif line.startswith("};"):
                    private = False
                shown += "\n" if private else line + "\n"
            for found in re.finditer(r"[(,]\s*(?:const\s+)?bool\s+(\w+)\s*(?:=\s*\w+\s*)?(?=[,)])", shown):
                line = shown.count("\n", 0, found.start(1)) + 1
                yield f"{path.relative_to(root)}:{line}: a bool parameter, {found.group(1)}"


def check_mutants(root):
    for path in sorted((root / "tests/mutants").glob("*.mutant")):
        _, file, original, _ = mutants.parse(path)
        if (count := read(root, file).count(original)) != 1:
            yield f"{path.relative_to(root)}: its original text stands {count} times in {file}"


CHECKS = [check_links, check_example, check_figure, check_sentences, check_ops, check_tables, check_wings,
          check_op_page, check_comments, check_reference, check_files, check_bools,
          check_mutants]


def problems(root):
    return [problem for check in CHECKS for problem in check(root)]


GOOD = {
    "README.md": "[a](docs/design.md)\n```cpp\nint main() {}\n```\n",
    "docs/design.md": "# Design\n",
    "docs/reference/plan.md": "| `cycle` |\n",
    "docs/guides/performance.md":
        "| `cycle` | waits |\n\n" + "Some words " * 14 + "end.\n- Another `long` one.\n",
    "CHANGELOG.md": "`log` added\n",
    "examples/quickstart.cpp": "// an example\nint main() {}\n",
    "graph/ops.def": "// ops\n#endif\n// Functions.\nTARRY_OP(Log, log, 1, Map, Float, nullptr, 20, 2, 3, Unary)\n",
    "graph/fusion/fusion.cpp": '// fuse\ncase Reason::Cycle:\n  return "cycle";\n',
    "graph/fusion/README.md": "`fusion.cpp`\n",
    "examples/README.md": "`quickstart.cpp`\n",
    "codegen/ir/schedules.def": "// schedules\nTARRY_SCHEDULE(Stencil, stencil, \"stencil\", 0)\n",
    "codegen/cuda/README.md": "schedules.def\n",
    "codegen/cuda/stencil.cpp": "// stencils\n",
    "include/README.md": "`ops.h`, `stray.h`\n",
    "tests/mutants/log.mutant": "logs differ\ngraph/fusion/fusion.cpp\n--- original\n// fuse\n--- mutant\n// keep\n",
    "include/tarry/ops.h": "// ops\n#pragma once\n"
                           "/// Logarithm.  Shapes, Dtypes: any.  Throws nothing.  Example: `log(1)`.\n"
                           "[[nodiscard]] TARRY_EXPORT Array log(const Array& x);\n",
    "tests/api/ops_test.cpp": "// tests\nlog(x)\n",
    "tools/tool.h": "// tool\nclass Tool {\n  bool a = false, b = false;\n\n private:\n  void f(bool quietly);\n};\n",
}
SELF_TEST = [
    # file, its planted text, the complaint
    ("docs/design.md", "[b](gone.md)\n", "gone.md, which does not exist"),
    ("README.md", "```cpp\nint main() { }\n```\n", "is not examples/quickstart.cpp"),
    ("CHANGELOG.md", "`exp` added\n", "op log is not mentioned"),
    ("include/tarry/ops.h", "// ops\n#pragma once\n", "is not declared"),
    ("include/tarry/ops.h", GOOD["include/tarry/ops.h"].replace(", Dtypes:", ":"), "log does not state Dtypes"),
    ("include/tarry/ops.h", GOOD["include/tarry/ops.h"].replace("Example: ", ""), "log does not state Example"),
    ("include/tarry/stray.h", "// stray\n#pragma once\n", "in no chapter"),
    ("README.md", "[a](docs/design.md#gone)\n```cpp\nint main() {}\n```\n", "no heading there"),
    ("tests/api/ops_test.cpp", "// tests\nlog1p(x)\n", "op log is not mentioned"),
    ("docs/guides/first.md", "Short.\n\n- " + "word " * 30 + "\n  end. Next.\n", "first.md:3: a sentence of 31 words"),
    ("docs/guides/first.md", "| a | " + "word " * 31 + "|\n", "a sentence of 31 words"),
    ("README.md", "```cpp\nint main() {}\n```\n" + "word " * 31 + "\n", "README.md:4: a sentence of 31 words"),
    ("bench/results/h200.json", '{"machine": {"gpu": "G"}, "rows": []}', "not what the results give"),
    ("docs/guides/performance.md", "cycle\n", "guides/performance.md: reason cycle is not explained"),
    ("docs/reference/plan.md", "cycle\n", "reason cycle is not explained"),
    ("include/README.md", "none\n", "ops.h is not mentioned"),
    ("docs/reference/ops.md", "# Operations\n", "not what the sources give"),
    ("graph/fusion/README.md", "none\n", "fusion is not mentioned"),
    ("codegen/c/stencil.cpp", "// stencils\n", "stencil is not mentioned"),
    ("codegen/c/gather.cpp", "// gathers\n", "gather is not mentioned"),
    ("tests/mutants/log.mutant", "logs differ\ngraph/fusion/fusion.cpp\n--- original\n// gone\n--- mutant\n// keep\n", "stands 0 times"),
    ("graph/fusion/fusion.cpp", GOOD["graph/fusion/fusion.cpp"] + "/// What it is.\n" * 11, "comments: 11 begin with"),
    ("graph/fusion/fusion.h", "// fuse\nvoid f(int a,\n       bool b = true);\n", "fusion.h:3: a bool parameter, b"),
    ("graph/fusion/fusion.h", "#include <vector>\n", "does not say what the file is"),
    ("graph/fusion/fusion.h", "// graph\n" * (MAX_LINES + 1), f"more than {MAX_LINES}"),
]


def self_test():
    for file, text, expected in [(None, None, None), *SELF_TEST]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in {**GOOD, **({file: text} if file else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            found = problems(root)
            assert (len(found) == 1 and expected in found[0]) if file else not found, (file, expected, found)
    print(f"docs: {len(SELF_TEST)} planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = problems(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(found + [f"docs: {len(found)} problems"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
