"""NumPy's functions that pass over NaN, as calls of the module's own."""

from __future__ import annotations

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

    _Axes = int | Sequence[int] | None

__all__ = ["nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmedian", "nanpercentile", "nanquantile"]

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


def _row_last(x: Array, axis: _Axes) -> tuple[Array, tuple[int, ...]]:
    """x with its axes of reduction as one, behind all others, and the shape of a result that keeps them."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in ([axis] if isinstance(axis, int) else axis)]
    kept = [a for a in range(x.ndim) if a not in axes]
    turned = _tarry.permute_dims(x, (*kept, *axes))
    return (_tarry.reshape(turned, (*(x.shape[a] for a in kept), -1)),
            tuple(1 if a in axes else extent for a, extent in enumerate(x.shape)))


def nanquantile(x: Any, q: Any, axis: _Axes = None, *, keepdims: bool = False) -> Array:
    """Quantiles q, from 0 to 1, of the elements that are not NaN, interpolated between the two beside each; NaN where
    all are. The axes of q come first. Algorithm: a sort, which puts NaN last."""
    x, q = _tarry.asarray(x), _tarry.asarray(q, dtype=_tarry.float64)
    if x.dtype.kind != "f":
        x = _tarry.astype(x, _tarry.float64)
    rows, kept = _row_last(x, axis)
    in_order = _tarry.sort(rows)
    last = _tarry.sum(_tarry.astype(_tarry.logical_not(_tarry.isnan(rows)), _tarry.int64), axis=-1, keepdims=True) - 1

    def of(one: Any) -> Array:
        place = one * _tarry.astype(last, _tarry.float64)
        below = _tarry.floor(place)
        first = _tarry.astype(_tarry.maximum(below, 0), _tarry.int64)
        then = _tarry.maximum(_tarry.minimum(first + 1, last), 0)
        a, b = (_tarry.take_along_axis(in_order, at, axis=-1) for at in (first, then))
        share = _tarry.astype(place - below, x.dtype)
        made = _tarry.where(share > 0, a + (b - a) * share, a)
        return _tarry.reshape(made, kept if keepdims else tuple(rows.shape[:-1]))

    if q.ndim == 0:
        return of(q)
    made = _tarry.stack([of(q_of) for q_of in _tarry.unstack(_tarry.reshape(q, -1))])
    return _tarry.reshape(made, (*q.shape, *made.shape[1:]))


def nanpercentile(x: Any, q: Any, axis: _Axes = None, *, keepdims: bool = False) -> Array:
    """nanquantile of q / 100."""
    return nanquantile(x, _tarry.asarray(q, dtype=_tarry.float64) / 100, axis, keepdims=keepdims)


def nanmedian(x: Any, axis: _Axes = None, *, keepdims: bool = False) -> Array:
    """The middle of the elements that are not NaN, the mean of the two beside it of an even number; NaN where all
    are."""
    return nanquantile(x, 0.5, axis, keepdims=keepdims)
