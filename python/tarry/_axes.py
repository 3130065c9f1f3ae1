"""NumPy's functions that go along axes or take the place of an array's shape, as calls of the module's own."""

from __future__ import annotations

import builtins as _builtins

from . import _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = [
    "apply_along_axis", "apply_over_axes", "array_equiv", "diag_indices_from", "mask_indices",
    "packbits", "tril_indices_from", "triu_indices_from", "unpackbits",
]


def apply_along_axis(func1d: Callable[..., Any], axis: int, x: Any, *args: Any, **kwargs: Any) -> Array:
    """func1d of each vector along an axis, which what it gives takes the place of.

    Each call is recorded by itself: a function that has an axis is faster called with it. Shapes: (m, n) along axis 1
    gives (m,) of numbers, (m, k) of k elements.
    """
    x = _tarry.moveaxis(_tarry.asarray(x), axis, -1)
    rows = _tarry.reshape(x, (-1, x.shape[-1]))
    if rows.shape[0] == 0:
        raise _tarry._wrong("InvalidShape", "apply_along_axis", "there is no vector to apply the function to")
    made = _tarry.stack([_tarry.asarray(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])])
    place = axis if axis >= 0 else axis + x.ndim
    own = made.ndim - 1
    made = _tarry.reshape(made, (*x.shape[:-1], *made.shape[1:]))
    return _tarry.moveaxis(made, tuple(range(x.ndim - 1, x.ndim - 1 + own)), tuple(range(place, place + own)))


def apply_over_axes(func: Callable[..., Any], x: Any, axes: int | Sequence[int]) -> Array:
    """func(x, axis) for one axis after the other; an axis that it takes away comes back with one element."""
    x = _tarry.asarray(x)
    for axis in [axes] if isinstance(axes, int) else axes:
        axis = axis if axis >= 0 else axis + x.ndim
        made = _tarry.asarray(func(x, axis))
        x = made if made.ndim == x.ndim else _tarry.expand_dims(made, axis)
    return x


def tril_indices_from(x: Any, k: int = 0) -> tuple[Array, ...]:
    """tril_indices of a matrix's shape."""
    return _triangle(x, lambda row, column: column - row <= k)


def triu_indices_from(x: Any, k: int = 0) -> tuple[Array, ...]:
    """triu_indices of a matrix's shape."""
    return _triangle(x, lambda row, column: column - row >= k)


def _triangle(x: Any, holds: Callable[[Array, Array], Array]) -> tuple[Array, ...]:
    x = _tarry.asarray(x)
    if x.ndim != 2:
        raise _tarry._wrong("InvalidShape", "indices of a triangle", f"a matrix is wanted, not {x.shape}")
    return _tarry.nonzero(holds(_tarry.arange(x.shape[0])[:, None], _tarry.arange(x.shape[1])))


def diag_indices_from(x: Any) -> tuple[Array, ...]:
    """The places of the diagonal of an array all of whose axes have one extent."""
    x = _tarry.asarray(x)
    if x.ndim < 2 or _builtins.any(extent != x.shape[0] for extent in x.shape):
        raise _tarry._wrong("InvalidShape", "diag_indices_from", f"two axes or more of one extent are wanted, not {x.shape}")
    return (_tarry.arange(x.shape[0]),) * x.ndim


def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0) -> tuple[Array, ...]:
    """The places of n rows and columns that mask_func(ones, k) leaves other than 0, such as triu's."""
    return _tarry.nonzero(mask_func(_tarry.ones((n, n), dtype=_tarry.int64), k))


def array_equiv(a: Any, b: Any) -> bool:
    """True if the two broadcast to one shape, in which all elements are equal."""
    try:
        both = _tarry.broadcast_arrays(_tarry.asarray(a), _tarry.asarray(b))
    except ValueError:
        return False
    return _builtins.bool(_tarry.all(_tarry.equal(both[0], both[1])))


def _bits(name: str, bitorder: str) -> list[int]:
    if bitorder not in ("big", "little"):
        raise _tarry._wrong("InvalidValue", name, f"bitorder is 'big' or 'little', not {bitorder!r}")
    return list(range(7, -1, -1) if bitorder == "big" else range(8))


def packbits(x: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements along an axis as the bits of a uint8, the flattened x without one; what is not 0 is a 1.

    Shapes: n elements give ceil(n / 8). `big` has the first one in the highest bit, `little` in the lowest.
    """
    x = _tarry.asarray(x)
    x = _tarry.moveaxis(_tarry.reshape(x, -1) if axis is None else x, axis or 0, -1)
    bits = _tarry.astype(_tarry.not_equal(x, 0), _tarry.uint8)
    missing = -bits.shape[-1] % 8
    bits = _tarry.reshape(_tarry._pad(bits, [(0, 0)] * (x.ndim - 1) + [(0, missing)]), (*x.shape[:-1], -1, 8))
    weights = _tarry.asarray([1 << bit for bit in _bits("packbits", bitorder)], dtype=_tarry.uint8)
    made = _tarry.sum(bits * weights, axis=-1, dtype=_tarry.uint8)
    return _tarry.moveaxis(made, -1, axis or 0)


def unpackbits(x: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of uint8 along an axis, of the flattened x without one: the first `count` of them, or all but so many
    where it is negative. Shapes: n elements give 8 n."""
    x = _tarry.asarray(x)
    if x.dtype != _tarry.uint8:
        raise _tarry._wrong("InvalidDtype", "unpackbits", f"bits are of uint8, not of {x.dtype}")
    x = _tarry.moveaxis(_tarry.reshape(x, -1) if axis is None else x, axis or 0, -1)
    bits = _tarry.bitwise_right_shift(x[..., None], _tarry.asarray(_bits("unpackbits", bitorder), dtype=_tarry.uint8)) & 1
    made = _tarry.reshape(bits, (*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None and count > made.shape[-1]:
        made = _tarry._pad(made, [(0, 0)] * (x.ndim - 1) + [(0, count - made.shape[-1])])
    return _tarry.moveaxis(made[..., :count], -1, axis or 0)
