#!/usr/bin/env python3
"""Rejects includes that go up the table of rooms or of a room's wings, circles of more than two units, and third-party
headers outside the files that own them.

usage: check_layering.py ROOT | --self-test
"""
import fnmatch
import pathlib
import re
import sys
import tempfile

# room -> rooms whose headers it may include besides its own
ROOMS = {
    "include": set(),
    "support": {"include"},
    "graph": {"include", "support"},
    "codegen": {"include", "support", "graph"},
    "cache": {"include", "support"},
    "runtime": {"include", "support", "graph", "codegen", "cache"},
    "tools": {"include", "support", "cache"},
    "examples": {"include"},
    "python": {"include"},
    # Workloads use the public API. The machine's ceilings are hand-written kernels, which only a backend can run.
    "bench": {"include", "runtime"},
    "tests": {"include", "support", "graph", "codegen", "cache", "runtime"},
}

# room -> rows of its wings (folders; "" is the room itself), from below: a wing may include those of the rows before
# its own, so no two wings include each other. "*" stands for every wing that no row names.
WINGS = {
    "graph": [[""], ["fusion", "record", "slices"], ["functions", "passes"]],
    "codegen": [["ir", "prelude"], ["interpret", "lower", "render"], ["c", "cuda"]],
    "runtime": [
        [""], ["device"], ["device/compilers"], ["device/cpu", "device/cuda"], ["plan"], ["observe"], ["warm"],
        ["evaluate"], ["arrays"], ["prebuilt"],
    ],
    "tests": [["helpers"], ["fuzz", "kernels"], ["*"]],
}

# Units (a header and its source) that may include one another in a circle: a class and what only it uses.
MOST_IN_CIRCLE = 2

# third-party header -> the only files that may include it (the reason to change a library is then one file); the first
# pattern that fits decides
OWNERS = {
    # Tests compute references with more bits than the language has.
    "boost/multiprecision/*": ["tests/*"],
    "boost/*": ["graph/graph.h", "graph/graph.cpp"],
    "xxhash.h": ["support/hash.h", "support/hash.cpp"],
    "spdlog/*": ["support/log.cpp"],
    "catch2/*": ["tests/helpers/test.h"],
    "nanobind/*": ["python/*"],
    "CLI/*": ["tools/*", "examples/*", "bench/*"],
    "nlohmann/*": [
        "runtime/warm/manifest.cpp", "runtime/observe/dump_index.cpp", "tools/*", "examples/*", "bench/*", "tests/*",
    ],
    "benchmark/*": ["bench/*"],
    "tbb/*": ["runtime/*"],
    "oneapi/tbb/*": ["runtime/*"],
    "fmt/*": [
        "support/*", "graph/*", "codegen/*", "cache/*", "runtime/*", "tools/*", "examples/*", "bench/*", "tests/*",
    ],
    # The driver's types are declared by ourselves: no toolkit is needed to build.
    # Only a test looks at the real headers, where they are installed.
    "cuda*.h": ["tests/runtime/device/cuda_*"],
    "nvrtc*.h": ["tests/runtime/device/cuda_*", "tests/runtime/device/nvrtc_*"],
    "cublas*.h": ["tests/runtime/device/cuda_*"],
}

# our own headers that declare the driver's types stay among the files that talk to the driver
DRIVER_HEADERS = ["runtime/device/cuda/*.h"]
DRIVER_FILES = ["runtime/device/cuda/*", "tests/*"]

# the one table of switches; a test may have a switch of its own
GETENV_FILES = ["support/env.cpp", "tests/*"]

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list
fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map
memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
variant vector version
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r'//.*$|"(?:[^"\\]|\\.)*"')


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def row_of(file):
    """The row of the file's wing in its room's table; None where the table has no such wing."""
    room, _, wing = file.rpartition("/")[0].partition("/")
    for fallback in (wing, "*"):
        for number, row in enumerate(WINGS[room]):
            if fallback in row:
                return number
    return None


def check_wings(file, header):
    """The sentence that says what is wrong with `file` including `header` of the same room, or None."""
    if file.split("/")[0] not in WINGS or file.rpartition("/")[0] == header.rpartition("/")[0]:
        return None
    rows = row_of(file), row_of(header)
    for name, row in zip((file, header), rows):
        if row is None:
            return f"{name} stands in no wing of its room"
    if rows[0] <= rows[1]:
        return f"the wing of {file} may not include {header}: its wing is above it or beside it"
    return None


