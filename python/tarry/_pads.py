"""pad with NumPy's widths and modes."""

from __future__ import annotations

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Callable
    from typing import Any

    _Pairs = list[tuple[Any, Any]]

__all__ = ["pad"]

_OWN = ("constant", "edge", "reflect", "symmetric", "wrap")  # of the extension module
_OF_ELEMENTS: dict[str, Callable[..., Array]] = {
    "maximum": _tarry.max, "minimum": _tarry.min, "mean": _tarry.mean, "median": _tarry._median}
_MODES = (*_OWN, *_OF_ELEMENTS, "linear_ramp", "empty")


def _pairs(name: str, given: Any, ndim: int) -> _Pairs:
    """What stands before and behind each axis: of a value for all, a pair for all, a value or a pair for each axis."""
    if isinstance(given, dict):
        made: _Pairs = [(0, 0)] * ndim
        for axis, value in given.items():
            if not -ndim <= axis < ndim:
                raise _tarry._wrong("OutOfRange", "pad", f"axis {axis} of {name} is out of range for {ndim} axes")
            made[axis] = _pair(name, value)
        return made
    if hasattr(given, "__array_interface__") and not isinstance(given, Array):
        given = given.tolist()
    if not isinstance(given, (list, tuple)) or not any(isinstance(each, (list, tuple)) for each in given):
        return [_pair(name, given)] * ndim
    if len(given) == 1:
        return [_pair(name, given[0])] * ndim
    if len(given) != ndim:
        raise _tarry._wrong("InvalidShape", "pad", f"{name} has a pair for each of {ndim} axes, not {len(given)}")
    return [_pair(name, each) for each in given]


def _pair(name: str, given: Any) -> tuple[Any, Any]:
    if not isinstance(given, (list, tuple)):
        return given, given
    if len(given) not in (1, 2):
        raise _tarry._wrong("InvalidShape", "pad", f"{name} is a value or a pair, not {len(given)} of them")
    return given[0], given[-1]


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    made = []
    for pair in _pairs("pad_width", given, ndim):
        if not all(hasattr(each, "__index__") for each in pair):
            raise _tarry._wrong("InvalidDtype", "pad", f"pad_width is integers, not {pair}")
        before, after = (each.__index__() for each in pair)
        if before < 0 or after < 0:
            raise _tarry._wrong("InvalidValue", "pad", f"pad_width is not negative, but {(before, after)}")
        made.append((before, after))
    return made


def pad(x: Any, pad_width: Any, mode: str = "constant", *, stat_length: Any = None, constant_values: Any = 0,
        end_values: Any = 0, reflect_type: str = "even") -> Array:
    """x with elements before and behind it along each axis.

    `pad_width` is a number for all, a pair (before, behind) for all axes or for each, or a dict of axes. Modes:
    constant: constant_values; edge: the outermost element; reflect: mirrored at it; symmetric: mirrored behind it;
    wrap: from the other end; linear_ramp: from the edge to end_values; maximum, minimum, mean, median: of the
    stat_length outermost elements, or all; empty: zeros. constant_values, end_values and stat_length are numbers, or
    pairs as pad_width. reflect_type='odd' mirrors the differences from the edge too.

    Shapes: each extent grows by both widths. Dtypes: that of x, which the values are converted to. Throws InvalidValue
    for negative widths and other modes.
    """
    x = _tarry.asarray(x)
    if mode not in _MODES:
        raise _tarry._wrong("InvalidValue", "pad", f"mode is one of {', '.join(_MODES)}, not {mode!r}")
    if reflect_type not in ("even", "odd"):
        raise _tarry._wrong("InvalidValue", "pad", f"reflect_type is 'even' or 'odd', not {reflect_type!r}")
    widths = _widths(pad_width, x.ndim)
    if mode in _OWN:
        value = constant_values if mode == "constant" else 0
        whole = isinstance(value, int) or isinstance(value, float) and x.dtype.kind == "f"
        if whole and not (reflect_type == "odd" and mode in ("reflect", "symmetric")):
            return _tarry._pad(x, widths, mode, constant_values=value)
    constants, ends = (_pairs(name, each, x.ndim) for name, each in (("constant_values", constant_values), ("end_values", end_values)))
    lengths = _pairs("stat_length", stat_length, x.ndim)
    for axis, (before, after) in enumerate(widths):
        if mode in ("reflect", "symmetric"):
            x = _odd(x, axis, before, after, mode)
            continue
        parts = []
        for width, i in ((before, 0), (after, 1)):
            if mode == "linear_ramp":
                parts.append(_ramp(x, axis, width, ends[axis][i], i))
            elif mode in _OF_ELEMENTS:
                parts.append(_statistic(x, axis, width, lengths[axis][i], i, mode))
            else:
                parts.append(_filled(x, axis, width, constants[axis][i] if mode == "constant" else 0))
        x = _tarry.concat([parts[0], x, parts[1]], axis)
    return x


