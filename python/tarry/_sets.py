"""NumPy's functions on sets, as calls of the module's own."""

from __future__ import annotations

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

__all__ = ["ediff1d", "intersect1d", "isin", "lexsort", "setdiff1d", "setxor1d", "union1d", "unique"]


def _joined(*parts: Any) -> Array:
    return _tarry.concat([_tarry.asarray(each) for each in parts], axis=None)


def lexsort(keys: Sequence[Any], axis: int = -1) -> Array:
    """Places that order the elements by the last key, equal ones by the one before it, and so on."""
    columns = list(_tarry.unstack(keys) if isinstance(keys, Array) else map(_tarry.asarray, keys))
    if not columns:
        raise _tarry._wrong("InvalidValue", "lexsort", "takes one key or more")
    order = _tarry.argsort(columns[0], axis=axis)
    for column in columns[1:]:
        then = _tarry.argsort(_tarry.take_along_axis(column, order, axis=axis), axis=axis)
        order = _tarry.take_along_axis(order, then, axis=axis)
    return order


def _unique_parts(x: Array, axis: int) -> tuple[Array, Array, Array, Array]:
    """The distinct parts of x along an axis in order, the place of the first of each, for each part of x the place of
    its value, and counts. Parts with a NaN are distinct."""
    parts = _tarry.moveaxis(x, axis, 0)
    count = parts.shape[0]
    rows = _tarry.reshape(parts, (count, -1 if parts.size else 0))
    order = _tarry.arange(count)
    begins = _tarry.arange(count) < 1
    if rows.size:
        order = lexsort(_tarry.flip(_tarry.matrix_transpose(rows), axis=0))
        rows = _tarry.take(rows, order, axis=0)
        begins = _joined(begins[:1], _tarry.any(rows[1:] != rows[:-1], axis=1))
    inverse = _tarry.zeros(count, dtype=_tarry.int64)
    inverse[order] = _tarry.cumulative_sum(_tarry.astype(begins, _tarry.int64)) - 1
    first = _tarry.flatnonzero(begins)
    indices = _tarry.take(order, first)
    values = _tarry.moveaxis(_tarry.take(parts, indices, axis=0), 0, axis)
    return values, indices, inverse, _tarry.diff(_joined(first, count))


def _surplus(values: Array, equal_nan: bool) -> int:
    """How many NaN behind the first one stand at the end of values in order. Evaluates."""
    if not equal_nan or values.dtype.kind != "f":
        return 0
    count = int(_tarry.sum(_tarry.astype(_tarry.isnan(values), _tarry.int64)))
    return count - 1 if count else 0


def unique(x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True) -> Any:
    """The distinct elements in order; behind them, as asked for, the place of the first of each in the flattened x, for
    each element the place of its value, in the shape of x, and how often each value is there. With an axis, the parts
    of x along it instead of elements, ordered by their elements one after the other. Evaluates.

    NaN is one element, or with equal_nan=False each NaN one; parts with a NaN are distinct. The order is that of
    sorting whatever `sorted` says.
    """
    if axis is None and not (return_index or return_inverse or return_counts):
        values = _tarry.unique_values(x)
        surplus = _surplus(values, equal_nan)
        return values[:values.size - surplus] if surplus else values
    parts: Sequence[Array]
    if axis is None:
        found = _tarry.unique_all(x)
        values, parts = found.values, (found.indices, found.inverse_indices, found.counts)
        surplus = _surplus(values, equal_nan)
        if surplus:
            count = values.size - surplus
            indices, inverse, counts = parts
            values = values[:count]
            parts = (indices[:count], _tarry.minimum(inverse, count - 1), _joined(counts[:count - 1], surplus + 1))
    else:
        values, *parts = _unique_parts(_tarry.asarray(x), axis)
    asked = zip((return_index, return_inverse, return_counts), parts)
    chosen = [each for wanted, each in asked if wanted]
    return (values, *chosen) if chosen else values


def union1d(a: Any, b: Any) -> Array:
    """The distinct elements of both, in order. Evaluates."""
    return unique(_joined(a, b))


def isin(x: Any, test: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None) -> Array:
    """True where an element of x is one of those of `test`; with `invert` where it is none. NaN is none.

    `assume_unique` and `kind` say how NumPy searches, and change nothing. Shapes: that of x. Dtypes: bool.
    """
    if kind not in (None, "sort", "table"):
        raise _tarry._wrong("InvalidValue", "isin", f"kind is None, 'sort' or 'table', not {kind!r}")
    found = _tarry._isin(x, test)
    return _tarry.logical_not(found) if invert else found


def intersect1d(a: Any, b: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The distinct elements that are in both, in order; with return_indices also the places of the first of each in the
    flattened a and b. Evaluates."""
    if not return_indices:
        found = _tarry.unique_values(a)
        return found[_tarry._isin(found, b)]
    first, in_a = unique(a, return_index=True)
    then, in_b = unique(b, return_index=True)
    shared = _tarry._isin(first, then)
    return first[shared], in_a[shared], in_b[_tarry._isin(then, first)]


def setdiff1d(a: Any, b: Any, assume_unique: bool = False) -> Array:
    """The distinct elements of a that are not in b, in order; with assume_unique those of a as they stand. Evaluates."""
    found = _tarry.reshape(_tarry.asarray(a), -1) if assume_unique else unique(a)
    return found[_tarry.logical_not(_tarry._isin(found, b))]


def setxor1d(a: Any, b: Any, assume_unique: bool = False) -> Array:
    """The distinct elements that are in one of both alone, in order. Evaluates."""
    found = _tarry.sort(_joined(unique(a), unique(b)))
    differs = _tarry.not_equal(found[1:], found[:-1])
    edge = _tarry.ones(1 if found.size else 0, dtype=_tarry.bool)
    return found[_tarry.logical_and(_joined(edge, differs), _joined(differs, edge))]


def ediff1d(x: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Differences of neighbours of the flattened x, with elements of its dtype before and behind them."""
    x = _tarry.reshape(_tarry.asarray(x), -1)
    parts = [_tarry.diff(x)]
    for each, at in ((to_begin, 0), (to_end, len(parts) + 1)):
        if each is not None:
            each = _tarry.asarray(each)
            if each.dtype.kind == "f" and x.dtype.kind != "f":
                raise _tarry._wrong("InvalidDtype", "ediff1d", f"elements beside differences of {x.dtype} are not {each.dtype}")
            parts.insert(at, _tarry.astype(_tarry.reshape(each, -1), parts[0].dtype))
    return _tarry.concat(parts) if len(parts) > 1 else parts[0]
