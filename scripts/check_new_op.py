#!/usr/bin/env python3
"""Follows CONTRIBUTING.md, "Add an operation", in a copy of the tree: an elementary function, softsign, in five files.
The generated pages are written, the copy is built, and its tests of every op have to pass.

usage: check_new_op.py [--jobs N] [--keep FOLDER] ROOT
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# (file, the line that it goes behind, the lines)
EDITS = [
    ("graph/ops.def", "TARRY_OP(Sigmoid,", "TARRY_OP(Softsign, softsign, 1, Map, Float, nullptr, 12, 2, 2, Function)\n"),
    ("codegen/prelude/math_half.h", "TARRY_HALF_UNARY(sigmoid)", """\
// x / (1 + |x|).
//== softsign_f64 :
TARRY_FN double tarry_softsign_f64(double x) { return x / (1.0 + (x < 0.0 ? -x : x)); }
//== softsign_f32 : softsign_f64
TARRY_FN float tarry_softsign_f32(float x) { return (float)tarry_softsign_f64((double)x); }
//== softsign_f16 softsign_bf16 : half_function softsign_f32
TARRY_HALF_UNARY(softsign)
"""),
    ("include/tarry/ops.h", "Array sigmoid(const Array& x", """\
/// x / (1 + |x|); NaN of infinities.
/// Example: `ta::softsign(ta::array({0.0, 3.0}))` is `[0.   0.75]`.
[[nodiscard]] TARRY_EXPORT Array softsign(const Array& x, Where where = std::source_location::current());
"""),
    ("tests/helpers/elementary.h", "case Op::Sigmoid:", "    case Op::Softsign: return a / (1 + std::fabs(a));\n"),
    ("CHANGELOG.md", "### ", "\n- `softsign`.\n"),
]
FOLDERS = ["build", ".git", ".gpu"]
TESTS = ["ops_test", "math_test", "prelude_test", "interpreter_test", "error_hostile_test", "fuzz_test"]


def edit(root):
    for name, anchor, text in EDITS:
        path = root / name
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if anchor in line)
        path.write_text("".join(lines[:at + 1]) + text + "".join(lines[at + 1:]), encoding="utf-8")


def run(*words, cwd):
    environment = dict(os.environ, TARRY_FUZZ_GRAPHS="200", TARRY_CACHE_DIR="off")
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"new op: {' '.join(map(str, words))} failed\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the copy, which stays")
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="tarry-new-op-"))
    copy = folder / "tree"
    try:
        shutil.copytree(options.root, copy, ignore=lambda at, names: FOLDERS if pathlib.Path(at) == options.root else [])
        edit(copy)
        for script in ("op_table.py", "make_reference.py"):
            run(sys.executable, f"scripts/{script}", ".", cwd=copy)
        for script in ("check_docs.py", "check_layering.py"):
            run(sys.executable, f"scripts/{script}", ".", cwd=copy)
        run("cmake", "--preset", "ci", "-DTARRY_BUILD_BENCH=OFF", "-DTARRY_BUILD_EXAMPLES=OFF", cwd=copy)
        run("cmake", "--build", "build/ci", "-j", options.jobs, "--target", "tarry_tests", cwd=copy)
        for test in TESTS:
            run("build/ci/bin/tarry_tests", "-#", f"[#{test}]~[.]", cwd=copy)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)
    print(f"new op: {len(EDITS)} files were edited; it builds, and {len(TESTS)} files of tests pass")


if __name__ == "__main__":
    main()
