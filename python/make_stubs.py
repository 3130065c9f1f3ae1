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

NUMBER = "Array | builtins.bool | int | float"
# Slots of the type of arrays, which say nothing about types.
UNARY = ["neg", "pos", "abs", "invert"]
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "lshift", "rshift", "and", "or", "xor"]
SLOTS = {
    **{name: f"value: {NUMBER}, /) -> Array" for name in ["lt", "le", "gt", "ge"]},
    **{name: "value: object, /) -> Array:  # type: ignore[override]" for name in ["eq", "ne"]},
    **{name: "/) -> Array" for name in UNARY},
    **{prefix + name: f"value: {NUMBER}, /) -> Array" for name in BINARY for prefix in ("", "r", "i")},
    **{prefix + "pow": f"value: {NUMBER}, mod: None = None, /) -> Array" for prefix in ("", "r")},
    "ipow": f"value: {NUMBER}, /) -> Array:  # type: ignore[misc]",
    **{prefix + "divmod": f"value: {NUMBER}, /) -> tuple[Array, Array]" for prefix in ("", "r")},
    "bool": "/) -> builtins.bool", "int": "/) -> int", "index": "/) -> int", "float": "/) -> float",
    "len": "/) -> int", "hash": "/) -> int", "iter": "/) -> Iterator[Array]", "contains": "key: object, /) -> builtins.bool",
    "getitem": "key: object, /) -> Array", "setitem": "key: object, value: object, /) -> None",
    "delitem": "key: object, /) -> None", "complex": ") -> complex", "buffer": "flags: int, /) -> memoryview",
    "release_buffer": "buffer: memoryview, /) -> None",
}
# Parameters and results that nanobind knows less about.
ARGUMENTS = {"*arrays)": f"*arrays: {NUMBER})", "*arrays,": f"*arrays: {NUMBER},", "*keys": f"*keys: {NUMBER}",
             "*args": "*args: Any", "**kwargs": "**kwargs: Any", "*columns": "*columns: object",
             "*spacings": f"*spacings: {NUMBER}", "*states": f"*states: {NUMBER}",
             "*arrays_and_dtypes": "*arrays_and_dtypes: object", ": Callable,": ": Callable[..., Any],"}
RESULTS = {
    "shape": "tuple[int, ...]", "item": "builtins.bool | int | float", "tolist": "Any", "evaluate": "Array",
    "__reduce__": "tuple[object, ...]", "__reduce_ex__": "tuple[object, ...]", "meshgrid": "list[Array]",
    "broadcast_arrays": "list[Array]", "unstack": "tuple[Array, ...]", "nonzero": "tuple[Array, ...]",
    "aggregate": "Groups", "where": "tuple[Array, ...]",
    "host_function": "tuple[Array, ...]", "cuda_kernel": "tuple[Array, ...]", "topk": "TopKResult",
    "unique_all": "UniqueAllResult", "unique_counts": "UniqueCountsResult", "unique_inverse": "UniqueInverseResult",
    "eigh": "EighResult", "slogdet": "SlogdetResult", "qr": "QRResult", "svd": "SVDResult",
    "lstsq": "LstsqResult", "__call__": "Any", "__dlpack__": "Any",
    "__cuda_array_interface__": "dict[str, Any]", "__numpy_dtype__": "Any", "__enter__": "Self",
}
GENERAL = re.compile(r"-> (object|tuple|list|dict)(?=:)")
FIELDS = {"Groups": "tuple[Array, ...]"}  # of named tuples; those of others are arrays
# Methods that the package adds in Python.
ADDED = """
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType: ...

    def _repr_html_(self) -> str: ...

    def argpartition(self, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array: ...

    def choose(self, choices: Any, mode: str = "raise") -> Array: ...

    def compress(self, condition: Any, axis: int | None = None) -> Array: ...

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect") -> None: ...

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None: ...
"""
BUFFER = """
    def __buffer__(self, flags: int, /) -> memoryview: ...
"""  # which Python 3.12 and later say themselves
IMPORTS = """
import builtins
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, SupportsIndex
from typing_extensions import Self
"""


