"""NumPy's functions on places of elements, with places that are checked."""

from __future__ import annotations

from . import _checks, _tarry
from ._changes import refuse_nameless as _refuse_nameless
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

__all__ = ["argpartition", "choose", "einsum", "fill_diagonal", "insert", "partition", "ravel_multi_index",
           "trim_zeros", "unravel_index"]


def _order_of(op: str, order: str) -> bool:
    """True of rows that lie one after the other, False of columns."""
    if order not in ("C", "F"):
        raise _tarry._wrong("InvalidValue", op, f"order is 'C' or 'F', not {order!r}")
    return order == "C"


def _placed(op: str, x: Any, extent: int, mode: str) -> Array:
    """Places from 0 to extent - 1, those outside by the mode."""
    if mode == "raise":
        return _checks.places_within(op, x, extent)
    if mode not in ("wrap", "clip"):
        raise _tarry._wrong("InvalidValue", op, f"mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    x = _tarry.astype(_tarry.asarray(x), _tarry.int64)
    return _tarry.remainder(x, extent) if mode == "wrap" else _tarry.clip(x, 0, extent - 1)


def unravel_index(numbers: Any, shape: int | Sequence[int], order: str = "C") -> tuple[Array, ...]:
    """Of elements by number the index along each axis; `order` 'C' counts along rows, 'F' along columns.

    Throws OutOfRange for a number that the shape does not have; of an array of Tarry when the result is read.
    """
    by_rows = _order_of("unravel_index", order)
    extents = [shape] if isinstance(shape, int) else list(shape)
    count = 1
    for extent in extents:
        count *= extent
    rest = _checks.places_within("unravel_index", numbers, count)
    found: list[Array] = []
    for extent in reversed(extents) if by_rows else extents:
        found.append(rest % extent)
        rest = rest // extent
    return tuple(reversed(found) if by_rows else found)


def ravel_multi_index(places: Sequence[Any], shape: Sequence[int], mode: str | Sequence[str] = "raise",
                      order: str = "C") -> Array:
    """The numbers of elements of their places along each axis; `order` 'C' counts along rows, 'F' along columns.

    A place outside of its axis is an error, taken modulo the extent ('wrap') or the outermost one ('clip'), by the mode
    of all axes or of each. Of an array of Tarry the error comes when the result is read.
    """
    by_rows = _order_of("ravel_multi_index", order)
    modes = [mode] * len(shape) if isinstance(mode, str) else list(mode)
    if len(places) != len(shape) or len(modes) != len(shape):
        raise _tarry._wrong("InvalidShape", "ravel_multi_index", f"takes places along each of {len(shape)} axes, not along {len(places)}")
    made = _tarry.asarray(0)
    axes = list(zip(places, shape, modes))
    for at, extent, how in axes if by_rows else reversed(axes):
        made = made * extent + _placed("ravel_multi_index", at, extent, how)
    return made


def choose(x: Any, choices: Sequence[Any], mode: str = "raise") -> Array:
    """Of each element of x, an integer from 0, the element of the choice of that number.

    A number without a choice is an error, taken modulo their count ('wrap') or the outermost one ('clip'). Of an array
    of Tarry the error comes when the result is read. Shapes: all broadcast. Dtypes: promoted.
    """
    count = len(choices)
    if count == 0:
        raise _tarry._wrong("InvalidValue", "choose", "takes one choice or more")
    arrays = _tarry.broadcast_arrays(_placed("choose", x, count, mode), *map(_tarry.asarray, choices))
    return _tarry.take_along_axis(_tarry.stack(arrays[1:]), _tarry.astype(arrays[0], _tarry.int64)[None], axis=0)[0]


def _kept_in_order(op: str, x: Any, kth: Any, axis: int | None) -> tuple[Array, list[int]]:
    """x, flattened without an axis, and the places of elements that a partition puts in order."""
    x = _tarry.asarray(x)
    x = _tarry.reshape(x, -1) if axis is None else x
    extent = _checks.extent_of(op, x, -1 if axis is None else axis)
    places = _checks.flat(_checks.numbers_of(kth) if not isinstance(kth, Array) else kth.tolist())
    for each in places:
        if not hasattr(each, "__index__"):
            raise _tarry._wrong("InvalidDtype", op, f"kth is integers, not {kth!r}")
        if not -extent <= each < extent:
            raise _tarry._wrong("OutOfRange", op, f"kth {each} is out of range for an axis of extent {extent}")
    return x, places


def partition(x: Any, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array:
    """The elements along an axis so that the kth is where sorting would bring it, smaller ones before it and larger ones
    behind. `kth` is a place or a list of them.

    Shapes: that of x; without an axis one axis. Throws OutOfRange for a place that the axis does not have.
    """
    x, places = _kept_in_order("partition", x, kth, axis)
    along = -1 if axis is None else axis
    return _tarry._partition(x, places[0], along) if len(places) == 1 else _tarry.sort(x, along)


def argpartition(x: Any, kth: Any, axis: int | None = -1, kind: str = "introselect") -> Array:
    """Places that bring the kth element to where sorting would, and smaller ones before it: those of argsort.

    Throws OutOfRange for a kth that the axis does not have.
    """
    x, _ = _kept_in_order("argpartition", x, kth, axis)
    return _tarry.argsort(x, axis=-1 if axis is None else axis)


def fill_diagonal(x: Array, value: Any, wrap: bool = False) -> None:
    """Sets the elements (i, i, ...) of x, which has two axes or more, to a number or to those of an array, again from
    the first where there are fewer. With `wrap` the diagonal of a tall matrix begins again below its end."""
    if not isinstance(x, Array):
        raise _tarry._wrong("InvalidDtype", "fill_diagonal", f"changes an array of Tarry, not {type(x).__name__}")
    _refuse_nameless(x, "fill_diagonal")
    if x.ndim < 2 or x.ndim > 2 and len(set(x.shape)) > 1:
        raise _tarry._wrong("InvalidShape", "fill_diagonal", f"takes two axes, or more of one extent, not {x.shape}")
    rows, columns = x.shape[0], x.shape[-1]
    if wrap and x.ndim == 2 and rows > columns:
        number = _tarry.arange(0, rows * columns, columns + 1)
        at = (number // columns, number % columns)
    else:
        at = (_tarry.arange(min(x.shape)),) * x.ndim
    if not isinstance(value, (int, float)):
        values = _tarry.reshape(_tarry.asarray(value), -1)
        value = values[_tarry.arange(at[0].size) % values.size] if values.size > 1 else values
    x[at] = value


def insert(x: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """x with values before these places of an axis; of the flattened x without one.

    A place is an integer, a slice or a list of integers, counted in x. The values broadcast.
    """
    x = _tarry.asarray(x)
    if axis is None:
        x, axis = _tarry.reshape(x, -1), 0
    (axis,) = _checks.axes_of("insert", x, axis)
    extent, front = x.shape[axis], (slice(None),) * axis
    single = isinstance(obj, int)
    if isinstance(obj, slice):
        places = list(range(*obj.indices(extent)))
    else:
        places = [obj] if isinstance(obj, int) else [int(at) for at in obj]
    if any(not -extent <= at <= extent for at in places):
        raise _tarry._wrong("OutOfRange", "insert", f"there is no place {obj} in axis {axis} of shape {x.shape}")
    places = [at + extent if at < 0 else at for at in places]
    new = _tarry.astype(_tarry.asarray(values), x.dtype)
    if single and new.ndim:  # all of them before the one place
        wide = x.shape[:axis] + ((new.shape[0] if x.ndim == 1 else 1),) + x.shape[axis + 1:]
        rows = _tarry.broadcast_to(new, wide)
        return _tarry.concat([x[(*front, slice(None, places[0]))], rows, x[(*front, slice(places[0], None))]], axis)
    rows = _tarry.broadcast_to(new, (*x.shape[:axis], len(places), *x.shape[axis + 1:]))
    order = sorted(range(len(places)), key=places.__getitem__)
    parts, done = [], 0
    for i in order:
        parts += [x[(*front, slice(done, places[i]))], rows[(*front, slice(i, i + 1))]]
        done = places[i]
    return _tarry.concat([*parts, x[(*front, slice(done, None))]], axis)


def trim_zeros(x: Any, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """x without the zeros at the front (f) and the back (b) of an axis, of several or of all. Evaluates: its extents
    follow from the elements."""
    x = _tarry.asarray(x)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise _tarry._wrong("InvalidValue", "trim_zeros", f"trim is 'f', 'b' or 'fb', not {trim!r}")
    axes = _checks.axes_of("trim_zeros", x, axis)
    found, key = _tarry.nonzero(x), [slice(None)] * x.ndim
    for a in axes:
        if found[a].size == 0:
            key[a] = slice(0, 0)
            continue
        first = int(_tarry.min(found[a])) if "f" in trim.lower() else None
        last = int(_tarry.max(found[a])) + 1 if "b" in trim.lower() else None
        key[a] = slice(first, last)
    return x[tuple(key)]


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _subscript(numbers: Any) -> str:
    """The letters of a list of numbers and an ellipsis."""
    for each in numbers:
        if each is not Ellipsis and not 0 <= each < len(_LETTERS):
            raise _tarry._wrong("InvalidValue", "einsum", f"subscripts are from 0 to {len(_LETTERS) - 1}, not {each}")
    return "".join("..." if each is Ellipsis else _LETTERS[each] for each in numbers)


def einsum(subscripts: Any, *operands: Any, optimize: Any = False, dtype: Any = None) -> Array:
    """Sums of products by the indices of each operand: einsum("ij,jk->ik", a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2]).

    Indices that the result does not have are summed over. Without a result its indices are those that are named once, in
    order. `optimize` changes nothing: the order of products follows from the extents. Dtypes: promoted, or `dtype`.
    """
    if not isinstance(subscripts, str):
        given = (subscripts, *operands)
        pairs = len(given) // 2
        operands = given[0:2 * pairs:2]
        subscripts = ",".join(_subscript(each) for each in given[1:2 * pairs:2])
        if len(given) % 2:
            subscripts += "->" + _subscript(given[-1])
    if dtype is not None:
        operands = tuple(_tarry.astype(_tarry.asarray(each), dtype) for each in operands)
    return _tarry._einsum(subscripts, *operands)
