"""Values that are joined with elements in place, as by NumPy's ufuncs, and methods of arrays made of functions."""

from __future__ import annotations

from . import _checks, _places, _tarry
from ._changes import refuse_nameless
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Callable, Sequence
    from typing import Any

_INFINITY = float("inf")


# ---- Methods of ufuncs ----


def _logically(how: str) -> Callable[[Array, Any, Any], None]:
    def join(x: Array, places: Any, value: Any) -> None:
        value = _tarry.astype(_tarry.not_equal(_tarry.asarray(value), 0), _tarry.int8)
        found = (_tarry.zeros if how == "or" else _tarry.ones)(x.shape, dtype=_tarry.int8)
        touched = _tarry.zeros(x.shape, dtype=_tarry.int8)
        _tarry._combine(found, places, value, "maximum" if how == "or" else "minimum")
        _tarry._combine(touched, places, _tarry.ones_like(value), "maximum")
        made = (_tarry.logical_or if how == "or" else _tarry.logical_and)(_tarry.not_equal(x, 0), _tarry.not_equal(found, 0))
        x[...] = _tarry.where(_tarry.not_equal(touched, 0), _tarry.astype(made, x.dtype), x)

    return join


# How numbers are joined is among bools the one or the other.
_BOOLS = {"add": _logically("or"), "maximum": _logically("or"), "multiply": _logically("and"), "minimum": _logically("and")}


def _plainly(how: str) -> Callable[[Array, Any, Any], None]:
    def join(x: Array, places: Any, value: Any) -> None:
        if x.dtype == _tarry.bool:
            _BOOLS[how](x, places, value)
        else:
            _tarry._combine(x, places, value, how)

    return join


def _subtract(x: Array, places: Any, value: Any) -> None:
    if x.dtype == _tarry.bool:
        raise _tarry._wrong("InvalidDtype", "subtract.at", "takes numbers, not bool; convert with astype first")
    value = -value if isinstance(value, (int, float)) else _tarry.asarray(value)
    if isinstance(value, Array):
        value = _tarry.negative(_tarry.astype(value, x.dtype if value.dtype.kind in "bu" else value.dtype))
    _tarry._combine(x, places, value, "add")


def _divide(x: Array, places: Any, value: Any) -> None:
    if x.dtype == _tarry.bool:
        raise _tarry._wrong("InvalidDtype", "divide.at", "takes numbers, not bool; convert with astype first")
    divisor = _tarry.ones(x.shape, dtype=x.dtype if x.dtype.kind == "f" else _tarry.float64)
    _tarry._combine(divisor, places, value, "multiply")
    made = x / divisor
    x[...] = made if x.dtype.kind == "f" else _tarry.where(divisor != 1, _tarry.astype(_tarry.trunc(made), x.dtype), x)


def _by_bits(op: str, how: str) -> Callable[[Array, Any, Any], None]:
    """Each bit of the elements is joined by itself."""
    def join(x: Array, places: Any, value: Any) -> None:
        if x.dtype.kind == "f":
            raise _tarry._wrong("InvalidDtype", f"{op}.at", f"takes integers and bools, not {x.dtype}")
        word = _tarry.uint8 if x.dtype == _tarry.bool else getattr(_tarry, f"uint{8 * x.dtype.itemsize}")
        bits = _tarry.arange(1 if x.dtype == _tarry.bool else 8 * x.dtype.itemsize, dtype=word)

        def spread(each: Any) -> Array:
            each = _tarry.astype(_tarry.astype(_tarry.asarray(each), x.dtype), word)
            return _tarry.bitwise_and(_tarry.bitwise_right_shift(each[..., None], bits), 1)

        found = spread(x)
        key = places if isinstance(places, tuple) else (places,)
        key = (*key, slice(None)) if any(each is Ellipsis for each in key) else key
        _tarry._combine(found, key, spread(value), how)
        found = _tarry.bitwise_left_shift(_tarry.bitwise_and(found, 1), bits)
        x[...] = _tarry.astype(_tarry.sum(found, axis=-1, dtype=word), x.dtype)

    return join


