"""default_rng: a generator whose draws have the names and arguments of numpy.random's."""

from __future__ import annotations

import operator
import os

from . import _tarry
from ._changes import refuse_nameless

Generator = _tarry.random.Generator
TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

    from ._tarry import Array, Dtype
    from ._tarry.random import Generator

    _Size = int | Sequence[int] | None


def _shape(size: _Size, *beside: Any) -> tuple[int, ...]:
    """The shape that is asked for, or that of the arguments."""
    if size is None:
        arrays = [x for x in (_tarry.asarray(x) if isinstance(x, (list, tuple)) else x for x in beside)
                  if getattr(x, "ndim", 0)]
        return _tarry.broadcast_arrays(*arrays)[0].shape if arrays else ()
    return (size,) if isinstance(size, int) else tuple(size)


class NumPyGenerator(Generator):
    """A stream of draws that are called as those of numpy.random.Generator; the numbers are those of Generator.

    Without a size a draw has the shape of its arguments, which for numbers is a 0-d array. Draws are lazy.
    """

    def __init__(self, seed: int | None = None, draws: int = 0) -> None:
        super().__init__(int.from_bytes(os.urandom(8), "little") if seed is None else seed, draws)

    def random(self, size: _Size = None, dtype: Dtype | str | type | None = None) -> Array:
        """Numbers in [0, 1)."""
        return super().uniform(_shape(size), dtype=dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: _Size = None) -> Array:  # type: ignore[override]
        """Numbers in [low, high)."""
        return low + (high - low) * super().uniform(_shape(size, low, high))

    def standard_normal(self, size: _Size = None, dtype: Dtype | str | type | None = None) -> Array:
        """Numbers of the normal distribution of mean 0 and deviation 1."""
        return super().normal(_shape(size), dtype=dtype)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: _Size = None) -> Array:  # type: ignore[override]
        """Numbers of the normal distribution of this mean and deviation."""
        return loc + scale * super().normal(_shape(size, loc, scale))

    def exponential(self, scale: Any = 1.0, size: _Size = None) -> Array:  # type: ignore[override]
        """Numbers of the exponential distribution of this mean."""
        return scale * super().exponential(_shape(size, scale))

    def standard_exponential(self, size: _Size = None, dtype: Dtype | str | type | None = None) -> Array:
        """Numbers of the exponential distribution of mean 1."""
        return super().exponential(_shape(size), dtype=dtype)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: _Size = None) -> Array:
        """Numbers whose logarithms have the normal distribution of this mean and deviation."""
        return _tarry.exp(self.normal(mean, sigma, size))

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: _Size = None) -> Array:
        """Numbers of the double exponential distribution: the difference of two exponential ones."""
        shape = _shape(size, loc, scale)
        return loc + scale * (super().exponential(shape) - super().exponential(shape))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: _Size = None) -> Array:
        """Numbers of the logistic distribution: the logarithm of the ratio of two exponential ones."""
        shape = _shape(size, loc, scale)
        return loc + scale * (_tarry.log(super().exponential(shape)) - _tarry.log(super().exponential(shape)))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: _Size = None) -> Array:
        """Numbers of Gumbel's distribution of extremes, of this mode."""
        return loc - scale * _tarry.log(super().exponential(_shape(size, loc, scale)))

    def weibull(self, a: Any, size: _Size = None) -> Array:
        """Numbers of Weibull's distribution of scale 1 and this shape."""
        return super().exponential(_shape(size, a)) ** (1 / a)

    def rayleigh(self, scale: Any = 1.0, size: _Size = None) -> Array:
        """Lengths of vectors of two normal numbers of this deviation."""
        return scale * _tarry.sqrt(2 * super().exponential(_shape(size, scale)))

    def pareto(self, a: Any, size: _Size = None) -> Array:
        """Numbers of the distribution of Pareto II, or Lomax, of this shape."""
        return _tarry.expm1(super().exponential(_shape(size, a)) / a)

    def power(self, a: Any, size: _Size = None) -> Array:
        """Numbers in [0, 1] whose density is a * x**(a - 1)."""
        return (-_tarry.expm1(-super().exponential(_shape(size, a)))) ** (1 / a)

    def standard_cauchy(self, size: _Size = None) -> Array:
        """Numbers of Cauchy's distribution: the ratio of two normal ones."""
        shape = _shape(size)
        return super().normal(shape) / super().normal(shape)

    def triangular(self, left: Any, mode: Any, right: Any, size: _Size = None) -> Array:
        """Numbers from left to right, whose density rises up to the mode and falls from there."""
        u = super().uniform(_shape(size, left, mode, right))
        whole, part = right - left, mode - left
        return _tarry.where(u * whole < part, left + _tarry.sqrt(u * (whole * part)),
                            right - _tarry.sqrt((1 - u) * (whole * (right - mode))))

    def geometric(self, p: Any, size: _Size = None) -> Array:
        """How many trials of this probability it takes up to the first success, as int64."""
        trials = super().exponential(_shape(size, p), dtype=_tarry.float64) / -_tarry.log1p(-_tarry.asarray(p))
        return _tarry.astype(_tarry.maximum(_tarry.ceil(trials), 1), _tarry.int64)

    def standard_gamma(self, shape: Any, size: _Size = None, dtype: Dtype | str | type | None = None) -> Array:
        """Numbers of the gamma distribution of scale 1 and this shape parameter."""
        return super().gamma(_shape(size, shape), shape, dtype=dtype)

    def gamma(self, shape: Any, scale: Any = 1.0, size: _Size = None) -> Array:  # type: ignore[override]
        """Numbers of the gamma distribution of this shape parameter and scale."""
        return scale * super().gamma(_shape(size, shape, scale), shape)

    def beta(self, a: Any, b: Any, size: _Size = None) -> Array:  # type: ignore[override]
        """Numbers of the beta distribution on [0, 1]."""
        return super().beta(_shape(size, a, b), a, b)

    def chisquare(self, df: Any, size: _Size = None) -> Array:
        """Sums of the squares of df normal numbers."""
        return 2 * super().gamma(_shape(size, df), df / 2)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: _Size = None) -> Array:
        """The same of normal numbers whose means have squares that add up to nonc."""
        shape = _shape(size, df, nonc)
        return self.chisquare(df + 2 * super().poisson(shape, nonc / 2))

    def f(self, dfnum: Any, dfden: Any, size: _Size = None) -> Array:
        """Fisher's ratios of two means of squares."""
        shape = _shape(size, dfnum, dfden)
        return self.chisquare(dfnum, shape) / dfnum / (self.chisquare(dfden, shape) / dfden)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: _Size = None) -> Array:
        """The same where the first is of normal numbers whose means have squares that add up to nonc."""
        shape = _shape(size, dfnum, dfden, nonc)
        return self.noncentral_chisquare(dfnum, nonc, shape) / dfnum / (self.chisquare(dfden, shape) / dfden)

    def standard_t(self, df: Any, size: _Size = None) -> Array:
        """Numbers of Student's distribution with df degrees of freedom."""
        shape = _shape(size, df)
        chi = self.chisquare(df, shape)
        return super().normal(shape, dtype=chi.dtype) / _tarry.sqrt(chi / df)

    def dirichlet(self, alpha: Any, size: _Size = None) -> Array:
        """Vectors of positive numbers with the sum 1: gamma numbers over their sum."""
        alpha = _tarry.asarray(alpha)
        drawn = super().gamma((*_shape(size), alpha.shape[-1]), alpha)
        return drawn / _tarry.sum(drawn, axis=-1, keepdims=True)

    def wald(self, mean: Any, scale: Any, size: _Size = None) -> Array:
        """Numbers of the inverse Gaussian distribution, after Michael, Schucany and Haas (1976)."""
        shape = _shape(size, mean, scale)
        w = super().normal(shape) ** 2 * (mean / (2 * scale))
        x = mean / (1 + w + _tarry.sqrt(w * (w + 2)))  # the smaller root, without a difference
        return _tarry.where(super().uniform(shape) * (mean + x) <= mean, x, mean * mean / x)

    def poisson(self, lam: Any = 1.0, size: _Size = None) -> Array:  # type: ignore[override]
        """Counts of the Poisson distribution of this mean, as int64."""
        return super().poisson(_shape(size, lam), lam)

    def binomial(self, n: Any, p: Any, size: _Size = None) -> Array:  # type: ignore[override]
        """Successes among n trials of this probability, as int64."""
        return super().binomial(_shape(size, n, p), n, p)

    def logseries(self, p: Any, size: _Size = None) -> Array:
        """Counts of the logarithmic distribution, as int64, after Kemp (1981): geometric ones whose parameter is drawn."""
        shape, p = _shape(size, p), _tarry.asarray(p, dtype=_tarry.float64)
        q = -_tarry.expm1(super().uniform(shape, dtype=_tarry.float64) * _tarry.log1p(-p))
        u = 1 - super().uniform(shape, dtype=_tarry.float64)
        return _tarry.astype(1 + _tarry.floor(_tarry.where(q > 0, _tarry.log(u) / _tarry.log(q), 0)), _tarry.int64)

    def negative_binomial(self, n: Any, p: Any, size: _Size = None) -> Array:
        """Failures before the n-th success, of this probability, as int64: of the Poisson distribution of a gamma
        number."""
        shape = _shape(size, n, p)
        return super().poisson(shape, super().gamma(shape, n, dtype=_tarry.float64) * ((1 - p) / p))

    def multinomial(self, n: Any, pvals: Any, size: _Size = None) -> Array:
        """How many of n trials fall into each class, along a last axis, as int64: a binomial draw for each class."""
        p = _tarry.astype(_tarry.asarray(pvals), _tarry.float64)
        classes, shape = p.shape[-1], (*_shape(size, n), p.shape[-1])[:-1]
        rest = _tarry.flip(_tarry.cumulative_sum(_tarry.flip(p, axis=-1), axis=-1), axis=-1)
        left, counts = _tarry.broadcast_to(_tarry.asarray(n, dtype=_tarry.int64), shape), []
        for k in range(classes - 1):
            share = _tarry.where(rest[..., k] > 0, _tarry.minimum(p[..., k] / rest[..., k], 1.0), 0.0)
            counts.append(super().binomial(shape, left, share))
            left = left - counts[-1]
        return _tarry.stack([*counts, left], axis=-1)

    def multivariate_normal(self, mean: Any, cov: Any, size: _Size = None) -> Array:
        """Vectors of normal numbers of this mean, (n,), and covariance, (n, n), by its factor of Cholesky."""
        factor = _tarry.linalg.cholesky(_tarry.asarray(cov))
        mean = _tarry.asarray(mean)
        drawn = super().normal((*_shape(size), mean.shape[-1]), dtype=factor.dtype)
        return mean + _tarry.matmul(drawn, _tarry.matrix_transpose(factor))

    def integers(self, low: int, high: int | None = None, size: _Size = None,  # type: ignore[override]
                 dtype: Dtype | str | type = int, endpoint: bool = False) -> Array:
        """Integers from low up to high, or from 0 up to low; the end is drawn only where endpoint is true."""
        if high is None:
            low, high = 0, low
        return super().integers(_shape(size), low, high + endpoint, dtype=dtype)

    def permutation(self, x: Any) -> Array:
        """The rows of x in a random order, or 0 to x - 1."""
        rows = _tarry.arange(x) if isinstance(x, int) else _tarry.asarray(x)
        order = _tarry.argsort(self.bits(rows.shape[0], dtype="uint64"))
        return _tarry.take(rows, order, axis=0)

    def permuted(self, x: Any, *, axis: int | None = None) -> Array:
        """The elements of x in a random order: of each vector along an axis by itself, of all without one."""
        x = _tarry.asarray(x)
        if axis is None:
            return _tarry.reshape(self.permutation(_tarry.reshape(x, -1)), x.shape)
        return _tarry.take_along_axis(x, _tarry.argsort(super().bits(x.shape, dtype="uint64"), axis=axis), axis=axis)

    def bytes(self, length: int) -> bytes:
        """So many random bytes, at once."""
        return memoryview(super().bits(-(-length // 4), dtype="uint32")).tobytes()[:length]

    def shuffle(self, x: Array) -> None:
        """Puts the rows of x itself into a random order."""
        refuse_nameless(x, "shuffle")
        x[...] = self.permutation(x)

    def choice(self, a: Any, size: _Size = None, replace: bool = True, p: Any = None) -> Array:
        """Rows of a, or integers from 0 to a - 1: each as likely as any other, or with the probabilities p."""
        rows = _tarry.arange(a) if isinstance(a, int) else _tarry.asarray(a)
        shape, n = _shape(size), rows.shape[0]
        if not replace:
            count = 1
            for extent in shape:
                count *= extent
            if p is not None or count > n:
                raise _tarry._wrong("InvalidValue", "choice", "without replacement it draws as many as there are at most, and takes no p")
            return _tarry.reshape(self.permutation(rows)[:count], (*shape, *rows.shape[1:]))
        if p is None:
            return _tarry.take(rows, super().integers(shape, 0, n), axis=0)
        ends = _tarry.cumulative_sum(_tarry.asarray(p))
        places = _tarry.searchsorted(ends, ends[-1] * super().uniform(shape, dtype=ends.dtype), side="right")
        return _tarry.take(rows, places, axis=0, mode="clip")

    if TYPE_CHECKING:  # of the type of its object

        def fork(self, number: int | None = None) -> "NumPyGenerator": ...

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.key, self.draws)


def _key(seed: Any) -> int | None:
    """The 64 bits that stand for a seed: an integer as it is, a larger one, several or a SeedSequence by a hash."""
    if seed is None:
        return None
    if hasattr(seed, "generate_state"):
        return int(seed.generate_state(1, "uint64")[0])
    numbers = [operator.index(each) for each in (seed if hasattr(seed, "__iter__") else [seed])]
    if not numbers or min(numbers) < 0:
        raise _tarry._wrong("InvalidValue", "default_rng", f"a seed is made of integers that are not negative, not {seed!r}")
    if len(numbers) == 1 and numbers[0] < 2**64 and not hasattr(seed, "__iter__"):
        return numbers[0]
    from hashlib import blake2b

    return int.from_bytes(blake2b(repr(numbers).encode(), digest_size=8).digest(), "little")


def default_rng(seed: Any = None) -> NumPyGenerator:
    """A generator of that seed, whose draws are called as those of numpy.random's; of a seed that nobody knows without
    one. A seed is an integer, several, or a SeedSequence of NumPy; a generator of this kind is given back."""
    if isinstance(seed, NumPyGenerator):
        return seed
    return NumPyGenerator(seed.key, seed.draws) if isinstance(seed, Generator) else NumPyGenerator(_key(seed))
