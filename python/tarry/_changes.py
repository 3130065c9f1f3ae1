"""Changes of an array that nothing refers to but the call itself: they would be lost, and are refused."""

from __future__ import annotations

import sys
from _thread import get_ident
from typing import Any

from . import _tarry

_COUNTED = sys.hexversion < 0x030E0000  # from then on a call may borrow the reference of a variable


def _references(x: Any) -> int:
    return sys.getrefcount(x)


def _called(x: Any) -> int:
    return _references(x)


_FEWEST = _called(_tarry.zeros(()))  # where no variable refers to the argument of a function


def refuse_nameless(x: Any, op: str) -> None:
    """For a function that changes its argument x: raises where its caller has no name for that."""
    if _COUNTED and isinstance(x, _tarry.Array) and sys.getrefcount(x) <= _FEWEST:
        _tarry._refuse_lost(op)


_from_numpy: dict[tuple[str, bool], int] = {}  # the same for calls by NumPy, by the way that they come
_measuring: list[int] = []  # the threads that measure that


def refuse_nameless_of_numpy(x: Any, op: str, way: str, is_self: bool) -> None:
    """As refuse_nameless, where NumPy hands the array on in this way: of out=, where the call gives it back, if its
    caller drops the result."""
    if not _COUNTED or not isinstance(x, _tarry.Array):
        return
    count = sys.getrefcount(x)
    returned = way.startswith("out")
    if get_ident() in _measuring:
        _from_numpy[way, is_self] = count
        return
    if not _from_numpy:
        _measure()
    if count <= _from_numpy[way, is_self] and not (returned and _is_result_used(sys._getframe(2))):
        _tarry._refuse_lost(op)


def _is_result_used(frame: Any) -> bool:
    """False where the next instruction of the frame drops the result of its call."""
    import opcode

    code, at = frame.f_code.co_code, frame.f_lasti + 2
    while at < len(code) and opcode.opname[code[at]] == "CACHE":
        at += 2
    return at >= len(code) or opcode.opname[code[at]] != "POP_TOP"


def _measure() -> None:
    """Calls NumPy with arrays that have no name, in each way there is."""
    import numpy

    values = numpy.zeros(1)
    given = _tarry.asarray(values)
    _measuring.append(get_ident())
    try:
        numpy.copyto(_tarry.zeros(1), 0)
        numpy.stack([values], out=_tarry.zeros((1, 1), dtype=_tarry.float64))
        numpy.stack([given], out=_tarry.zeros((1, 1), dtype=_tarry.float64))
        numpy.exp(values, out=_tarry.zeros(1, dtype=_tarry.float64))
        numpy.exp(given, out=_tarry.zeros(1, dtype=_tarry.float64))
        numpy.add.at(_tarry.zeros(1), [0], 1)
    finally:
        _measuring.remove(get_ident())
