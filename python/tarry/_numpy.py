"""NumPy's functions on arrays of Tarry: np.sin(x) records like ta.sin(x), np.concatenate like ta.concat."""

import sys

from . import _names, _tarry

_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all",
               "logical_or": "any"}
_SCANS = {"add": "cumulative_sum", "multiply": "cumulative_prod", "minimum": "cumulative_min",
          "maximum": "cumulative_max"}
_JOINS = {"add": "add", "multiply": "multiply", "minimum": "minimum", "maximum": "maximum"}
_FILES = ("save", "load")  # which NumPy does for files of any kind
_CHANGES = ("put", "put_along_axis")  # of NumPy's, the array that they are given
# Arguments that say what already holds.
_IDLE = {"where": True, "casting": "same_kind", "order": "K", "subok": True, "initial": None, "copy": None,
         "UPLO": "L"}
_ARGUMENTS = {"ddof": "correction", "a_min": "min", "a_max": "max"}


def _ours(name, namespace=None):
    """Our function of NumPy's name: of the extension module, or of those that are made of its."""
    if namespace is not None:
        return getattr(namespace, name, None)
    return getattr(_tarry, name, None) or (getattr(_names, name) if name in _names.__all__ else None)


def _function_of(func):
    """Our function for one of NumPy or of its module linalg."""
    package, _, module = func.__module__.partition(".")
    if package != "numpy" or func.__name__ in _FILES:
        return None
    return _ours(func.__name__, _tarry.linalg) if module == "linalg" else _ours(func.__name__)


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


def _values(nest):
    """The nest of arguments with arrays of NumPy for ours."""
    if isinstance(nest, _tarry.Array):
        return nest.__array__()
    if isinstance(nest, (list, tuple)):
        made = [_values(each) for each in nest]
        return tuple(made) if isinstance(nest, tuple) else made
    return {name: _values(each) for name, each in nest.items()} if isinstance(nest, dict) else nest


def _array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """NumPy's ufuncs, by the function of the same meaning."""
    if not _is_known(ufunc):
        return _written(out, _of_others(ufunc, method, inputs, kwargs))
    name = ufunc.__name__
    if method == "at" and isinstance(inputs[0], _tarry.Array):
        return at(name)(*inputs)
    if method == "outer":
        return _written(out, outer(name)(*inputs))
    name = {"__call__": name, "reduce": _REDUCTIONS.get(name), "accumulate": _SCANS.get(name)}.get(method)
    function = _ours(name) if name else None
    arguments = _arguments(kwargs)
    if function is None or arguments is None:
        return _written(out, getattr(ufunc, method)(*_values(inputs), **_values(kwargs)))
    if method == "__call__" and ("dtype" in arguments or name.startswith("logical_")):  # which take any dtype there
        dtype = arguments.pop("dtype", _tarry.bool)
        inputs = [_tarry.astype(x, dtype) if isinstance(x, _tarry.Array) else x for x in inputs]
    if method != "__call__":
        arguments.setdefault("axis", 0)
        if kwargs.get("axis", 0) is None:
            arguments["axis"] = None
    return _written(out, function(*inputs, **arguments))


def _written(out, result):
    """The array to write to with the result in it; NotImplemented where there are several."""
    if out is None:
        return result
    if len(out) != 1:
        return NotImplemented
    if isinstance(out[0], _tarry.Array):
        out[0][...] = result
    else:
        import numpy

        numpy.copyto(out[0], _values(result), casting="same_kind")
    return out[0]


def _array_function(self, func, types, args, kwargs):
    """NumPy's functions: by ours of the same meaning, else by NumPy on the values."""
    function = _function_of(func)
    arguments = _arguments(kwargs)
    if function is None or arguments is None:
        return func(*_values(args), **_values(kwargs))
    out = arguments.pop("out", None)
    if out is not None:
        return _written(out if isinstance(out, tuple) else (out,), _array_function(self, func, types, args, arguments))
    if func.__name__ in _CHANGES:
        args[0][...] = function(*args, **arguments)
        return None
    if "shape" in arguments:  # zeros_like of another shape
        arguments.setdefault("dtype", args[0].dtype)
        function = _ours(func.__name__.removesuffix("_like"))
        args = (arguments.pop("shape"), *args[1:])
    try:
        return function(*args, **arguments)
    except TypeError as error:
        if "incompatible function arguments" not in str(error) and "unexpected keyword" not in str(error):
            raise
        return func(*_values(args), **_values(kwargs))  # a choice of arguments that ours does not have


def at(name):
    """What numpy.add.at is for a ufunc: joins values with the elements at places, in place."""
    how = _JOINS[name]

    def join(x, indices, value):
        """Joins values with the elements at the places, in place; of a place that is named twice, with all of them."""
        _tarry._combine(x, indices, value, how)

    return join


def outer(name):
    """What numpy.add.outer is for a ufunc: the function of every pair of elements."""
    function = _ours(name)

    def pairs(a, b):
        """The function of every element of a and every one of b. Shapes: (m,) and (n,) give (m, n)."""
        a, b = _tarry.asarray(a), _tarry.asarray(b)
        return function(a[(..., *(None,) * b.ndim)], b)

    return pairs


def accumulate(name):
    """What numpy.maximum.accumulate is for a ufunc."""
    function = _ours(_SCANS[name])

    def run(x, axis=0):
        """The running values along an axis."""
        return function(x, axis=axis)

    return run


def reduce(name):
    """What numpy.add.reduce is for a ufunc."""
    function = _ours(_REDUCTIONS[name])

    def run(x, axis=0, keepdims=False):
        """The reduction along an axis, or several; along all for None."""
        return function(_tarry.asarray(x), axis=axis, keepdims=keepdims)

    return run


_PAIRS = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "pow", "less", "equal")
_METHODS = ((at, _JOINS), (outer, _PAIRS), (accumulate, _SCANS), (reduce, _REDUCTIONS))


def _method(make, names):
    """The property of functions that is the method of a ufunc, for the functions that are NumPy's ufuncs."""
    def get(function):
        if not function.__module__.startswith("tarry") or function.__name__ not in names:
            raise AttributeError(make.__name__)
        return make(function.__name__)

    return property(get)


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
    for make, names in _METHODS:
        _tarry._set_of_type(type(_tarry.sin), make.__name__, _method(make, names))
