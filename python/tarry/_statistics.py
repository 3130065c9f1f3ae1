"""Averages and covariances with NumPy's weights, and curves that are given by points."""

from __future__ import annotations

from . import _checks, _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

__all__ = ["average", "corrcoef", "cov", "gradient", "interp"]


# ---- Averages ----


def average(x: Any, axis: int | Sequence[int] | None = None, weights: Any = None, returned: bool = False, *,
            keepdims: bool = False) -> Any:
    """The mean along an axis, several or all, where each element counts by its weight; with `returned` the sums of the
    weights beside it, in its shape.

    Weights have the shape of x, or one axis beside a single one of x. Dtypes: floats, kept; integers give float64.
    Throws ZeroDivisionError where the host knows that all weights add to 0; of arrays of Tarry, and of sums along some
    axes, the result is NaN or infinite there.
    """
    if weights is not None and not isinstance(weights, Array):
        if (axis is None or _tarry.ndim(weights) == 1) and _checks.total_of(weights) == 0:
            raise ZeroDivisionError(str(_tarry._wrong("InvalidValue", "average", "the weights add to 0")))
    made = _tarry._average(x, axis, weights, keepdims=keepdims)
    if not returned:
        return made
    x = _tarry.asarray(x)
    axes = _checks.axes_of("average", x, axis)
    if weights is None:
        counted = _tarry.full(made.shape, 1, dtype=made.dtype)
        for a in axes:
            counted = counted * x.shape[a]
        return made, counted
    weights = _tarry.astype(_tarry.asarray(weights), made.dtype)
    if weights.shape != x.shape:
        weights = _tarry.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - axes[0]))
    weights = _tarry.broadcast_to(weights, x.shape)
    return made, _tarry.sum(weights, axis=axis, keepdims=keepdims)


def _counts(op: str, name: str, given: Any, count: int) -> Array:
    """Weights of observations, as float64."""
    known = _checks.extremes(given)
    if known is not None and known[0] < 0:
        raise _tarry._wrong("InvalidValue", op, f"{name} is not negative")
    made = _tarry.asarray(given)
    if name == "fweights" and made.dtype.kind == "f":
        numbers = _checks.numbers_of(given)
        if numbers is None or any(each % 1 for each in _checks.flat(numbers)):
            raise _tarry._wrong("InvalidDtype", op, f"fweights is integers, not {made.dtype}")
    if made.shape != (count,):
        raise _tarry._wrong("InvalidShape", op, f"{name} has a weight for each of {count} observations, not {made.shape}")
    return _tarry.astype(made, _tarry.float64)


def cov(x: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None, fweights: Any = None,
        aweights: Any = None, *, correction: float = 1.0, dtype: Any = None) -> Array:
    """Covariances of variables, which are rows of x and of y, without rowvar columns.

    The divisor is the number of observations less `correction`, or `ddof`, 0 with `bias`. `fweights` say how often each
    observation is there, `aweights` how much it counts.

    Shapes: (m, n) gives (m, m), (n,) gives (). Dtypes: floats, kept; integers give float64.
    """
    if ddof is None:
        ddof = 0.0 if bias else correction
    if dtype is not None:
        x = _tarry.astype(_tarry.asarray(x), dtype)
        y = None if y is None else _tarry.astype(_tarry.asarray(y), dtype)
    if fweights is None and aweights is None:
        return _tarry._cov(x, y, rowvar, ddof=ddof)
    table = _variables(x, rowvar)
    if y is not None:
        table = _tarry.concat([table, _variables(y, rowvar)])
    if table.dtype.kind != "f":
        table = _tarry.astype(table, _tarry.float64)
    count = table.shape[1]
    often = None if fweights is None else _counts("cov", "fweights", fweights, count)
    heavy = None if aweights is None else _counts("cov", "aweights", aweights, count)
    weights = often if heavy is None else heavy if often is None else often * heavy
    assert weights is not None
    total = _tarry.sum(weights)
    divisor = total - ddof if heavy is None else total - ddof * _tarry.sum(weights * heavy) / total
    weights = _tarry.astype(weights, table.dtype)
    far = table - _tarry.sum(table * weights, axis=1, keepdims=True) / _tarry.sum(weights)
    made = _tarry.matmul(far * weights, _tarry.matrix_transpose(far)) / _tarry.astype(divisor, table.dtype)
    return made[0, 0] if made.shape == (1, 1) else made


