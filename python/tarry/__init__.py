"""Lazy arrays that run as a few fused kernels, on a GPU or on the CPU.

    >>> import tarry as ta
    >>> x = ta.linspace(0, 1, 1000)
    >>> float(ta.mean(ta.sin(x) ** 2))

Operations only record; evaluate, and whatever needs values (print, float, numpy.asarray), runs all that was recorded.
Names and semantics are those of the Python array API standard, 2024.12, and NumPy's beside it. help(ta.sum) says how a
function is called; these are the chapters:

    making       array asarray zeros ones full arange linspace logspace eye meshgrid mgrid from_dlpack load
    elementwise  + - * / ** & | < ==, exp log sin sqrt maximum where clip round nan_to_num isclose erf sigmoid
    reducing     sum mean std var min max argmax any all median percentile cumsum softmax logsumexp average cov
    shapes       reshape transpose concatenate stack vstack split squeeze expand_dims repeat tile roll flip pad
    places       x[...], x[mask] = v, take nonzero unique sort argsort searchsorted topk isin add.at
    groups       bincount histogram group_by segment_sum
    products     @ dot einsum tensordot outer, linalg.solve inv det eigh cholesky norm
    curves       interp gradient trapezoid convolve correlate diff ewma lfilter
    loops        scan while_loop function
    random       random.Generator(seed), random.default_rng(seed) with NumPy's arguments
    running      evaluate plan synchronize Scope devices default_device memory_stats
    your code    scalar_function host_function cuda_kernel

New floats are float32; inside of `with ta.Scope(default_float=ta.float64):` they are float64.
"""

import copyreg as _copyreg
import math as _math
import sys as _sys

from . import _html, _numpy, _signatures, _tarry
from ._info import __array_namespace_info__ as __array_namespace_info__
from ._functions import function as function
from ._loops import associative_scan as associative_scan, scan as scan, while_loop as while_loop
from ._names import *  # noqa: F403
from ._random import default_rng as _default_rng
from ._tarry import *  # noqa: F403
from ._tarry import Array, Plan, Report, linalg, random

__version__ = "0.1.0"
__array_api_version__ = "2024.12"

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi

random.default_rng = _default_rng
for _module in (linalg, random):
    _sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module
_numpy.attach(Array)
_html.attach(Array, Plan, Report)
_signatures.attach(Array)


def _namespace(self, /, *, api_version=None):
    """The module, whose functions are those of the standard."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"version {api_version} of the array API is not available; 2024.12 is")
    return _sys.modules[__name__]


def _restore(buffer, dtype, shape):
    """The array of a pickle."""
    return _tarry._restore(buffer, dtype, shape)


def _named(module, name):
    """The function of a pickle."""
    return getattr(_sys.modules[module], name)


def _reduced(function):
    return _named, (function.__module__.replace("tarry._tarry", "tarry"), function.__name__)


TYPE_CHECKING = False
if not TYPE_CHECKING:  # checkers would take any name for one that is there

    def __getattr__(name):
        theirs = _sys.modules.get("numpy")
        hint = f"; numpy.{name} takes arrays of Tarry" if callable(getattr(theirs, name, None)) else ""
        raise AttributeError(f"module 'tarry' has no attribute {name!r}{hint}")


del _module, TYPE_CHECKING
_copyreg.pickle(type(_tarry.evaluate), _reduced)
Array.__array_namespace__ = _namespace
