"""NumPy's functions on arrays of Tarry: np.sin(x) records like ta.sin(x), np.concatenate like ta.concat."""

import sys

from . import _tarry

# Names of NumPy's ufuncs and functions that differ from ours.
_RENAMED = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "bitwise_not": "bitwise_invert", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift", "rint": "round",
    "true_divide": "divide", "fabs": "abs", "amax": "max", "amin": "min", "concatenate": "concat",
    "transpose": "permute_dims", "around": "round", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod",
    "dot": "matmul",
}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all",
               "logical_or": "any"}
# Arguments that say what already holds.
_IDLE = {"where": True, "casting": "same_kind", "order": "K", "subok": True, "initial": None, "copy": None,
         "UPLO": "L"}
# How many arguments stand before an axis that NumPy takes by position, where ours is a keyword.
_BEFORE_AXIS = {"concatenate": 1, "stack": 1, "cumsum": 1, "cumprod": 1, "expand_dims": 1, "flip": 1, "repeat": 2,
                "take": 2}
_ARGUMENTS = {"ddof": "correction", "a_min": "min", "a_max": "max"}


def _ours(name, namespace=_tarry):
    return getattr(namespace, _RENAMED.get(name, name), None)


def _norm(x, ord=None, axis=None, keepdims=False):
    """numpy.linalg.norm, of vectors and where a matrix is one too."""
    if ord is not None and not (isinstance(axis, int) or axis is None and x.ndim == 1):
        return NotImplemented
    return _tarry.linalg.vector_norm(x, ord=2 if ord is None else ord, axis=axis, keepdims=keepdims)


def _function_of(func):
    """Our function for one of NumPy or of its module linalg."""
    package, _, module = func.__module__.partition(".")
    if package != "numpy":
        return None
    if module == "linalg":
        return _norm if func.__name__ == "norm" else _ours(func.__name__, _tarry.linalg)
    return _tarry.linalg.outer if func.__name__ == "outer" else _ours(func.__name__)


def _is_known(ufunc):
    """If the ufunc is one of NumPy or SciPy, whose names say what they compute."""
    modules = [sys.modules.get(name) for name in ("numpy", "scipy.special")]
    return any(getattr(module, ufunc.__name__, None) is ufunc for module in modules)


def _of_others(ufunc, method, inputs, kwargs):
    """Ufuncs that others made, as by numba.vectorize: called with the values; arrays that they give become ours."""
    import numpy

    made = getattr(ufunc, method)(*(numpy.asarray(x) if isinstance(x, _tarry.Array) else x for x in inputs), **kwargs)
    if isinstance(made, tuple):
        return tuple(map(_taken, made))
    return _taken(made)


def _taken(result):
    """A new array of NumPy as one of ours that reads its memory; as it is where we have no such dtype."""
    import numpy

    ours = isinstance(result, numpy.ndarray) and hasattr(_tarry, result.dtype.name)
    return _tarry.asarray(result, copy=False) if ours else result


def _arguments(kwargs):
    """NumPy's keyword arguments as ours; None where one asks for what there is not."""
    made = {}
    for name, value in kwargs.items():
        if name in _IDLE:
            if value is not _IDLE[name] and value != _IDLE[name] and type(value).__name__ != "_NoValueType":
                return None
        elif value is None or type(value).__name__ == "_NoValueType":
            continue
        else:
            made[_ARGUMENTS.get(name, name)] = value
    return made


def _array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """NumPy's ufuncs, by the function of the same meaning."""
    if not _is_known(ufunc):
        return _written(out, _of_others(ufunc, method, inputs, kwargs))
    name = ufunc.__name__ if method == "__call__" else _REDUCTIONS.get(ufunc.__name__) if method == "reduce" else None
    function = _ours(name) if name else None
    arguments = _arguments(kwargs)
    if function is None or arguments is None:
        return NotImplemented
    if method == "__call__" and ("dtype" in arguments or name.startswith("logical_")):  # which take any dtype there
        dtype = arguments.pop("dtype", _tarry.bool)
        inputs = [_tarry.astype(x, dtype) if isinstance(x, _tarry.Array) else x for x in inputs]
    if method == "reduce":
        arguments.setdefault("axis", 0)
        if kwargs.get("axis", 0) is None:
            arguments["axis"] = None
    return _written(out, function(*inputs, **arguments))


def _written(out, result):
    """The array to write to with the result in it; NotImplemented where that is NumPy's, or there are several."""
    if out is None:
        return result
    if len(out) != 1 or not isinstance(out[0], _tarry.Array):
        return NotImplemented
    out[0][...] = result
    return out[0]


def _array_function(self, func, types, args, kwargs):
    """NumPy's functions, by the function of the same meaning."""
    function = _function_of(func)
    arguments = _arguments(kwargs)
    if function is None or arguments is None:
        return NotImplemented
    known = _BEFORE_AXIS.get(func.__name__)
    if known is not None:
        arguments.update(zip(["axis"], args[known:]))
        args = args[:known]
    if "shape" in arguments:  # zeros_like of another shape
        arguments.setdefault("dtype", args[0].dtype)
        function = _ours(func.__name__.removesuffix("_like"))
        args = (arguments.pop("shape"), *args[1:])
    if func.__name__ == "transpose" and len(args) == 1 and "axes" not in arguments:
        arguments["axes"] = tuple(reversed(range(args[0].ndim)))
    return function(*args, **arguments)


def _array(self, dtype=None, copy=None):
    """The values as an array of NumPy: read-only and without a copy, unless one is asked for."""
    import numpy

    if self.dtype is _tarry.bfloat16:
        raise TypeError("NumPy has no bfloat16; convert with astype first")
    values = numpy.asarray(memoryview(self), dtype=dtype)
    return values.copy() if copy else values


def attach(array):
    """Makes arrays answer to NumPy."""
    array.__array__ = _array
    array.__array_function__ = _array_function
    array.__array_priority__ = 1000
    array.__array_ufunc__ = _array_ufunc
