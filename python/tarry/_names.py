"""NumPy's functions on shapes and places, as calls of the module's own: nothing is computed here."""

from __future__ import annotations

import builtins as _builtins

from . import _axes, _bins, _nans, _numbers, _pads, _places, _quantiles, _sets, _statistics, _tarry
from ._axes import *  # noqa: F403
from ._bins import *  # noqa: F403
from ._changes import refuse_nameless as _refuse_nameless
from ._nans import *  # noqa: F403
from ._numbers import *  # noqa: F403
from ._pads import *  # noqa: F403
from ._places import *  # noqa: F403
from ._quantiles import *  # noqa: F403
from ._sets import *  # noqa: F403
from ._statistics import *  # noqa: F403
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._tarry import Dtype

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "bartlett", "blackman", "block",
    "broadcast_shapes", "c_", "column_stack", "copyto", "delete", "diag", "diag_indices", "diagflat", "dsplit",
    "dstack", "extract", "fliplr", "flipud", "fromfunction", "hamming", "hanning",
    "hsplit", "hstack", "indices", "isscalar", "ix_", "kaiser", "matvec",
    "mgrid", "ogrid", "piecewise", "place", "putmask", "r_", "resize", "rollaxis", "rot90",
    "row_stack", "select", "split", "tri", "tril_indices", "triu_indices", "vecmat",
    "vsplit", "vstack", *_axes.__all__, *_bins.__all__, *_nans.__all__, *_numbers.__all__, *_pads.__all__,
    *_places.__all__, *_quantiles.__all__, *_sets.__all__, *_statistics.__all__,
]


# ---- Joining ----


def atleast_1d(x: Any) -> Array:
    """x, with an axis where it has none."""
    x = _tarry.asarray(x)
    return x if x.ndim >= 1 else _tarry.reshape(x, (1,))


def atleast_2d(x: Any) -> Array:
    """x with two axes or more: a number becomes (1, 1), (n,) becomes (1, n)."""
    x = atleast_1d(x)
    return x if x.ndim >= 2 else x[None]