def _wide(x: Array, axis: int, extent: int) -> tuple[int, ...]:
    return x.shape[:axis] + (extent,) + x.shape[axis + 1:]


def _part(x: Array, axis: int, begin: int, end: int) -> Array:
    return x[(*(slice(None),) * axis, slice(begin, end))]


def _filled(x: Array, axis: int, width: int, value: Any) -> Array:
    value = _tarry.asarray(value)
    if value.ndim:
        raise _tarry._wrong("InvalidShape", "pad", f"constant_values are numbers or pairs of them, not {value.shape}")
    return _tarry.broadcast_to(_tarry.astype(value, x.dtype), _wide(x, axis, width))


def _in(x: Array, values: Array, rounded: Any) -> Array:
    """The values in the dtype of x, whole where it is."""
    return _tarry.astype(values if x.dtype.kind == "f" else rounded(values), x.dtype)


def _ramp(x: Array, axis: int, width: int, end: Any, behind: int) -> Array:
    """From the end value, which the outermost element has, towards the edge of x."""
    extent = x.shape[axis]
    edge = _part(x, axis, extent - 1, extent) if behind else _part(x, axis, 0, 1)
    dtype = x.dtype if x.dtype.kind == "f" and x.dtype.itemsize > 2 else _tarry.float64
    edge, end = _tarry.astype(edge, dtype), _tarry.asarray(end, dtype=dtype)
    steps = _tarry.reshape(_tarry.arange(width, dtype=dtype), (width,) + (1,) * (x.ndim - 1 - axis))
    made = end + steps * ((edge - end) / (width or 1))
    return _in(x, _tarry.flip(made, axis=axis) if behind else made, _tarry.floor)


def _statistic(x: Array, axis: int, width: int, length: Any, behind: int, mode: str) -> Array:
    extent = x.shape[axis]
    count = extent if length is None or length > extent else length.__index__()
    if count < 1:
        raise _tarry._wrong("InvalidValue", "pad", f"stat_length is positive, not {count}")
    outermost = _part(x, axis, extent - count, extent) if behind else _part(x, axis, 0, count)
    made = _in(x, _OF_ELEMENTS[mode](outermost, axis, keepdims=True), _tarry.round)
    return _tarry.broadcast_to(made, _wide(x, axis, width))


def _odd(x: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Mirrored at a point of the curve, again and again: so that two reflections later the curve has moved by twice the
    difference of its ends."""
    extent = x.shape[axis]
    if before + after == 0:
        return x
    if extent == 0:
        raise _tarry._wrong("InvalidShape", "pad", f"{x.dtype} {x.shape} has no element along axis {axis} to mirror")
    period = extent if mode == "symmetric" else extent - 1
    if period == 0:
        return _tarry.take(x, _tarry.zeros(before + 1 + after, dtype=_tarry.int64), axis=axis)
    places, mirrored, moved = [], [], []
    for at in range(-before, extent + after):
        turns, rest = divmod(at, period)
        turned = turns % 2 == 1
        places.append((extent - 1 - rest) if turned else rest)
        mirrored.append(turned)
        moved.append(turns - 1 if turned else turns)
    shape = (-1,) + (1,) * (x.ndim - 1 - axis)
    first, last = _part(x, axis, 0, 1), _part(x, axis, extent - 1, extent)
    taken = _tarry.take(x, _tarry.asarray(places, dtype=_tarry.int64), axis=axis)
    turned = _tarry.reshape(_tarry.asarray(mirrored), shape)
    far = _tarry.reshape(_tarry.asarray(moved, dtype=x.dtype), shape) * (last - first)
    return _tarry.where(turned, 2 * last - taken, taken) + far
