"""NumPy's functions that pass over NaN, as calls of the module's own."""

from __future__ import annotations

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from typing import Any

__all__ = ["nanargmax", "nanargmin", "nancumprod", "nancumsum"]

_INFINITY = float("inf")


def _without(x: Any, instead: float) -> Array:
    """x with a number instead of NaN."""
    x = _tarry.asarray(x)
    return _tarry.where(_tarry.isnan(x), instead, x) if x.dtype.kind == "f" else x


def nancumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """Running sums along an axis, of the flattened x without one; NaN counts as 0."""
    return _tarry.cumsum(_without(x, 0), axis, dtype=dtype)


def nancumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """Running products along an axis, of the flattened x without one; NaN counts as 1."""
    return _tarry.cumprod(_without(x, 1), axis, dtype=dtype)


def nanargmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Places of the largest elements that are not NaN; 0 where all are."""
    return _tarry.argmax(_without(x, -_INFINITY), axis=axis, keepdims=keepdims)


def nanargmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Places of the smallest elements that are not NaN; 0 where all are."""
    return _tarry.argmin(_without(x, _INFINITY), axis=axis, keepdims=keepdims)