def atleast_3d(x: Any) -> Array:
    """x with three axes or more: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""
    x = atleast_2d(x)
    return x if x.ndim >= 3 else x[..., None]


def vstack(arrays: Sequence[Any]) -> Array:
    """Rows below each other: arrays of one axis are rows. Shapes: (m, n) and (n,) give (m + 1, n)."""
    return _tarry.concat([atleast_2d(x) for x in arrays], axis=0)


row_stack = vstack


def hstack(arrays: Sequence[Any]) -> Array:
    """Columns beside each other; arrays of one axis one after the other. Shapes: (m, k) and (m, n) give (m, k + n)."""
    parts = [atleast_1d(x) for x in arrays]
    return _tarry.concat(parts, axis=0 if parts and parts[0].ndim == 1 else 1)


def column_stack(arrays: Sequence[Any]) -> Array:
    """Columns beside each other: arrays of one axis are columns. Shapes: (m,) and (m, n) give (m, 1 + n)."""
    parts = [atleast_1d(x) for x in arrays]
    return _tarry.concat([x[:, None] if x.ndim == 1 else x for x in parts], axis=1)


def dstack(arrays: Sequence[Any]) -> Array:
    """Joined along the third axis. Shapes: (m, n) and (m, n) give (m, n, 2)."""
    return _tarry.concat([atleast_3d(x) for x in arrays], axis=2)


def append(x: Any, values: Any, axis: int | None = None) -> Array:
    """x with the values behind it; both flattened without an axis."""
    return _tarry.concat([_tarry.asarray(x), _tarry.asarray(values)], axis=axis)


def block(arrays: Any) -> Array:
    """An array of nested lists of blocks: the innermost lists are joined along the last axis."""
    def depth(each: Any) -> int:
        return 1 + depth(each[0]) if isinstance(each, list) else 0

    def joined(each: Any, axis: int) -> Array:
        if not isinstance(each, list):
            return made(each)
        return _tarry.concat([joined(part, axis + 1) for part in each], axis=axis)

    deep = depth(arrays)

    def made(each: Any) -> Array:
        x = _tarry.asarray(each)
        return x[(None,) * _builtins.max(deep - x.ndim, 0)] if x.ndim < deep else x

    return joined(arrays, -deep)


# ---- Parts ----


def array_split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """Parts along an axis: as many as asked for, of lengths that differ by one at most, or cut before these places."""
    x = _tarry.asarray(x)
    extent = x.shape[axis]
    if isinstance(sections, int):
        if sections <= 0:
            raise _tarry._wrong("InvalidValue", "array_split", "an array is split into one part or more")
        short, longer = divmod(extent, sections)
        ends = [short * i + _builtins.min(i, longer) for i in range(sections + 1)]
    else:
        ends = [0, *(int(at) for at in sections), extent]
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(a, b))] for a, b in zip(ends, ends[1:])]


def split(x: Any, sections: int | Sequence[int], axis: int = 0) -> list[Array]:
    """As array_split, of equal lengths where a number of parts is asked for. ValueError where they are not."""
    x = _tarry.asarray(x)
    if isinstance(sections, int) and sections > 0 and x.shape[axis] % sections:
        raise _tarry._wrong("InvalidShape", "split", f"axis {axis} of shape {x.shape} has no {sections} equal parts; see array_split")
    return array_split(x, sections, axis)


def vsplit(x: Any, sections: int | Sequence[int]) -> list[Array]:
    """Parts along the first axis, as split gives them."""
    return split(x, sections, 0)


def hsplit(x: Any, sections: int | Sequence[int]) -> list[Array]:
    """Parts along the second axis, of one axis along that, as split gives them."""
    return split(x, sections, 1 if _tarry.asarray(x).ndim > 1 else 0)


def dsplit(x: Any, sections: int | Sequence[int]) -> list[Array]:
    """Parts along the third axis, as split gives them."""
    return split(x, sections, 2)


def delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    """x without the elements at these places of an axis; of the flattened x without one.

    A place is an integer, a slice, a list or an array of integers, or a mask.
    """
    x = _tarry.asarray(x)
    if axis is None:
        x, axis = _tarry.reshape(x, -1), 0
    extent = x.shape[axis]
    kept = _tarry.ones(extent, dtype=_tarry.bool)
    if isinstance(obj, list):
        obj = _tarry.asarray(obj, dtype=None if obj else _tarry.int64)
    kept[obj] = False
    return _tarry.compress(kept, x, axis=axis)


def extract(condition: Any, x: Any) -> Array:
    """The elements of x where the condition is true, in row-major order. Evaluates."""
    return _tarry.compress(_tarry.reshape(condition, -1), _tarry.reshape(x, -1))


def flipud(x: Any) -> Array:
    """The order of rows reversed."""
    return _tarry.flip(x, axis=0)


def fliplr(x: Any) -> Array:
    """The order of columns reversed."""
    return _tarry.flip(x, axis=1)


def rot90(x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Turned k times by 90 degrees, from the first of the axes towards the second."""
    x = _tarry.asarray(x)
    first, second = axes
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return _tarry.flip(x, axis=axes)
    if k % 4 == 1:
        return _tarry.swapaxes(_tarry.flip(x, axis=second), first, second)
    return _tarry.flip(_tarry.swapaxes(x, first, second), axis=second)


def diag(x: Any, k: int = 0) -> Array:
    """The diagonal of a matrix; of a vector the matrix that has it as its diagonal and zeros elsewhere."""
    x = _tarry.asarray(x)
    if x.ndim == 2:
        return _tarry.diagonal(x, k)
    if x.ndim != 1:
        raise _tarry._wrong("InvalidShape", "diag", f"takes a vector or a matrix, not shape {x.shape}")
    n, far = x.shape[0], abs(k)
    made = _tarry.zeros((n + far, n + far), dtype=x.dtype)
    at = _tarry.arange(n)
    made[at + _builtins.max(-k, 0), at + _builtins.max(k, 0)] = x
    return made


# ---- Places ----


def indices(dimensions: Sequence[int], dtype: Dtype | str | type = int) -> Array:
    """Of every axis the index of each element. Shapes: (m, n) gives (2, m, n)."""
    grids = [_tarry.arange(n, dtype=dtype) for n in dimensions]
    return _tarry.stack(_tarry.meshgrid(*grids, indexing="ij")) if grids else _tarry.zeros((0,), dtype=dtype)


def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: Dtype | str | type = float) -> Any:
    """What the function gives for arrays of the index along each axis."""
    return function(*_tarry.unstack(indices(shape, dtype)))


