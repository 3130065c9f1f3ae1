"""NumPy's elementwise functions that the op table has no row for, and polynomials, as calls of the module's own."""

from __future__ import annotations

from . import _tarry
from ._loops import while_loop
from ._tarry import Array

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes long to import
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "angle", "bitwise_count", "float_power", "frexp", "gcd", "i0", "iscomplex", "isneginf", "isposinf",
    "isreal", "lcm", "ldexp", "logaddexp2", "modf", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint",
    "polymul", "polysub", "polyval", "real_if_close", "spacing", "unwrap", "vander",
]

_LN2, _INFINITY = 0.6931471805599453, float("inf")


# ---- Elementwise ----


def i0(x: Any) -> Array:
    """The modified Bessel function of the first kind of order 0.

    Algorithm: the mean of exp(x cos t) over the circle, whose trapezoidal rule converges geometrically (Trefethen and
    Weideman, SIAM Review 56, 2014); 256 points suffice where the result is finite.
    """
    x = _tarry.asarray(x)
    size = _tarry.abs(x if x.dtype.kind == "f" else _tarry.astype(x, _tarry.float64))
    turn = _tarry.cos(_tarry.linspace(0, 3.141592653589793, 129, dtype=size.dtype))
    ends = _tarry.asarray([0.5] + [1.0] * 127 + [0.5], dtype=size.dtype)
    return _tarry.exp(size) * (_tarry.sum(_tarry.exp(size[..., None] * (turn - 1)) * ends, axis=-1) / 128)


def isreal(x: Any) -> Array:
    """True for every element: there are no complex numbers."""
    return _tarry.ones(_tarry.asarray(x).shape, dtype=_tarry.bool)


def iscomplex(x: Any) -> Array:
    """False for every element: there are no complex numbers."""
    return _tarry.zeros(_tarry.asarray(x).shape, dtype=_tarry.bool)


def real_if_close(x: Any, tol: float = 100) -> Array:
    """x, which is real."""
    return _tarry.asarray(x)


def angle(z: Any, deg: bool = False) -> Array:
    """The angle of a real number in the complex plane: 0, or pi where its sign is set, in radians or degrees."""
    z = _tarry.asarray(z)
    z = z if z.dtype.kind == "f" else _tarry.astype(z, _tarry.float64)
    turned = _tarry.where(_tarry.signbit(z), 180.0 if deg else 3.141592653589793, 0.0)
    return _tarry.astype(_tarry.where(_tarry.isnan(z), z, turned), z.dtype)


def spacing(x: Any) -> Array:
    """The distance to the next number away from 0, with the sign of x; NaN of infinities."""
    x = _tarry.asarray(x)
    x = x if x.dtype.kind == "f" else _tarry.astype(x, _tarry.float64)
    size = _tarry.abs(x)
    return _tarry.copysign(_tarry.nextafter(size, _INFINITY) - size, x)


def isposinf(x: Any) -> Array:
    """True where an element is +inf."""
    x = _tarry.asarray(x)
    return _tarry.equal(x, _INFINITY) if x.dtype.kind == "f" else _tarry.zeros(x.shape, dtype=_tarry.bool)


def isneginf(x: Any) -> Array:
    """True where an element is -inf."""
    x = _tarry.asarray(x)
    return _tarry.equal(x, -_INFINITY) if x.dtype.kind == "f" else _tarry.zeros(x.shape, dtype=_tarry.bool)


def logaddexp2(x: Any, y: Any) -> Array:
    """log2(2**x + 2**y), without overflow on the way."""
    x, y = _tarry.asarray(x), _tarry.asarray(y)
    return _tarry.logaddexp(x * _LN2, y * _LN2) / _LN2


def ldexp(x: Any, exponent: Any) -> Array:
    """x * 2**exponent. Floats; exponents are integers."""
    x, exponent = _tarry.asarray(x), _tarry.asarray(exponent)
    if exponent.dtype.kind not in "iu":
        raise _tarry._wrong("InvalidDtype", "ldexp", f"takes integers as exponents, not {exponent.dtype}")
    # Two factors: an exponent that brings a subnormal number into range is none of a power by itself.
    half = _tarry.astype(exponent, _tarry.int64) >> 1
    rest = _tarry.astype(exponent, _tarry.int64) - half
    made = x.dtype if x.dtype.kind == "f" else _tarry.float64
    low, high = (_tarry.astype(_tarry.exp2(_tarry.astype(each, _tarry.float64)), made) for each in (half, rest))
    return x * low * high


