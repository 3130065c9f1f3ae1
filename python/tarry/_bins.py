"""Histograms under NumPy's names, and where their bins lie."""

from __future__ import annotations

import builtins as _builtins
import math as _math

from . import _checks, _tarry
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

    _Range = tuple[float, float] | None

__all__ = ["digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def _spread(x: Array) -> float:
    return float(_tarry.max(x)) - float(_tarry.min(x))


def _root(x: Array) -> float:
    return _spread(x) / _math.sqrt(x.size)


def _sturges(x: Array) -> float:
    return _spread(x) / (_math.log2(x.size) + 1)


def _rice(x: Array) -> float:
    return _spread(x) / (2 * x.size ** (1 / 3))


def _scott(x: Array) -> float:
    return (24 * _math.pi ** 0.5 / x.size) ** (1 / 3) * float(_tarry.std(x))


def _freedman_diaconis(x: Array) -> float:
    high, low = _tarry._percentile(x, [75, 25]).tolist()
    return 2 * (high - low) * x.size ** (-1 / 3)


def _doane(x: Array) -> float:
    n, spread = x.size, float(_tarry.std(x))
    if n <= 2 or spread == 0:
        return 0.0
    skew = abs(float(_tarry.mean(((x - _tarry.mean(x)) / spread) ** 3)))
    return _spread(x) / (1 + _math.log2(n) + _math.log2(1 + skew / _math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))))


def _auto(x: Array) -> float:
    return _builtins.min(_builtins.max(_freedman_diaconis(x), _root(x) / 2), _sturges(x))


def _stone(x: Array, limits: tuple[float, float]) -> float:
    """Minimises the estimate of the squared error that leaving out each point gives: Stone, Berkeley report 34, 1984."""
    n, whole = x.size, _spread(x)
    if n <= 1 or whole == 0:
        return 0.0
    numbers = range(1, _builtins.max(100, int(_math.sqrt(n))) + 1)
    parts = [_tarry._histogram(x, count, range=limits)[0] / n for count in numbers]
    squares = _tarry.stack([_tarry.sum(part * part) for part in parts]).tolist()
    return whole / _builtins.min(numbers, key=lambda count: (2 - (n + 1) * squares[count - 1]) * count / whole)


_RULES = {"auto": _auto, "doane": _doane, "fd": _freedman_diaconis, "rice": _rice, "scott": _scott, "sqrt": _root,
          "sturges": _sturges}


def _equal_bins(op: str, x: Any, rule: str, range: _Range, weights: Any) -> tuple[int, tuple[float, float]]:
    """The number of bins by a rule, and the ends of the first and the last. Evaluates."""
    if rule not in _RULES and rule != "stone":
        raise _tarry._wrong("InvalidValue", op, f"there is no rule {rule!r} of bins; there are stone, {', '.join(_RULES)}")
    if weights is not None:
        raise _tarry._wrong("InvalidDtype", op, "a rule of bins takes no weights")
    x = _tarry.reshape(_tarry.asarray(x), -1)
    whole = x.dtype.kind in "iu"
    x = _tarry.astype(x, _tarry.float64)
    if range is not None:
        x = x[_tarry.logical_and(x >= range[0], x <= range[1])]
    low, high = (range if range is not None else (float(_tarry.min(x)), float(_tarry.max(x))) if x.size else (0.0, 1.0))
    if low == high:
        low, high = low - 0.5, high + 0.5
    if not (_math.isfinite(low) and _math.isfinite(high)):
        raise _tarry._wrong("InvalidValue", op, f"the elements lie from {low} to {high}, which are not finite")
    width = 0.0
    if x.size:
        width = _stone(x, (low, high)) if rule == "stone" else _RULES[rule](x)
    if width and whole and width < 1:
        width = 1.0
    return (_math.ceil((high - low) / width) if width else 1), (low, high)


def _bins_of(op: str, bins: Any) -> Any:
    """A number of bins as an integer, else the edges, which increase where the host knows them."""
    if isinstance(bins, Array) or not hasattr(bins, "__index__") or getattr(bins, "ndim", 0):
        order = _checks.order_of(bins)
        if order is not None and not order[0]:
            raise _tarry._wrong("InvalidValue", op, "edges of bins increase")
        return bins
    bins = bins.__index__()
    if bins < 1:
        raise _tarry._wrong("InvalidValue", op, f"the number of bins is positive, not {bins}")
    return bins