def tri(n: int, m: int | None = None, k: int = 0, dtype: Dtype | str | type | None = None) -> Array:
    """Ones at and below the k-th diagonal of n rows, and zeros."""
    return _tarry.tril(_tarry.ones((n, n if m is None else m), dtype=dtype), k)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The places at and below the k-th diagonal of n rows, in row-major order, as nonzero gives them."""
    return _tarry.nonzero(tri(n, m, k, _tarry.bool))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The places at and above the k-th diagonal of n rows, in row-major order, as nonzero gives them."""
    return _tarry.nonzero(_tarry.logical_not(tri(n, m, k - 1, _tarry.bool)))


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The places of the diagonal of `ndim` axes of n elements."""
    return (_tarry.arange(n),) * ndim


def ix_(*places: Any) -> tuple[Array, ...]:
    """Arrays of places that, as an index, name every combination of them."""
    lists = [_tarry.asarray(each) for each in places]
    lists = [_tarry.nonzero(each)[0] if each.dtype == _tarry.bool else each for each in lists]
    return tuple(_tarry.reshape(each, (1,) * i + (-1,) + (1,) * (len(lists) - 1 - i)) for i, each in enumerate(lists))


class _Grid:
    """mgrid[0:3, 0:1:5j]: grids of the places that slices name; a step of nj is n places with both ends."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        grids = [_steps(each) for each in slices]
        if not isinstance(key, tuple):
            return grids[0]
        dtype = _tarry.result_type(*grids)
        grids = [_tarry.astype(each, dtype) for each in grids]
        if self._whole:
            return _tarry.stack(_tarry.meshgrid(*grids, indexing="ij"))
        return ix_(*grids)


def _steps(each: slice) -> Array:
    start = 0 if each.start is None else each.start
    if isinstance(each.step, complex):
        return _tarry.linspace(start, each.stop, int(abs(each.step)))
    return _tarry.arange(start, each.stop, 1 if each.step is None else each.step)