def frexp(x: Any) -> tuple[Array, Array]:
    """Mantissas of 0.5 to 1 or of 0, and int32 exponents: x is mantissa * 2**exponent. 0, infinities and NaN stay as
    they are, with the exponent 0."""
    x = _tarry.asarray(x)
    if x.dtype.kind != "f":
        x = _tarry.astype(x, _tarry.float64)
    plain = _tarry.logical_and(_tarry.isfinite(x), x != 0)
    wide = _tarry.where(plain, _tarry.abs(_tarry.astype(x, _tarry.float64)), 1.0)
    small = wide < 2.0 ** -1000
    wide = _tarry.where(small, wide * 2.0 ** 60, wide)
    guess = _tarry.floor(_tarry.log2(wide)) + 1
    mantissa = wide * _tarry.exp2(-guess)
    guess = guess + _tarry.astype(mantissa >= 1, _tarry.float64) - _tarry.astype(mantissa < 0.5, _tarry.float64)
    mantissa = _tarry.copysign(_tarry.astype(wide * _tarry.exp2(-guess), x.dtype), x)
    exponent = _tarry.astype(_tarry.where(small, guess - 60, guess), _tarry.int32)
    return _tarry.where(plain, mantissa, x), _tarry.where(plain, exponent, 0)


def modf(x: Any) -> tuple[Array, Array]:
    """The parts behind and before the point, both with the sign of x."""
    x = _tarry.asarray(x)
    if x.dtype.kind != "f":
        x = _tarry.astype(x, _tarry.float64)
    whole = _tarry.trunc(x)
    return _tarry.copysign(_tarry.where(_tarry.isinf(x), 0.0, x - whole), x), whole


def float_power(x: Any, y: Any) -> Array:
    """x to the power of y in float64."""
    return _tarry.pow(_tarry.astype(_tarry.asarray(x), _tarry.float64),
                      _tarry.astype(_tarry.asarray(y), _tarry.float64))


def gcd(x: Any, y: Any) -> Array:
    """The greatest common divisors of integers, not negative. Algorithm: Euclid's, each element until it ends."""
    x, y = _tarry.broadcast_arrays(_tarry.asarray(x), _tarry.asarray(y))
    if x.dtype.kind not in "iu" or y.dtype.kind not in "iu":
        raise _tarry._wrong("InvalidDtype", "gcd", f"takes integers, not {x.dtype} and {y.dtype}")
    common = _tarry.result_type(x, y)
    start = tuple(_tarry.abs(_tarry.astype(each, common)) for each in (x, y))
    return while_loop(lambda s: s[1] != 0, lambda s: (s[1], _tarry.remainder(s[0], s[1])), start)[0]