def _variables(x: Any, rowvar: bool) -> Array:
    x = _tarry.asarray(x)
    if x.ndim > 2:
        raise _tarry._wrong("InvalidShape", "cov", f"takes two axes at most, not {x.shape}")
    if x.ndim < 2:
        return _tarry.reshape(x, (1, -1))
    return x if rowvar else _tarry.matrix_transpose(x)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Coefficients of correlation of variables, which are rows of x and of y, without rowvar columns.

    Shapes: (m, n) gives (m, m), (n,) gives (). Dtypes: floats, kept; integers give float64.
    """
    if dtype is not None:
        x = _tarry.astype(_tarry.asarray(x), dtype)
        y = None if y is None else _tarry.astype(_tarry.asarray(y), dtype)
    return _tarry._corrcoef(x, y, rowvar)


# ---- Curves ----


def interp(x: Any, xp: Any, fp: Any, left: float | None = None, right: float | None = None,
           period: float | None = None) -> Array:
    """The curve through the points (xp, fp) at x, straight between them; xp increases.

    Outside of the points it is `left` and `right`, else the outermost of them. With a period the curve repeats, and xp
    need not increase. Shapes: that of x. Dtypes: floats, kept; integers give float64. Throws InvalidArgument for points
    of more than one axis, or of none.
    """
    if period is None:
        return _tarry._interp(x, xp, fp, left, right)
    if period == 0:
        raise _tarry._wrong("InvalidValue", "interp", "the period is not 0")
    x, xp, fp = (_tarry.asarray(each) for each in (x, xp, fp))
    if xp.ndim != 1 or fp.shape != xp.shape:
        raise _tarry._wrong("InvalidShape", "interp", f"points have one axis of one extent, not {xp.shape} and {fp.shape}")
    x, xp = (each if each.dtype.kind == "f" else _tarry.astype(each, _tarry.float64) for each in (x, xp))
    period = abs(period)
    xp = _tarry.remainder(xp, period)
    order = _tarry.argsort(xp)
    xp, fp = _tarry.take(xp, order, axis=0), _tarry.take(fp, order, axis=0)
    places = _tarry.concat([xp[-1:] - period, xp, xp[:1] + period])
    return _tarry._interp(_tarry.remainder(x, period), places, _tarry.concat([fp[-1:], fp, fp[:1]]))


def gradient(f: Any, *spacings: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1) -> Any:
    """Slopes along each axis: differences of both neighbours, at the ends of the one that is there, or with an
    edge_order of 2 of the two next to it.

    `spacings` are the distance of neighbours, or the places of the points along the axis, for all axes or for each.

    Shapes: each result has that of f; one array for one axis, else a tuple of them. Dtypes: floats, kept; integers give
    float64. Throws InvalidArgument for fewer points along an axis than edge_order + 1.
    """
    if edge_order not in (1, 2):
        raise _tarry._wrong("InvalidValue", "gradient", f"edge_order is 1 or 2, not {edge_order}")
    made = _tarry._gradient(f, *spacings, axis=axis)
    if edge_order == 1:
        return made
    f = _tarry.asarray(f)
    f = f if f.dtype.kind == "f" else _tarry.astype(f, _tarry.float64)
    axes = _checks.axes_of("gradient", f, axis)
    slopes = made if isinstance(made, tuple) else (made,)
    steps = spacings if len(spacings) == len(axes) else (spacings or (1.0,)) * len(axes)
    found = tuple(_with_ends(f, slope, step, a) for slope, step, a in zip(slopes, steps, axes))
    return found if isinstance(made, tuple) else found[0]


def _with_ends(f: Array, slope: Array, spacing: Any, axis: int) -> Array:
    """The slopes with those of parabolas through three points at both ends."""
    extent = f.shape[axis]
    if extent < 3:
        raise _tarry._wrong("InvalidShape", "gradient", f"an edge_order of 2 takes 3 points along axis {axis}, not {extent}")

    def at(x: Array, i: int) -> Array:
        return x[(*(slice(None),) * axis, slice(i, i + 1))]

    places = _tarry.astype(_tarry.asarray(spacing), f.dtype)

    def end(i: int, j: int, k: int) -> Array:
        """At i, of the two next to it."""
        if places.ndim == 0:
            near = far = places * (j - i)
        else:
            near, far = places[j] - places[i], places[k] - places[j]
        whole = near + far
        return (at(f, i) * (-(near + whole) / (near * whole)) + at(f, j) * (whole / (near * far))
                - at(f, k) * (near / (far * whole)))

    return _tarry.concat([end(0, 1, 2), slope[(*(slice(None),) * axis, slice(1, -1))],
                          end(extent - 1, extent - 2, extent - 3)], axis)
