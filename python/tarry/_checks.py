"""Checks of arguments: at the line of the call where the host knows the values, else by an error when they are read."""

from __future__ import annotations

import builtins as _builtins

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any


def numbers_of(x: Any) -> Any:
    """A number, or nested lists of numbers, where the host knows the values of x; None where it does not."""
    if isinstance(x, (int, float)):
        return x
    if isinstance(x, Array):
        return None
    if hasattr(x, "__array_interface__"):
        return x.tolist()
    if isinstance(x, (list, tuple, range)):
        made = [numbers_of(each) for each in x]
        return None if any(each is None for each in made) else made
    return None


def flat(numbers: Any) -> list[Any]:
    """The numbers of nested lists."""
    if not isinstance(numbers, list):
        return [numbers]
    return [each for part in numbers for each in flat(part)]


def extremes(x: Any) -> tuple[Any, Any] | None:
    """The smallest and the largest of the values that the host knows; None of unknown ones and of none."""
    if not isinstance(x, Array) and hasattr(x, "__array_interface__"):  # NumPy is faster than lists
        return (x.min(), x.max()) if x.size else None
    numbers = numbers_of(x)
    known = None if numbers is None else flat(numbers)
    return (_builtins.min(known), _builtins.max(known)) if known else None


def total_of(x: Any) -> Any:
    """The sum of the values that the host knows; None of unknown ones."""
    if not isinstance(x, Array) and hasattr(x, "__array_interface__"):
        return x.sum()
    numbers = numbers_of(x)
    return None if numbers is None else sum(flat(numbers))


def order_of(x: Any) -> tuple[bool, bool] | None:
    """If the values of a list that the host knows never decrease, and if they never increase; None of others."""
    if not isinstance(x, Array) and hasattr(x, "__array_interface__"):
        return (bool((x[:-1] <= x[1:]).all()), bool((x[:-1] >= x[1:]).all())) if x.ndim == 1 else None
    known = numbers_of(x)
    if not isinstance(known, list) or any(isinstance(each, list) for each in known):
        return None
    pairs = list(zip(known, known[1:]))
    return all(a <= b for a, b in pairs), all(a >= b for a, b in pairs)


def places_within(op: str, x: Any, extent: int) -> Array:
    """x as integers, each from 0 to extent - 1. OutOfRange at the line, or when they are read."""
    known = extremes(x)
    if known is not None and not (0 <= known[0] and known[1] < extent):
        wrong = known[0] if known[0] < 0 else known[1]
        raise _tarry._wrong("OutOfRange", op, f"{wrong} is out of range for {extent} places")
    places = _tarry.asarray(x)
    if places.size == 0 and places.dtype.kind == "f":
        places = _tarry.astype(places, _tarry.int64)
    if places.dtype.kind not in "iu":
        raise _tarry._wrong("InvalidIndex", op, f"takes integers, not {places.dtype}")
    if known is not None or places.size == 0:
        return places
    places = _tarry.astype(places, _tarry.int64)
    beyond = _tarry.where(places < 0, places - 2, _tarry.where(places < extent, 0, _tarry.maximum(places, 2)))
    return places + _tarry.take(_tarry.asarray([0, 0]), beyond, axis=0)  # of two, which neither place is one of


def failing(bad: Any, like: Array) -> Array:
    """Zeros of the dtype of an array that fail when they are read where `bad` is true."""
    return _tarry.take(_tarry.asarray([0, 0], dtype=like.dtype), _tarry.where(bad, 2, 0), axis=0)


def axes_of(op: str, x: Array, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    """The axes of a reduction, counted from the front. OutOfRange for one that x does not have."""
    if axis is None:
        return tuple(range(x.ndim))
    axes = tuple(int(each) for each in axis) if isinstance(axis, (tuple, list)) else (axis.__index__(),)
    for each in axes:
        if not -x.ndim <= each < x.ndim:
            raise _tarry._wrong("OutOfRange", op, f"axis {each} is out of range for {x.ndim} axes")
    made = tuple(each % x.ndim for each in axes)
    if len(set(made)) < len(made):
        raise _tarry._wrong("InvalidValue", op, f"axis {axis} names an axis twice")
    return made


def extent_of(op: str, x: Array, axis: int) -> int:
    """The extent of an axis. OutOfRange for one that x does not have."""
    return x.shape[axes_of(op, x, axis)[0]]