def _past_nan(name: str, worst: float) -> Callable[[Array, Any, Any], None]:
    def join(x: Array, places: Any, value: Any) -> None:
        how = "maximum" if name == "fmax" else "minimum"
        if x.dtype.kind != "f":
            _plainly(how)(x, places, value)
            return
        value = _tarry.astype(_tarry.asarray(value), x.dtype)
        number = _tarry.logical_not(_tarry.isnan(value))
        best, there = _tarry.full_like(x, worst), _tarry.zeros(x.shape, dtype=_tarry.int8)
        _tarry._combine(best, places, _tarry.where(number, value, worst), how)
        _tarry._combine(there, places, _tarry.astype(number, _tarry.int8), "maximum")
        x[...] = _tarry.where(_tarry.not_equal(there, 0), getattr(_tarry, name)(x, best), x)

    return join


# What joins values with the elements at places, by the name of the ufunc.
JOINS = {"add": _plainly("add"), "subtract": _subtract, "multiply": _plainly("multiply"), "divide": _divide,
         "minimum": _plainly("minimum"), "maximum": _plainly("maximum"), "fmin": _past_nan("fmin", _INFINITY),
         "fmax": _past_nan("fmax", -_INFINITY), "logical_or": _logically("or"), "logical_and": _logically("and"),
         "bitwise_or": _by_bits("bitwise_or", "maximum"), "bitwise_and": _by_bits("bitwise_and", "minimum"),
         "bitwise_xor": _by_bits("bitwise_xor", "add")}

_SEGMENTS = {"sum": "segment_sum", "min": "segment_min", "max": "segment_max"}


def reduceat(function: Callable[..., Array]) -> Callable[..., Array]:
    """What numpy.add.reduceat is for a ufunc, whose reduction the function is."""
    def run(x: Any, indices: Any, axis: int = 0) -> Array:
        """The reductions of the parts of an axis that begin at the indices, each until the next one or the end; where
        the next one is no larger, the element alone. Indices of Tarry are read, which waits."""
        x = _tarry.asarray(x)
        extent = _checks.extent_of("reduceat", x, axis)
        begins = indices.tolist() if isinstance(indices, Array) else _checks.numbers_of(indices)
        for each in begins:
            if not 0 <= each < extent:
                raise _tarry._wrong("OutOfRange", "reduceat", f"index {each} is out of range for an axis of extent {extent}")
        rows = _tarry.moveaxis(x, axis, 0)
        ends = [*begins[1:], extent]
        segment = _SEGMENTS.get(function.__name__)
        if segment and len(begins) > 4 and all(a < b for a, b in zip(begins, ends)):
            begin = begins[0]
            numbers = _tarry.searchsorted(_tarry.asarray(begins), _tarry.arange(begin, extent), "right") - 1
            made = getattr(_tarry, segment)(rows[begin:], numbers, groups=len(begins), sorted=True)
        else:
            parts = [function(rows[a:(b if a < b else a + 1)], axis=0) for a, b in zip(begins, ends)]
            made = _tarry.stack(parts) if parts else _tarry.zeros((0, *rows.shape[1:]), dtype=x.dtype)
        return _tarry.moveaxis(made, 0, axis)

    return run


# ---- Methods of arrays ----


def partition(self: Array, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
    """Puts the array's own elements in the order of partition along the axis."""
    refuse_nameless(self, "partition")
    self[...] = _places.partition(self, kth, axis)


def argpartition(self: Array, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array:
    """Places that bring the kth element to where sorting would, and smaller ones before it."""
    return _places.argpartition(self, kth, axis)


def compress(self: Array, condition: Any, axis: int | None = None) -> Array:
    """The parts along an axis where the condition is true, of the flattened array without one. Evaluates."""
    return _tarry.compress(condition, self, axis)


def choose(self: Array, choices: Sequence[Any], mode: str = "raise") -> Array:
    """Of each element, an integer from 0, the element of the choice of that number."""
    return _places.choose(self, choices, mode)


def put(self: Array, indices: Any, values: Any, mode: str = "raise") -> None:
    """Puts values into the array itself at these places in row-major order, again from the first where there are
    fewer."""
    refuse_nameless(self, "put")
    self[...] = _tarry.put(self, indices, values, mode=mode)