class _Joined:
    """r_[1, 2:5, x]: numbers, ranges and arrays one after the other; c_[x, y]: as columns."""

    def __init__(self, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> Array:
        keys = key if isinstance(key, tuple) else (key,)
        parts = [_steps(each) if isinstance(each, slice) else each for each in keys]
        if any(isinstance(each, str) for each in parts):
            raise _tarry._wrong("InvalidDtype", "r_", "r_ and c_ take no text")
        return column_stack(parts) if self._columns else _tarry.concat([atleast_1d(each) for each in parts])


mgrid, ogrid, r_, c_ = _Grid(True), _Grid(False), _Joined(False), _Joined(True)


# ---- Shapes, products and changes ----


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to. ValueError where they do not."""
    whole = [(each,) if isinstance(each, int) else tuple(each) for each in shapes]
    made = [1] * _builtins.max(map(len, whole), default=0)
    for each in whole:
        for i, extent in enumerate(reversed(each), 1):
            if extent != 1 and made[-i] not in (1, extent):
                raise _tarry._wrong("InvalidShape", "broadcast_shapes", f"shapes {', '.join(map(str, whole))} do not broadcast")
            made[-i] = made[-i] if extent == 1 else extent
    return tuple(made)


def diagflat(x: Any, k: int = 0) -> Array:
    """A matrix with the flattened x on its k-th diagonal."""
    return diag(_tarry.reshape(_tarry.asarray(x), -1), k)


def resize(x: Any, shape: int | Sequence[int]) -> Array:
    """The elements of x in order, again from the first where the shape has more."""
    x = _tarry.reshape(_tarry.asarray(x), -1)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for extent in shape:
        count *= extent
    if x.size == 0:
        return _tarry.zeros(shape, dtype=x.dtype)
    return _tarry.reshape(_tarry.tile(x, -(-count // x.size))[:count], shape)


def rollaxis(x: Any, axis: int, start: int = 0) -> Array:
    """x with an axis moved in front of the one at `start`."""
    x = _tarry.asarray(x)
    axis, start = axis % x.ndim, start + x.ndim if start < 0 else start
    return _tarry.moveaxis(x, axis, start - 1 if axis < start else start)


def matvec(x: Any, v: Any) -> Array:
    """Matrices times vectors. Shapes: (..., m, n) and (..., n) give (..., m)."""
    return _tarry.matmul(_tarry.asarray(x), _tarry.asarray(v)[..., None])[..., 0]


def vecmat(v: Any, x: Any) -> Array:
    """Vectors times matrices. Shapes: (..., m) and (..., m, n) give (..., n)."""
    return _tarry.matmul(_tarry.asarray(v)[..., None, :], _tarry.asarray(x))[..., 0, :]


def copyto(to: Array, x: Any, where: Any = True) -> None:
    """Puts x, broadcast, into `to` itself, where the condition holds."""
    _refuse_nameless(to, "copyto")
    value = x if isinstance(x, (int, float)) else _tarry.astype(_tarry.asarray(x), to.dtype)
    to[...] = _tarry.where(where, value, to)


def putmask(x: Array, mask: Any, values: Any) -> None:
    """Puts values into x itself where the mask is true: those at the same places of a repetition of the values."""
    _refuse_nameless(x, "putmask")
    copyto(x, resize(values, x.shape), mask)


def place(x: Array, mask: Any, values: Any) -> None:
    """Puts values into x itself where the mask is true: the first one first, again from there where they end."""
    _refuse_nameless(x, "place")
    mask = _tarry.astype(_tarry.reshape(_tarry.asarray(mask), -1), _tarry.bool)
    values = _tarry.reshape(_tarry.asarray(values), -1)
    number = _tarry.maximum(_tarry.cumsum(_tarry.astype(mask, _tarry.int64)) - 1, 0) % values.size
    copyto(x, _tarry.reshape(_tarry.take(values, number), x.shape), _tarry.reshape(mask, x.shape))


# ---- Choices, orders and sets ----


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Array:
    """Of each element the choice of the first condition that is true, else the default."""
    if len(conditions) != len(choices) or not conditions:
        raise _tarry._wrong("InvalidValue", "select", f"takes as many choices as conditions, not {len(choices)} and {len(conditions)}")
    made = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        made = _tarry.where(condition, choice, made)
    return _tarry.asarray(made)


def piecewise(x: Any, conditions: Sequence[Any], functions: Sequence[Any]) -> Array:
    """Of each element the function of the last condition that is true, a number or of x; the function behind those of
    the conditions, else 0, where none is."""
    x = _tarry.asarray(x)
    values = [each(x) if callable(each) else each for each in functions]
    made = values[len(conditions)] if len(values) > len(conditions) else 0
    for condition, value in zip(conditions, values):
        made = _tarry.where(condition, value, made)
    return _tarry.astype(_tarry.asarray(made), x.dtype)


def isscalar(x: Any) -> bool:
    """True of Python's and NumPy's numbers, and of text; not of arrays."""
    return isinstance(x, (int, float, complex, str, bytes)) or type(x).__module__ == "numpy" and hasattr(x, "item") \
        and not hasattr(x, "__setitem__")


def _window(n: int, *weights: float) -> Array:
    """weights[0] - weights[1] * cos(2 pi i / (n - 1)) + weights[2] * cos(4 pi i / (n - 1)) of n points."""
    if n <= 1:
        return _tarry.ones(_builtins.max(n, 0))
    angle = _tarry.linspace(0, 2 * 3.141592653589793, n)
    made = _tarry.full((n,), weights[0])
    for i, weight in enumerate(weights[1:], 1):
        made = made + (-1) ** i * weight * _tarry.cos(i * angle)
    return made


def bartlett(n: int) -> Array:
    """The triangular window of n points, 0 at both ends."""
    return _tarry.ones(n) if n <= 1 else 1 - _tarry.abs(_tarry.linspace(-1, 1, n))


def hanning(n: int) -> Array:
    """The window of von Hann of n points."""
    return _window(n, 0.5, 0.5)


def hamming(n: int) -> Array:
    """The window of Hamming of n points."""
    return _window(n, 0.54, 0.46)


def blackman(n: int) -> Array:
    """The window of Blackman of n points."""
    return _window(n, 0.42, 0.5, 0.08)


def kaiser(n: int, beta: float) -> Array:
    """The window of Kaiser of n points: i0(beta sqrt(1 - t^2)) / i0(beta) with t from -1 to 1."""
    t = _tarry.linspace(-1, 1, n) if n > 1 else _tarry.zeros(_builtins.max(n, 0))
    return _numbers.i0(beta * _tarry.sqrt(_tarry.maximum(1 - t * t, 0))) / _numbers.i0(float(beta))
