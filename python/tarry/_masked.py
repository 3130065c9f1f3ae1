"""Reductions of the elements where a mask is true, on from an initial value."""

from __future__ import annotations

from . import _checks, _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from typing import Any

# Values for the elements that a mask leaves out, and how a reduction goes on from an initial value.
_LEFT_OUT = {"sum": 0, "nansum": 0, "prod": 1, "nanprod": 1, "any": False, "all": True}
_GOES_ON = {"sum": _tarry.add, "nansum": _tarry.add, "prod": _tarry.multiply, "nanprod": _tarry.multiply,
            "max": _tarry.maximum, "nanmax": _tarry.fmax, "min": _tarry.minimum, "nanmin": _tarry.fmin}


def reduce(op: str, x: Array, axis: Any, *, keepdims: bool, initial: Any = None, where: Any = None, dtype: Any = None,
           correction: float = 0, mean: Any = None) -> Array:
    """The reduction `op` of x, whose mask broadcasts to its shape."""
    _checks.axes_of(op, x, axis)
    mask = None if where is None or where is True else _tarry.broadcast_to(_tarry.asarray(where, dtype=_tarry.bool), x.shape)
    if op.endswith("mean"):
        return _mean(op, x, axis, keepdims, mask, dtype)
    if op.endswith(("var", "std")):
        return _moment(op, x, axis, keepdims, mask, dtype, correction, mean)
    arguments = {"keepdims": keepdims, **({} if dtype is None else {"dtype": dtype})}
    if initial is not None and x.dtype.kind != "f" and _tarry.asarray(initial).dtype.kind == "f":
        raise _tarry._wrong("InvalidValue", op, f"the initial value of {x.dtype} is whole")
    if mask is not None:
        if op not in _LEFT_OUT and initial is None:
            raise _tarry._wrong("InvalidValue", op, "a mask wants an initial value, which is the result of no element")
        x = _tarry.where(mask, x, _tarry.asarray(_LEFT_OUT.get(op, initial), dtype=x.dtype))
    if initial is None:
        return getattr(_tarry, op)(x, axis=axis, **arguments)
    if x.size == 0 and op not in _LEFT_OUT:
        return _tarry.full(_tarry.sum(x, axis=axis, keepdims=keepdims).shape, initial, dtype=x.dtype)
    made = getattr(_tarry, op)(x, axis=axis, **arguments)
    return _GOES_ON[op](made, _tarry.asarray(initial, dtype=made.dtype))


def _wide(x: Array, dtype: Any) -> tuple[Array, Any]:
    """x in a dtype of at least 32 bits whose sums a mean is made of, and the dtype of the result."""
    made = _tarry.dtype(dtype) if dtype is not None else x.dtype if x.dtype.kind == "f" else _tarry.float64
    x = _tarry.astype(x, made)
    return (_tarry.astype(x, _tarry.float32) if made.itemsize < 4 else x), made


def _count(x: Array, axis: Any, mask: Array | None) -> Array:
    """How many elements a mean is of, with all axes."""
    return _tarry.count_nonzero(_tarry.ones(x.shape, dtype=_tarry.bool) if mask is None else mask, axis=axis, keepdims=True)


def _sum(x: Array, axis: Any, mask: Array | None) -> Array:
    kept = x if mask is None else _tarry.where(mask, x, _tarry.zeros((), dtype=x.dtype))
    return _tarry.sum(kept, axis=axis, keepdims=True)


def _finished(x: Array, axis: Any, keepdims: bool, dtype: Any) -> Array:
    """A result with all axes in its dtype, without those of the reduction unless they are kept."""
    x = _tarry.astype(x, dtype)
    return x if keepdims else _tarry.squeeze(x, axis=tuple(range(x.ndim)) if axis is None else axis)


def _seen(op: str, x: Array, mask: Array | None) -> Array | None:
    """The mask, of the functions past NaN without NaN."""
    if not op.startswith("nan") or x.dtype.kind != "f":
        return mask
    number = _tarry.logical_not(_tarry.isnan(x))
    return number if mask is None else _tarry.logical_and(mask, number)


def _mean(op: str, x: Array, axis: Any, keepdims: bool, mask: Array | None, dtype: Any) -> Array:
    mask = _seen(op, x, mask)
    x, made = _wide(x, dtype)
    return _finished(_sum(x, axis, mask) / _tarry.astype(_count(x, axis, mask), x.dtype), axis, keepdims, made)


def _moment(op: str, x: Array, axis: Any, keepdims: bool, mask: Array | None, dtype: Any, correction: float,
            mean: Any) -> Array:
    """A variance or a deviation, about a mean that has all axes where one is given."""
    mask = _seen(op, x, mask)
    x, made = _wide(x, dtype)
    count = _tarry.astype(_count(x, axis, mask), x.dtype)
    middle = _sum(x, axis, mask) / count if mean is None else _tarry.astype(_tarry.asarray(mean), x.dtype)
    far = x - middle
    divisor = count - correction
    divisor = _tarry.where(divisor > 0, divisor, float("nan") if op.startswith("nan") else 0.0)
    squares = _sum(far * far, axis, mask) / divisor
    return _finished(_tarry.sqrt(squares) if op.endswith("std") else squares, axis, keepdims, made)