def check_include(file, bracket, header):
    """The sentence that says what is wrong with `#include header` in `file`, or None."""
    room = file.split("/")[0]
    owner = "include" if header.startswith("tarry/") else header.split("/")[0]
    if bracket == '"' or owner == "include":
        if owner not in ROOMS:
            return f'"{header}" is not written from the root (room/file.h)'
        if owner == "include" and bracket == '"':
            return f"public header {header} is included with quotes"
        if owner != room and owner not in ROOMS[room]:
            return f"{room}/ may not include {header}: {owner}/ is above it or beside it"
        if matches(header, DRIVER_HEADERS) and not matches(file, DRIVER_FILES):
            return f"{header} declares driver types, which stay in {', '.join(DRIVER_FILES)}"
        return check_wings(file, header) if owner == room else None
    if room == "include" and header not in STANDARD:
        return f"<{header}> in a public header: they include the standard library only"
    for pattern, owners in OWNERS.items():
        if fnmatch.fnmatch(header, pattern):
            return None if matches(file, owners) else f"<{header}> may be included only by {', '.join(owners)}"
    return None


def check_file(root, path):
    file = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        problem = check_include(file, *include.groups()) if include else None
        asks = re.search(r"\b(secure_)?getenv\b", COMMENT.sub("", line)) and not matches(file, GETENV_FILES)
        if not problem and asks:
            problem = "getenv outside support/env.cpp: switches have one table"
        if problem:
            yield f"{file}:{number}: {problem}"


def sources(root):
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            # Consumers of the package and planted bugs are programs of users, not part of a room.
            if path.suffix in (".h", ".cpp", ".def", ".c") and not matches(
                path.relative_to(root).as_posix(), ["tests/package/*", "tests/seeded/*"]
            ):
                yield path


def unit_graph(root):
    """unit -> units that its files include; a header and the source of its name are one unit."""
    graph = {}
    for path in sources(root):
        unit = path.relative_to(root).with_suffix("").as_posix()
        included = graph.setdefault(unit, set())
        for line in path.read_text(encoding="utf-8").splitlines():
            include = INCLUDE.match(line)
            if include and include[1] == '"':
                included.add(include[2].rpartition(".")[0])
    return {unit: {i for i in included if i in graph and i != unit} for unit, included in graph.items()}


def circles(graph):
    """Strongly connected components of more than one unit: what reaches each other, by two walks (Kosaraju)."""
    def walk(start, edges, seen):
        """Units that `start` reaches and nobody has seen, each after those it reaches."""
        order, stack = [], [(start, iter(edges[start]))]
        seen.add(start)
        while stack:
            unit, rest = stack[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                order.append(unit)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(edges[following])))
        return order

    back = {unit: [] for unit in graph}
    for unit, included in graph.items():
        for other in included:
            back[other].append(unit)
    seen, order = set(), []
    for unit in graph:
        if unit not in seen:
            order += walk(unit, graph, seen)
    seen = set()
    for unit in reversed(order):
        if unit not in seen and len(circle := walk(unit, back, seen)) > 1:
            yield sorted(circle)


def check_tree(root):
    files = list(sources(root))
    problems = [problem for path in files for problem in check_file(root, path)]
    for circle in circles(unit_graph(root)):
        if len(circle) > MOST_IN_CIRCLE:
            problems.append(f"{len(circle)} units include one another: {', '.join(circle)}")
    return problems, len(files)