def histogram(x: Any, bins: Any = 10, range: _Range = None, density: bool | None = None,
              weights: Any = None) -> tuple[Array, Array]:
    """How many elements lie in each bin, or the sum of their weights, and the edges of the bins.

    `bins` is a number of equal bins from the smallest element to the largest, or within `range`; the edges; or a rule
    of how many bins there are, which reads x and so waits: auto, doane, fd, rice, scott, sqrt, stone or sturges. Bins
    have their lower edge, the last one both. With `density` the integral is 1.

    Shapes: (n,) and (n + 1,) for n bins. Dtypes: int64, with weights theirs, with density floats. Throws InvalidValue
    for edges that decrease.
    """
    if isinstance(bins, str):
        bins, range = _equal_bins("histogram", x, bins, range, weights)
    weights = None if weights is None else _tarry.asarray(weights)
    return _tarry._histogram(x, _bins_of("histogram", bins), range=range, weights=weights, density=bool(density))


def histogram_bin_edges(x: Any, bins: Any = 10, range: _Range = None, weights: Any = None) -> Array:
    """The edges of the bins that histogram counts by. A rule of bins waits."""
    if isinstance(bins, str):
        bins, range = _equal_bins("histogram_bin_edges", x, bins, range, weights)
    return _tarry._histogram(x, _bins_of("histogram_bin_edges", bins), range=range)[1]


def _columns(op: str, bins: Any, count: int) -> list[Any]:
    """The bins of each axis."""
    if isinstance(bins, Array) and bins.ndim == 1 and count > 1:
        return [bins] * count
    if hasattr(bins, "__index__") and not getattr(bins, "ndim", 0):
        return [bins] * count
    if len(bins) != count:
        raise _tarry._wrong("InvalidShape", op, f"takes bins for each of {count} axes, not for {len(bins)}")
    return list(bins)


def histogramdd(sample: Any, bins: Any = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
                weights: Any = None) -> tuple[Array, tuple[Array, ...]]:
    """How many points lie in each box of bins, or the sum of their weights, and the edges of the bins of each axis.

    `bins` is a number of bins for all axes, or of each axis a number or the edges; `range` has for each axis the ends
    of equal bins, or None. `sample` has a row for each point, or is a list of columns.

    Shapes: (points, d) gives (n1, ..., nd) and d arrays of (n + 1,). Dtypes: as histogram.
    """
    return _boxes("histogramdd", sample, bins, range, density, weights)


def _boxes(op: str, sample: Any, bins: Any, range: Any, density: bool | None,
           weights: Any) -> tuple[Array, tuple[Array, ...]]:
    if isinstance(sample, (list, tuple)):
        sample = _tarry.stack([_tarry.asarray(column) for column in sample], axis=1)
    points = _tarry.asarray(sample)
    points = points[:, None] if points.ndim == 1 else points
    each = _columns(op, bins, points.shape[1])
    limits = [None] * len(each) if range is None else [None if ends is None else tuple(ends) for ends in range]
    if len(limits) != len(each):
        raise _tarry._wrong("InvalidShape", op, f"takes a range for each of {len(each)} axes, not for {len(limits)}")
    edges = []
    for i, own in enumerate(each):
        own = _bins_of(op, own)
        edges.append(_tarry._histogram(points[:, i], own, range=limits[i])[1] if isinstance(own, int)
                     else _tarry.asarray(own))
    weights = None if weights is None else _tarry.asarray(weights)
    counts, edges = _tarry._histogramdd(points, edges, weights=weights, density=bool(density))
    return counts, tuple(edges)


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Sequence[_Range] | None = None, density: bool | None = None,
                weights: Any = None) -> tuple[Array, Array, Array]:
    """How many points (x, y) lie in each bin, or the sum of their weights, and the edges of the bins along both axes.

    `bins` is the number of bins, the edges, or a list of one of these for each axis; `range` has the ends of equal bins
    of both.
    """
    both = bins if isinstance(bins, (list, tuple)) and len(bins) == 2 else [bins, bins]
    counts, edges = _boxes("histogram2d", [x, y], both, range, density, weights)
    return counts, edges[0], edges[1]


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The number of the bin of each element: 0 before the first edge. Edges increase, or decrease.

    Bins have their lower edge, with `right` the upper one. Shapes: that of x. Dtypes: int64. Throws InvalidValue for
    edges that do neither; of an array of Tarry that is an error when the result is read.
    """
    x = _tarry.asarray(x)
    made, order = _tarry.reshape(_tarry._digitize(x, bins, right), x.shape), _checks.order_of(bins)
    if order is not None:
        if not any(order):
            raise _tarry._wrong("InvalidValue", "digitize", "edges of bins increase or decrease")
        return made
    edges = _tarry.asarray(bins)
    up, down = (_tarry.all(compare(edges[:-1], edges[1:])) for compare in (_tarry.less_equal, _tarry.greater_equal))
    return made + _checks.failing(_tarry.logical_not(_tarry.logical_or(up, down)), made)