def made_in_python(found):
    """Exceptions and named tuples call themselves by their public names, and would be imported from where they go."""
    import tarry

    home = getattr(tarry, found[1].strip("."), tarry) if found[1] else tarry
    made = [getattr(home, name) for name in re.findall(r"(\w+) as (?!__)", found[2])]
    made.sort(key=lambda made: len(made.__mro__))
    return "\n".join(map(declared, made))


def declared(made):
    """The stub of a class that is made of others alone."""
    if fields := getattr(made, "_fields", None):
        lines = [f"    {name}: {FIELDS.get(made.__name__, 'Array')}" for name in fields]
        return "\n".join([f"class {made.__name__}(NamedTuple):", *lines, ""])
    return f"class {made.__name__}({', '.join(base.__name__ for base in made.__bases__)}): ..."


def annotated(line):
    """The line of a function or property with all of its types."""
    indent, name = re.match(r"(\s*)def (\w+)", line).groups()
    slot = SLOTS.get(name.strip("_")) if name.startswith("__") and indent else None
    if slot and re.search(r"\(self(, \w+(=None)?)*(, /)?\)", line):  # no parameter has a type
        end = "" if "# type" in slot else ":"
        return f"{indent}def {name}(self, {slot}{end}".replace("(self, )", "(self)") + line.partition(":")[2]
    # The module has a bool of its own, which annotations do not mean.
    line = re.sub(r"(?<=: )bool\b|(?<=\| )bool\b|(?<=> )bool\b", "builtins.bool", line)
    for untyped, typed in ARGUMENTS.items():
        line = line.replace(untyped, typed)
    if name == "plan":
        line = line.replace(f"*arrays: {NUMBER}", "*arrays: object")  # nests of them
    if name in RESULTS:
        line = GENERAL.sub("-> " + RESULTS[name], line)
    if name == "__eq__":
        line = re.sub(r"arg: [^,]+,", "arg: object,", line)
    return line.replace("arg: int, /) -> tuple[object", "arg: SupportsIndex, /) -> tuple[object")


def finished(text, module):
    """The stub of a module, from what nanobind writes."""
    text = re.sub(r"from tarry\._(?:numpy|joins) import \(.*?\)\n", "", text, flags=re.S)
    text = re.sub(r"from tarry(\.\w+)? import \(\n(.*?)\)", made_in_python, text, flags=re.S)
    text = text.replace("tarry._tarry.", "").replace("import tarry._tarry\n", "")
    added = ADDED + ("" if "__buffer__" in text else BUFFER)
    text = text.replace("__hash__: None = None", "__hash__: ClassVar[None]  # type: ignore[assignment]\n" + added)
    lines, home = [], ""
    for line in text.split("\n"):
        home = line if line.startswith("class ") else home
        lines.append(annotated(line) if re.match(r"\s*def ", line) else line)
        if home.startswith("class Dtype"):  # whose comparisons are no arrays
            lines[-1] = re.sub(r"(value: object, /\) ->) Array:.*?( \.\.\.)?$", r"\1 builtins.bool:\2", lines[-1])
    types = "from collections.abc import Sequence\n\nfrom tarry import Array, Device, Dtype\n"
    ours = "" if module == "__init__" else types
    return "\n".join(lines).replace("\n\n", "\n" + IMPORTS + ours, 1)


def main():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-m", "tarry._tarry", "-O", str(PACKAGE)]
    subprocess.run(command, env=environment, check=True)
    sys.path.insert(0, str(PACKAGE.parent))
    for stub in (PACKAGE / "_tarry").glob("*.pyi"):
        stub.write_text(finished(stub.read_text(encoding="utf-8"), stub.stem), encoding="utf-8")


main()
