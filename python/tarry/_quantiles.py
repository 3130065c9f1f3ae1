"""Medians and quantiles under NumPy's names, past NaN too."""

from __future__ import annotations

from . import _checks, _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

    _Axes = int | Sequence[int] | None

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

# Methods whose place is n * q + alpha + q * (1 - alpha - beta) - 1, by Hyndman and Fan, American Statistician 50, 1996.
_CONTINUOUS = {"interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
               "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}
_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
_METHODS = ("linear", "midpoint", "averaged_inverted_cdf", *_DISCRETE, *_CONTINUOUS)
_MADE = ("averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf")  # here alone
_NAN = float("nan")


def _row_last(x: Array, axes: tuple[int, ...]) -> Array:
    """x with its axes of reduction as one, behind all others."""
    kept = [a for a in range(x.ndim) if a not in axes]
    count = 1
    for a in axes:
        count *= x.shape[a]
    return _tarry.reshape(_tarry.permute_dims(x, (*kept, *axes)), (*(x.shape[a] for a in kept), count))


def _probabilities(op: str, q: Any, whole: float) -> Array:
    """q as a part of 1, as float64. InvalidValue where one lies outside of 0 and 1, NaN when an array with one is
    read."""
    known = _checks.numbers_of(q)
    for each in () if known is None else _checks.flat(known):
        if not 0 <= each <= whole:
            raise _tarry._wrong("InvalidValue", op, f"q is {each}, not within 0 and {whole:g}")
    made = _tarry.asarray(q, dtype=_tarry.float64) / whole
    if known is None:
        inside = _tarry.logical_and(made >= 0, made <= 1)
        made = _tarry.where(inside, made, _NAN) + _checks.failing(_tarry.logical_not(inside), made)
    return made


def _places(method: str, q: Array, n: Array) -> tuple[Array, Array]:
    """The places of quantiles among n elements in order, and the share of the next element."""
    if method in ("inverted_cdf", "closest_observation"):
        place = n * q - (1.0 if method == "inverted_cdf" else 1.5)
        below = _tarry.floor(place)
        exact = place == below
        if method == "closest_observation":
            exact = _tarry.logical_and(exact, _tarry.remainder(below, 2) == 1)
        place = _tarry.where(exact, below, below + 1)
    elif method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method == "averaged_inverted_cdf":
        place = n * q - 1
    else:
        place = (n - 1) * q
        turned = {"lower": _tarry.floor, "higher": _tarry.ceil, "nearest": _tarry.round}
        place = turned[method](place) if method in turned else place
    below = _tarry.floor(place)
    share = place - below
    if method == "midpoint":
        share = _tarry.where(share > 0, 0.5, 0.0)
    elif method == "averaged_inverted_cdf":
        share = _tarry.where(share > 0, 1.0, 0.5)
    return below, _tarry.where(_tarry.logical_or(place < 0, place >= n - 1), 0.0, share)


def _interpolated(rows: Array, q: Array, method: str, count: Array) -> Array:
    """Quantiles of rows in order, of each of its first `count` elements. Shapes: (..., n) and (k,) give (..., k)."""
    below, share = _places(method, q, _tarry.astype(count, _tarry.float64))
    last = count - 1
    first = _tarry.maximum(_tarry.minimum(_tarry.astype(below, _tarry.int64), last), 0)
    if method in _DISCRETE:
        return _tarry.take_along_axis(rows, first, axis=-1)
    then = _tarry.maximum(_tarry.minimum(first + 1, last), 0)
    a, b = (_tarry.take_along_axis(rows, at, axis=-1) for at in (first, then))
    share = _tarry.astype(share, rows.dtype)
    return _tarry.where(share > 0, a + (b - a) * share, a)


def _weighted(rows: Array, weights: Array, q: Array) -> Array:
    """The first elements in order at which the running sum of the weights reaches q of all. Shapes: (..., n) and (k,)
    give (..., k)."""
    order = _tarry.argsort(rows)
    weights = _tarry.astype(_tarry.take_along_axis(weights, order, axis=-1), _tarry.float64)
    running = _tarry.cumulative_sum(weights, axis=-1)
    share = running / running[..., -1:]
    share = _tarry.where(share == 0, -1.0, share)  # elements without a weight are no quantile of 0
    at = _tarry.sum(_tarry.astype(share[..., None, :] < q[:, None], _tarry.int64), axis=-1)
    at = _tarry.minimum(at, rows.shape[-1] - 1)
    return _tarry.take_along_axis(_tarry.take_along_axis(rows, order, axis=-1), at, axis=-1)


def _weights_of(op: str, x: Array, axes: tuple[int, ...], weights: Any, method: str) -> Array:
    """The weights in the shape of x."""
    if method != "inverted_cdf":
        raise _tarry._wrong("InvalidValue", op, f"only the method inverted_cdf takes weights, not {method}")
    known = _checks.extremes(weights)
    if known is not None and known[0] < 0:
        raise _tarry._wrong("InvalidValue", op, "weights are not negative")
    weights = _tarry.asarray(weights)
    if weights.shape != x.shape:
        if weights.ndim != 1 or len(axes) != 1 or weights.shape[0] != x.shape[axes[0]]:
            raise _tarry._wrong("InvalidShape", op, f"weights have the shape {x.shape}, or one axis beside one of x, not {weights.shape}")
        weights = _tarry.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - axes[0]))
    return _tarry.broadcast_to(weights, x.shape)