SELF_TEST = [
    # file, line, part of the complaint ("" where the line is fine)
    ("support/a.h", "#include <tarry/error.h>", ""),
    ("runtime/a.cpp", '#include "codegen/ir/kernel_ir.h"', ""),
    ("graph/graph.cpp", "#include <boost/graph/topological_sort.hpp>", ""),
    ("support/env.cpp", 'auto v = std::getenv("X");', ""),
    ("runtime/a.cpp", "// getenv is only named in this comment", ""),
    ("runtime/device/cuda/backend.cpp", '#include "runtime/device/cuda/api.h"', ""),
    ("include/tarry/a.h", '#include "graph/node.h"', "above it"),
    ("include/tarry/a.h", "#include <fmt/format.h>", "standard library only"),
    ("include/tarry/a.h", "#include <unistd.h>", "standard library only"),
    ("support/a.cpp", '#include "graph/node.h"', "above it"),
    ("graph/a.cpp", '#include "codegen/ir/kernel_ir.h"', "above it"),
    ("cache/a.cpp", '#include "graph/node.h"', "beside it"),
    ("codegen/ir/a.cpp", '#include "runtime/device/backend.h"', "above it"),
    ("codegen/ir/a.cpp", '#include "cache/kernel_cache.h"', "beside it"),
    ("tools/main.cpp", '#include "runtime/evaluate/engine.h"', "above it"),
    ("examples/a.cpp", '#include "graph/node.h"', "above it"),
    ("bench/a.cpp", '#include "runtime/device/backend.h"', ""),
    ("bench/a.cpp", '#include "graph/node.h"', "above it"),
    ("graph/a.cpp", '#include "node.h"', "from the root"),
    ("graph/a.cpp", '#include "tarry/array.h"', "with quotes"),
    ("codegen/c/a.cpp", '#include "codegen/ir/kernel_ir.h"', ""),
    ("graph/passes/a.cpp", '#include "graph/fusion/trace.h"', ""),
    ("graph/a.cpp", '#include "graph/record/record.h"', "above it or beside it"),
    ("codegen/ir/a.cpp", '#include "codegen/c/render.h"', "above it or beside it"),
    ("codegen/c/a.cpp", '#include "codegen/cuda/render.h"', "above it or beside it"),
    ("codegen/c/a.cpp", '#include "codegen/kernel_ir.h"', "stands in no wing"),
    ("codegen/attic/a.cpp", '#include "codegen/ir/kernel_ir.h"', "stands in no wing"),
    ("graph/node.cpp", "#include <boost/graph/adjacency_list.hpp>", "only by graph/graph.h"),
    ("tests/a.cpp", "#include <boost/multiprecision/cpp_int.hpp>", ""),
    ("tests/a.cpp", "#include <boost/graph/adjacency_list.hpp>", "only by graph/graph.h"),
    ("graph/graph.cpp", "#include <boost/multiprecision/cpp_int.hpp>", "only by tests/*"),
    ("cache/a.cpp", "#include <xxhash.h>", "only by support/hash.h"),
    ("runtime/a.cpp", "#include <spdlog/spdlog.h>", "only by support/log.cpp"),
    ("tests/a.cpp", "#include <catch2/catch.hpp>", "only by tests/helpers/test.h"),
    ("runtime/device/cuda/backend.cpp", "#include <cuda.h>", "only by tests/runtime/device/cuda_*"),
    ("runtime/evaluate/evaluate.cpp", '#include "runtime/device/cuda/api.h"', "driver types"),
    ("runtime/a.cpp", '  const char* v = getenv("HOME");', "outside support/env.cpp"),
]


# headers and what each includes, part of the complaint
SELF_TEST_TREES = [
    ({"graph/fusion/a.h": "graph/passes/b.h", "graph/passes/b.h": "graph/fusion/a.h"},
     "graph/fusion/a.h may not include"),
    ({"cache/a.h": "cache/b.h", "cache/b.h": "cache/a.h"}, ""),
    ({"cache/a.h": "cache/b.h", "cache/b.h": "cache/c.h", "cache/c.h": "cache/d.h"}, ""),
    ({"cache/a.h": "cache/b.h", "cache/b.h": "cache/c.h", "cache/c.h": "cache/a.h"},
     "3 units include one another: cache/a, cache/b, cache/c"),
    ({"cache/a.cpp": "cache/b.h", "cache/b.h": "cache/c.h", "cache/c.cpp": "cache/a.h"},
     "3 units include one another: cache/a, cache/b, cache/c"),
]


def self_test():
    for includes, expected in SELF_TEST_TREES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, header in includes.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(f'// a file\n#include "{header}"\n', encoding="utf-8")
            problems, _ = check_tree(root)
            assert len(problems) == bool(expected) and all(expected in p for p in problems), (includes, problems)
    for file, line, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / file).parent.mkdir(parents=True)
            (root / file).write_text(f"// a file\n{line}\n", encoding="utf-8")
            problems, count = check_tree(root)
            assert count == 1
            if expected:
                assert len(problems) == 1 and expected in problems[0] and problems[0].startswith(f"{file}:2: "), (
                    file, line, problems)
            else:
                assert not problems, (file, line, problems)
    print(f"layering: {len(SELF_TEST)} planted lines and {len(SELF_TEST_TREES)} trees judged as they should be")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    problems, count = check_tree(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems + [f"layering: {count} files, {len(problems)} problems"]))
    sys.exit(1 if problems or not count else 0)


if __name__ == "__main__":
    main()
