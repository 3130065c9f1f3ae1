#!/usr/bin/env python3
"""Follows CONTRIBUTING's "Add a schedule" in a copy of the tree: maps that load nothing get a schedule of their own.

The copy is built with a program that plans such a map and evaluates it; the program must find the schedule's word in the
name of the C kernel and the right elements. The new schedule may touch MOST_FILES files at most. It takes as long as a
build of the library, so it is no part of the test suite.

usage: check_new_schedule.py ROOT [FOLDER]
"""
import pathlib
import subprocess
import sys
import tempfile

MOST_FILES = 5

ROW = """// Maps that load nothing.
TARRY_SCHEDULE(Constant, constant, "constant", kMap, no_rules, choose_constant, render_c_constant, geometry_c_constant,
               render_constant, geometry_constant)
"""
LAYOUT = """struct ConstantLayout {
  int vector = 1;
  [[nodiscard]] std::array<LayoutField, 0> fields() const { return {}; }
};

"""
# file -> the text before which the second is put, or None for a new file
CHANGES = {
    "codegen/ir/schedules.def": ("TARRY_SCHEDULE(Pointwise,", ROW),
    "codegen/ir/layout.h": ("namespace detail {", LAYOUT),
    "codegen/lower/constant.cpp": (None, """// choose_constant(): maps that load nothing.
#include <algorithm>

#include "codegen/lower/choice.h"

namespace tarry::codegen {

std::optional<Layout> choose_constant(Choice& c) {
  const auto loads = [](const Access& a) { return !a.store && a.buffer != kNone; };
  if (!c.is_plain_map() || std::ranges::any_of(c.ir.accesses, loads)) return std::nullopt;
  return ConstantLayout{};
}

}  // namespace tarry::codegen
"""),
    "codegen/c/constant.cpp": (None, """// C of maps that load nothing.
#include "codegen/c/render.h"

namespace tarry::codegen {

KernelSource render_c_constant(const KernelIr& ir, const graph::Target& target) {
  return render_c_pointwise(ir, target);
}

Geometry geometry_c_constant(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  return geometry_c_pointwise(ir, target, args);
}

}  // namespace tarry::codegen
"""),
    "codegen/cuda/constant.cpp": (None, """// CUDA C of maps that load nothing.
#include "codegen/cuda/render.h"

namespace tarry::codegen::cuda {

namespace {

KernelIr as_map(KernelIr ir) {
  ir.layout = PointwiseLayout{};
  return ir;
}

}  // namespace

KernelSource render_constant(const KernelIr& ir, const graph::Target& target) {
  return render_pointwise(as_map(ir), target);
}

Geometry geometry_constant(const KernelIr& ir, const graph::Target& target, const KernelArgs& args) {
  return geometry_pointwise(as_map(ir), target, args);
}

}  // namespace tarry::codegen::cuda
"""),
}
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(probe CXX)
set(CMAKE_CXX_STANDARD 20)
add_subdirectory(tree)
add_executable(probe probe.cpp)
target_link_libraries(probe PRIVATE tarry::tarry)
"""
PROBE = """#include <tarry/tarry.h>

#include <iostream>
#include <sstream>

int main() {
  const tarry::Array x = tarry::arange(5) * 3 + 1;
  std::ostringstream plan;
  plan << tarry::plan(x) << tarry::plan_for("sm_90", x);
  std::cout << plan.str();
  const std::string text = plan.str();
  const std::size_t first = text.find("_constant_"), second = text.find("_map_", first + 1);  // CUDA C is that of maps
  const bool right = x.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 4, 7, 10, 13};
  return first != std::string::npos && second != std::string::npos && right ? 0 : 1;
}
"""


def copy(root, tree):
    files = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, files):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((root / name).read_bytes())


def change(tree):
    for name, (before, text) in CHANGES.items():
        file = tree / name
        if before is None:
            assert not file.exists(), name
            file.write_text(text, encoding="utf-8")
            continue
        old = file.read_text(encoding="utf-8")
        assert old.count(before) == 1, f"{name}: {before} stands there {old.count(before)} times"
        file.write_text(old.replace(before, text + before), encoding="utf-8")


def changed(root, tree):
    return sorted(str(p.relative_to(tree)) for p in tree.rglob("*") if p.is_file() and
                  not ((root / p.relative_to(tree)).exists() and (root / p.relative_to(tree)).read_bytes() == p.read_bytes()))


def run(*command):
    subprocess.run(command, check=True)


def check(root, folder):
    tree = folder / "tree"
    copy(root, tree)
    change(tree)
    files = changed(root, tree)
    print("\n".join(files + [f"new schedule: {len(files)} files"]), flush=True)
    for script in ("check_layering.py", "check_docs.py"):
        run(sys.executable, tree / "scripts" / script, tree)
    (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    (folder / "probe.cpp").write_text(PROBE, encoding="utf-8")
    build = folder / "build"
    run("cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
    run("ninja", "-C", build, "-j2", "probe")
    run(build / "probe")
    return len(files) <= MOST_FILES


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        ok = check(root, pathlib.Path(sys.argv[2]).resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            ok = check(root, pathlib.Path(folder))
    print("new schedule: built, chosen and right" if ok else f"new schedule: more than {MOST_FILES} files")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