def _quantiles(op: str, x: Any, q: Any, axis: _Axes, method: str, keepdims: bool, weights: Any, whole: float) -> Array:
    x, past_nan = _tarry.asarray(x), op.startswith("nan")
    if method not in _METHODS:
        raise _tarry._wrong("InvalidValue", op, f"there is no method {method} of quantiles; there are {', '.join(_METHODS)}")
    axes = _checks.axes_of(op, x, axis)
    q = _probabilities(op, q, whole)
    each = _tarry.reshape(q, (-1,)) if q.size else _tarry.zeros((0,), dtype=_tarry.float64)
    if x.dtype.kind != "f" and (method not in _DISCRETE or past_nan):
        x = _tarry.astype(x, _tarry.float64)
    rows = _row_last(x, axes)
    others, extent = tuple(rows.shape[:-1]), rows.shape[-1]
    if extent == 0 or each.size == 0:
        if x.dtype.kind != "f":
            x = _tarry.astype(x, _tarry.float64)
        made = _tarry.full((*others, each.shape[0]), _NAN, dtype=x.dtype)
    elif weights is not None:
        given = _row_last(_weights_of(op, x, axes, weights, method), axes)
        if past_nan:
            given = _tarry.where(_tarry.isnan(rows), _tarry.zeros_like(given), given)
        made = _weighted(rows, given, each)
    else:
        count = _tarry.full((*others, 1), extent, dtype=_tarry.int64)
        if past_nan:
            count = _tarry.sum(_tarry.astype(_tarry.logical_not(_tarry.isnan(rows)), _tarry.int64), axis=-1, keepdims=True)
        made = _interpolated(_tarry.sort(rows), each, method, count)
    if not past_nan and x.dtype.kind == "f" and extent:
        made = _tarry.where(_tarry.any(_tarry.isnan(rows), axis=-1, keepdims=True), _NAN, made)
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape)) if keepdims else others
    return _tarry.reshape(_tarry.moveaxis(made, -1, 0), (*q.shape, *shape))


def _plain(x: Any, q: Any, axis: _Axes, method: str, weights: Any) -> bool:
    """True where the extension module's own quantiles serve: numbers or a list of them, along one axis or all."""
    if weights is not None or method in _MADE or not (axis is None or type(axis) is int):
        return False
    if not (isinstance(q, (int, float)) or type(q) is list and q and all(isinstance(each, (int, float)) for each in q)):
        return False
    return _tarry.size(x) > 0 and (method not in _DISCRETE or _tarry.asarray(x).dtype.kind == "f")


def quantile(x: Any, q: Any, axis: _Axes = None, *, method: str = "linear", keepdims: bool = False,
             weights: Any = None, overwrite_input: bool = False) -> Array:
    """Quantiles q, from 0 to 1, along an axis, several or all: the elements at these shares of those in order.

    `method` says what lies between two elements: linear, lower, higher, midpoint, nearest, inverted_cdf,
    averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, median_unbiased or
    normal_unbiased. `weights`, which inverted_cdf takes alone, have the shape of x, or one axis beside a single one.
    NaN where an element is NaN, and of nothing.

    Shapes: the axes of q come first, then those that are kept. Dtypes: floats, kept; integers give float64, and
    themselves where the method takes an element. Throws InvalidValue for q outside of 0 and 1; of an array of Tarry
    that is an error when the result is read.
    """
    if _plain(x, q, axis, method, weights):
        return _tarry._quantile(x, q, axis, method=method, keepdims=keepdims)
    return _quantiles("quantile", x, q, axis, method, keepdims, weights, 1)


def percentile(x: Any, q: Any, axis: _Axes = None, *, method: str = "linear", keepdims: bool = False,
               weights: Any = None, overwrite_input: bool = False) -> Array:
    """quantile of q / 100."""
    if _plain(x, q, axis, method, weights):
        return _tarry._percentile(x, q, axis, method=method, keepdims=keepdims)
    return _quantiles("percentile", x, q, axis, method, keepdims, weights, 100)


def median(x: Any, axis: _Axes = None, *, keepdims: bool = False, overwrite_input: bool = False) -> Array:
    """The middle of the elements in order along an axis, several or all; of an even number the mean of the two beside
    it. NaN where an element is NaN, and of nothing.

    Dtypes: floats, kept; integers give float64.
    """
    if _plain(x, 0.5, axis, "linear", None):
        return _tarry._median(x, axis, keepdims=keepdims)
    return _quantiles("median", x, 0.5, axis, "linear", keepdims, None, 1)


def nanquantile(x: Any, q: Any, axis: _Axes = None, *, method: str = "linear", keepdims: bool = False,
                weights: Any = None, overwrite_input: bool = False) -> Array:
    """quantile of the elements that are not NaN; NaN where all are. Algorithm: a sort, which puts NaN last."""
    return _quantiles("nanquantile", x, q, axis, method, keepdims, weights, 1)


def nanpercentile(x: Any, q: Any, axis: _Axes = None, *, method: str = "linear", keepdims: bool = False,
                  weights: Any = None, overwrite_input: bool = False) -> Array:
    """nanquantile of q / 100."""
    return _quantiles("nanpercentile", x, q, axis, method, keepdims, weights, 100)


def nanmedian(x: Any, axis: _Axes = None, *, keepdims: bool = False, overwrite_input: bool = False) -> Array:
    """The middle of the elements that are not NaN, the mean of the two beside it of an even number; NaN where all
    are."""
    return _quantiles("nanmedian", x, 0.5, axis, "linear", keepdims, None, 1)