def lcm(x: Any, y: Any) -> Array:
    """The least common multiples of integers, not negative; 0 where one is 0."""
    x, y = _tarry.asarray(x), _tarry.asarray(y)
    shared = gcd(x, y)
    return _tarry.abs(x // _tarry.maximum(shared, 1) * y)


def bitwise_count(x: Any) -> Array:
    """How many bits of the absolute values of integers are set, as uint8."""
    x = _tarry.asarray(x)
    if x.dtype.kind not in "iu":
        raise _tarry._wrong("InvalidDtype", "bitwise_count", f"takes integers, not {x.dtype}")
    word = _tarry.astype(_tarry.abs(x), _tarry.uint64)
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return _tarry.astype((word * 0x0101010101010101) >> 56, _tarry.uint8)


def unwrap(x: Any, axis: int = -1, *, period: float = 2 * 3.141592653589793) -> Array:
    """x with multiples of the period added, so that neighbours along an axis differ by half of it at most."""
    x = _tarry.asarray(x)
    whole = x.dtype.kind != "f" and isinstance(period, int)
    if x.dtype.kind != "f" and not whole:
        x = _tarry.astype(x, _tarry.float64)
    high = period // 2 if whole else period / 2
    step = _tarry.diff(x, axis=axis)
    rest = _tarry.remainder(step + high, period) - high
    if not whole or period % 2 == 0:  # half a period up stays one up
        rest = _tarry.where(_tarry.logical_and(rest == -high, step > 0), high, rest)
    added = _tarry.cumsum(_tarry.where(2 * _tarry.abs(step) < period, 0, rest - step), axis)
    none = [(0, 0)] * x.ndim
    none[axis] = (1, 0)
    return x + _tarry._pad(added, none)


# ---- Polynomials, the highest power first ----


def polyval(p: Any, x: Any) -> Array:
    """The polynomial at x whose coefficients are p, the highest power first: by Horner's scheme."""
    x = _tarry.asarray(x)
    made = _tarry.zeros_like(x)
    for factor in p:
        made = made * x + factor
    return made


def _alike(a: Any, b: Any) -> tuple[Array, Array]:
    """Both with as many coefficients."""
    a, b = _tarry.reshape(_tarry.asarray(a), -1), _tarry.reshape(_tarry.asarray(b), -1)
    n = a.size if a.size > b.size else b.size
    return _tarry._pad(a, [(n - a.size, 0)]), _tarry._pad(b, [(n - b.size, 0)])


def polyadd(a: Any, b: Any) -> Array:
    """The sum of two polynomials."""
    a, b = _alike(a, b)
    return a + b


def polysub(a: Any, b: Any) -> Array:
    """The difference of two polynomials."""
    a, b = _alike(a, b)
    return a - b


def polymul(a: Any, b: Any) -> Array:
    """The product of two polynomials."""
    return _tarry.convolve(_tarry.reshape(_tarry.asarray(a), -1), _tarry.reshape(_tarry.asarray(b), -1))


def poly(zeros: Any) -> Array:
    """The polynomial with these real zeros whose highest power has the factor 1."""
    zeros = _tarry.reshape(_tarry.asarray(zeros, dtype=_tarry.float64), -1)
    made = _tarry.ones(1, dtype=_tarry.float64)
    for i in range(zeros.size):
        made = _tarry._pad(made, [(0, 1)]) - _tarry._pad(made * zeros[i], [(1, 0)])
    return made


def polydiv(u: Any, v: Any) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials. Evaluates: the remainder loses the zeros at its front."""
    u, v = (_tarry.reshape(_tarry.asarray(p, dtype=_tarry.float64), -1) for p in (u, v))
    steps = u.size - v.size + 1
    quotient: list[Array] = []
    for k in range(steps):
        quotient.append(u[k:k + 1] / v[0])
        u = u - _tarry._pad(quotient[-1] * v, [(k, u.size - k - v.size)])
    rest = u[steps:] if steps > 0 else u
    far = _tarry.nonzero(_tarry.abs(rest) > 1e-14)[0]
    rest = rest[int(far[0]):] if far.size > 0 else u[-1:] * 0
    return (_tarry.concat(quotient) if quotient else _tarry.zeros(1, dtype=_tarry.float64)), rest


def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, *, w: Any = None) -> Array:
    """The polynomial of this degree that is nearest to y at x by least squares, weighted by w. Shapes: (m,) and (m,)
    give (deg + 1,); (m,) and (m, k) give (deg + 1, k). Algorithm: lstsq of the powers of x, each divided by its
    length."""
    x = _tarry.astype(_tarry.asarray(x), _tarry.float64)
    y = _tarry.astype(_tarry.asarray(y), _tarry.float64)
    powers = vander(x, deg + 1)
    if w is not None:
        w = _tarry.astype(_tarry.asarray(w), _tarry.float64)
        powers, y = powers * w[:, None], y * (w if y.ndim == 1 else w[:, None])
    length = _tarry.sqrt(_tarry.sum(powers * powers, axis=0))
    made = _tarry.linalg.lstsq(powers / length, y, rcond).x
    return made / (length if y.ndim == 1 else length[:, None])


def polyder(p: Any, m: int = 1) -> Array:
    """The m-th derivative of a polynomial."""
    p = _tarry.asarray(p)
    for _ in range(m):
        p = p[:-1] * _tarry.arange(p.size - 1, 0, -1, dtype=p.dtype)
    return p


def polyint(p: Any, m: int = 1, k: float = 0) -> Array:
    """The m-th integral of a polynomial; k is the constant of each."""
    p = _tarry.asarray(p)
    if p.dtype.kind != "f":
        p = _tarry.astype(p, _tarry.float64)
    for _ in range(m):
        p = _tarry.concat([p / _tarry.arange(p.size, 0, -1, dtype=p.dtype), _tarry.full((1,), k, dtype=p.dtype)])
    return p


def vander(x: Any, n: int | None = None, increasing: bool = False) -> Array:
    """The powers of each element as a row, the highest first unless increasing. Shapes: (m,) gives (m, n)."""
    x = _tarry.asarray(x)
    powers = list(range(x.size if n is None else n))
    made = [_tarry.ones_like(x)]
    while len(made) < len(powers):
        made.append(made[-1] * x)
    made = made[:len(powers)] if increasing else made[:len(powers)][::-1]
    return _tarry.stack(made, axis=1) if made else _tarry.zeros((x.size, 0), dtype=x.dtype)
