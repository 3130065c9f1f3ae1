#!/usr/bin/env python3
"""Compiles and runs every block of the README and the guides, and compares the output that they show.

usage: check_guides.py SOURCE BUILD --compiler CXX --libraries LIBRARY... [--page NAME] | --self-test --compiler CXX

The C++ of all pages is one program, so that it is compiled once; the compiler's messages call page.md page.cpp. A page
reads like this:

    ```cpp                   statements. The blocks of a page follow one another in one function, which has seen
                             <tarry/tarry.h> and `namespace ta = tarry`. A block with a main() is a program of its own.
    ```sh                    commands, run by sh -e in the root of the checkout, with its programs on PATH
    ```sh skip="reason"      commands that take too long or change the system, or what no program reads: listed, not run
    ```sh if="command"       commands that are run only where that command succeeds
    ```cpp file=NAME         a file that the commands after it need; so for cmake and every other language
    ```text                  what the block before it prints; a line "..." stands for any number of lines

Milliseconds, the processor, a kernel's hash and key, places in the program, and the kernel cache's counts differ from
run to run and from machine to machine: there anything equals anything.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MARK = "\x1e"  # between the outputs of two blocks
MACHINE = ("TARRY_BLAS", "TARRY_CC", "TARRY_CPU", "TARRY_NUM_THREADS", "TARRY_NVRTC")  # switches that make another machine of this one
PREAMBLE = "#include <tarry/tarry.h>\nnamespace ta = tarry;\n"


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of its first line of text
    language: str
    info: str
    text: str
    shown: str = None  # the text block after it

    @property
    def file(self):
        found = re.search(r"\bfile=(\S+)", self.info)
        return found and found[1]

    @property
    def skipped(self):
        found = re.search(r'\bskip="([^"]+)"', self.info)
        return found and found[1]

    @property
    def condition(self):
        found = re.search(r'\bif="([^"]+)"', self.info)
        return found and found[1]

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def blocks_of(page, text):
    """The blocks of a page, with what they show; and what no block may be."""
    blocks, problems, fence = [], [], re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", flags=re.M)
    for found in fence.finditer(text):
        block = Block(page, text.count("\n", 0, found.start()) + 2, found[1], found[2], found[3])
        if block.language == "text":
            runs = [b for b in blocks[-1:] if b.shown is None and not b.file and not b.skipped]
            if runs:
                runs[0].shown = block.text
            else:
                problems.append(f"{block.place}: shows the output of no block")
        elif block.language not in ("cpp", "sh") and not block.file and not block.skipped:
            problems.append(f"{block.place}: a block of {block.language or 'no language'} that nothing runs")
        else:
            blocks.append(block)
    return blocks, problems


def lines_of(text):
    """The lines of the text without what may differ and without the widths of columns."""
    text = re.sub(r"(?m)^( *)(milliseconds|kernel cache) .*", r"\2", text)
    text = re.sub(r"\b(x86-64-v\d|armv8-a|sm_\d+)\b", "TARGET", text)
    text = re.sub(r"\b\d+ (memory|disk) hits", r"\1 hits", text)
    text = re.sub(r"_[0-9a-f]{8}\b", "_HASH", text)
    text = re.sub(r"\b[0-9a-f]{32}\b", "KEY", text)
    text = re.sub(r"[\w./-]+\.(?:md|cpp):\d+", "PLACE", text)
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def is_shown(shown, printed):
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines_of(shown))
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines_of(printed)))


def compare(block, printed):
    if block.shown is None or is_shown(block.shown, printed):
        return []
    return [f"{block.place}: the page shows\n{block.shown}but the block prints\n{printed}"]


def program(pages):
    """One translation unit of all blocks in C++; each page is a function, chosen by its number."""
    headers, bodies, calls = {}, [], []
    for number, blocks in enumerate(pages):
        statements = []
        for count, block in enumerate(b for b in blocks if b.language == "cpp" and not b.file):
            text = re.sub(r"(?m)^#include .*$", "", block.text)
            headers.update(dict.fromkeys(re.findall(r"(?m)^#include .*$", block.text)))
            placed = f'#line {block.line} "{pathlib.Path(block.page).stem}.cpp"\n{text}'
            if re.search(r"\bint main\(\)", text):
                head, end, tail = placed.rpartition("}")  # of main(), which returns 0 only under that name
                bodies.append(f"namespace program_{number}_{count} {{\n{head}return 0; {end}{tail}}}")
                placed = f"program_{number}_{count}::main();"
            statements.append(f'{placed}\nstd::cout << "{MARK}" << std::flush;')
        body = "\n".join(statements)
        bodies.append(f"void page_{number}() {{\n{body}\n}}")
        calls.append(f"  if (number == {number}) page_{number}();")
    return "\n".join(["#include <cstdlib>", "#include <iostream>", *headers, *bodies,
                      "int main(int, char** argv) {", "  const int number = std::atoi(argv[1]);", *calls, "}\n"])


def called(command, folder, environment=None):
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def compile_program(source, options):
    (options.work / "guides.cpp").write_text(source, encoding="utf-8")
    paths = [f"-Wl,-rpath,{pathlib.Path(library).parent}" for library in options.libraries if library.endswith(".so")]
    command = [options.compiler, "-std=c++20", "-O0", "-Werror", *options.flags, "guides.cpp", "-o", "guides",
               *options.libraries, *paths]
    done = called(command, options.work)
    return [f"a block does not compile:\n{done.stdout}"] if done.returncode else []


def run(command, options, folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TARRY_") or name in MACHINE}
    environment.update(options.environment, HOME=str(folder / "home"), TARRY_DEVICE="cpu", CXX=options.compiler)
    return called(command, folder, environment)


def check_cpp(number, blocks, options, folder):
    blocks = [b for b in blocks if b.language == "cpp" and not b.file]
    if not blocks:
        return
    done = run([options.work / "guides", str(number)], options, folder)
    outputs = done.stdout.split(MARK)
    if done.returncode or len(outputs) != 1 + len(blocks):
        yield f"{blocks[0].page}: the program ended with {done.returncode}\n{done.stdout}"
        return
    for block, printed in zip(blocks, outputs):
        yield from compare(block, printed)


def check_commands(blocks, options, folder):
    for block in blocks:
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and not block.skipped:
            if block.condition and run(["sh", "-c", block.condition], options, folder).returncode:
                print(f"not run: {block.place}: not here: {block.condition}")
                continue
            done = run(["sh", "-e", "-c", block.text], options, folder)
            if done.returncode:
                yield f"{block.place}: the commands ended with {done.returncode}\n{done.stdout}"
                return
            yield from compare(block, done.stdout)


def checkout(options, folder):
    """A folder that looks like the checkout with its build, and that pages may write to."""
    (folder / "home").mkdir(parents=True)
    if options.source:
        for entry in options.source.iterdir():
            if entry.name not in (".git", "build"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(options.build)


def check(texts, options):
    """The problems of pages, given as a table of their names and texts."""
    parsed = [blocks_of(page, text) for page, text in texts.items()]
    pages = [blocks for blocks, _ in parsed]
    problems = [problem for _, page_problems in parsed for problem in page_problems]
    problems = problems or compile_program(options.preamble + program(pages), options)
    for number, blocks in enumerate([] if problems else pages):
        folder = options.work / f"page_{number}"
        checkout(options, folder)
        problems += [*check_cpp(number, blocks, options, folder), *check_commands(blocks, options, folder)]
    blocks = [block for page_blocks in pages for block in page_blocks]
    count = {kind: sum(b.language == kind and not b.skipped for b in blocks) for kind in ("cpp", "sh")}
    skipped = [f"not run: {b.place}: {b.skipped}" for b in blocks if b.skipped]
    return problems, [*skipped, f"guides: {len(pages)} pages, {count['cpp']} blocks of C++, {count['sh']} of commands, "
                                f"{sum(b.shown is not None for b in blocks)} outputs compared"]


SELF_TEST = {  # page, complaint
    '```cpp\nint x = 1;\n```\n```cpp\nstd::cout << x + 1 << " at a.cpp:7\\n";\n```\n'
    '```text\n2 at b.cpp:99\n```\n': None,
    '```cpp\n#include <vector>\nint main() {\n  std::cout << std::vector<int>(3).size() << "\\nkernel cache 1\\n";\n'
    '}\n```\n'
    '```text\n3\nkernel cache   7\n```\n': None,
    '```cpp\nstd::cout << "a\\nb\\nc\\nd\\n";\n```\n```text\na\n...\nd\n```\n': None,
    '```cpp file=a.h\nint x;\n```\n```sh\ngrep -c x a.h\n```\n```text\n1\n```\n```sh skip="long"\nfalse\n```\n': None,
    '```cpp\nstd::cout << 1;\n```\n```text\n2\n```\n': "the page shows\n2\nbut the block prints\n1",
    '```cpp\nstd::cout << "a\\nb\\n";\n```\n```text\na\n```\n': "the page shows\na\n",
    '```cpp\nint x = "one";\n```\n': "does not compile",
    '```cpp\nstd::abort();\n```\n': "the program ended with -6",
    '```sh\nfalse\n```\n': "the commands ended with 1",
    '```sh\necho a\n```\n```text\nb\n```\n': "the page shows\nb",
    'Text\n```text\nb\n```\n': "page.md:3: shows the output of no block",
    '```python\npass\n```\n': "a block of python that nothing runs",
}


def self_test(compiler):
    for text, expected in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as work:
            options = argparse.Namespace(source=None, build=None, work=pathlib.Path(work), compiler=compiler, flags=[],
                                         libraries=[], environment={}, preamble="")
            found, _ = check({"page.md": text}, options)
            assert (len(found) == 1 and expected in found[0]) if expected else not found, (text, expected, found)
    print(f"guides: {sum(e is not None for e in SELF_TEST.values())} planted faults found")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", type=pathlib.Path, nargs="?")
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--libraries", nargs="*", default=[])
    parser.add_argument("--page", help="only pages whose name ends so")
    parser.add_argument("--keep", type=pathlib.Path, help="where to work, and leave everything")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options.compiler)
    root = options.source = options.source.resolve()
    options.build = options.build.resolve()
    paths = [root / "README.md", root / "docs/README.md", *sorted((root / "docs/guides").glob("*.md"))]
    texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}
    texts = {page: text for page, text in texts.items() if page.endswith(options.page or "")}
    shutil.rmtree(root / "tarry-dump", ignore_errors=True)  # commands write there: of an earlier run
    with tempfile.TemporaryDirectory() as work:
        options.work = options.keep or pathlib.Path(work)
        if options.keep:
            shutil.rmtree(options.keep, ignore_errors=True)
            options.keep.mkdir(parents=True)
        options.flags, options.preamble = [f"-I{root}/include", "-pthread"], PREAMBLE
        options.environment = {"PATH": f"{options.build}/bin:{os.environ['PATH']}",
                               "TARRY_CACHE_DIR": os.environ.get("TARRY_CACHE_DIR", "off")}
        problems, report = check(texts, options)
    print("\n".join([*report, *problems]))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
