"""NumPy's functions on arrays of Tarry: np.sin(x) records like ta.sin(x), np.concatenate like ta.concat."""

import sys

from . import _names, _tarry
from ._changes import refuse_nameless, refuse_nameless_of_numpy

_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all",
               "logical_or": "any"}
_SCANS = {"add": "cumulative_sum", "multiply": "cumulative_prod", "minimum": "cumulative_min",
          "maximum": "cumulative_max"}
_JOINS = {"add": "add", "multiply": "multiply", "minimum": "minimum", "maximum": "maximum"}
_FILES = ("save", "load")  # which NumPy does for files of any kind
# Functions that change the array that they are given: those of ours that give the changed one, and the others.
_REPLACED = ("put", "put_along_axis")
_CHANGES = (*_REPLACED, "copyto", "fill_diagonal", "place", "putmask")
_PARAMETERS = {"dst": "to", "src": "x", "arr": "x", "a": "x", "ind": "indices", "v": "values", "vals": "values",
               "val": "value"}  # of these functions
# Arguments that say what already holds.
_IDLE = {"casting": ("same_kind",), "order": ("K", "C", "A", None), "subok": (True,), "copy": (None, True),
         "UPLO": ("L",)}
_ARGUMENTS = {"ddof": "correction", "a_min": "min", "a_max": "max"}
# Values for the elements that a mask leaves out, and how a reduction goes on from an initial value.
_LEFT_OUT = {"sum": 0, "nansum": 0, "prod": 1, "nanprod": 1, "any": False, "all": True}
_GOES_ON = {"sum": "add", "nansum": "add", "prod": "multiply", "nanprod": "multiply", "max": "maximum",
            "min": "minimum"}


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


def _is_given(value):
    """True of an argument that its caller gave: NumPy hands some on that nobody did."""
    return type(value).__name__ != "_NoValueType"


def _arguments(kwargs):
    """NumPy's keyword arguments as ours; None where one asks for what there is not."""
    made = {}
    for name, value in kwargs.items():
        if not _is_given(value):
            continue
        if name in _IDLE:
            if not any(value is idle or type(value) is str and value == idle for idle in _IDLE[name]):
                return None
        elif value is not None or name == "axis":  # of which None is all axes
            made[_ARGUMENTS.get(name, name)] = value
    return made


def _taken_out(kwargs, *names):
    """The arguments of these names, which kwargs has no more; None for those that are not given, and for all places."""
    values = [kwargs.pop(name, None) for name in names]
    return [value if _is_given(value) and value is not True else None for value in values]


def _masked(function, x, others, arguments, where, initial):
    """A reduction of the elements where a mask is true, on from an initial value; None where there is no such one."""
    x, name = _tarry.asarray(x), function.__name__
    if initial is not None and (name not in _GOES_ON or isinstance(initial, float) and x.dtype.kind != "f"):
        return None
    if where is None:
        made = function(x, *others, **arguments) if x.size else None
    elif name in _LEFT_OUT or initial is not None and x.size:
        mask = _tarry.broadcast_to(_tarry.asarray(where), x.shape)
        instead = _LEFT_OUT.get(name, initial)
        made = function(_tarry.where(mask, x, _tarry.asarray(instead, dtype=x.dtype)), *others, **arguments)
    elif name in ("mean", "nanmean") and x.dtype.itemsize > 2 and len(others) < 2:
        mask = _tarry.broadcast_to(_tarry.asarray(where), x.shape)
        mask = _tarry.logical_and(mask, _tarry.logical_not(_tarry.isnan(x))) if name == "nanmean" else mask
        total = _tarry.sum(_tarry.where(mask, x, _tarry.asarray(0, dtype=x.dtype)), *others, **arguments)
        arguments = {key: value for key, value in arguments.items() if key != "dtype"}
        return total / _tarry.astype(_tarry.count_nonzero(mask, *others, **arguments), _divisor(total))
    else:
        return None
    return made if initial is None or made is None else _ours(_GOES_ON[name])(made, initial)


def _divisor(total):
    """The dtype of the number that a total is divided by."""
    return total.dtype if total.dtype.kind == "f" else _tarry.float64


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
    if isinstance(out, tuple):
        for i in range(len(out)):
            refuse_nameless_of_numpy(out[i], ufunc.__name__, "out of a ufunc", self is out[i])
    elif out is not None:  # as others than NumPy hand it on
        out = (out,)
    if not _is_known(ufunc):
        return _written(out, _of_others(ufunc, method, inputs, kwargs))
    name = ufunc.__name__
    if method == "at" and isinstance(inputs[0], _tarry.Array):
        refuse_nameless_of_numpy(inputs[0], f"{name}.at", "at", self is inputs[0])
        return at(name)(*inputs)
    if method == "outer":
        return _written(out, outer(name)(*inputs))
    known = {"__call__": name, "reduce": _REDUCTIONS.get(name), "accumulate": _SCANS.get(name)}.get(method)
    function = _ours(known) if known else None
    given = dict(kwargs)
    where, initial = _taken_out(given, "where", "initial")
    arguments = _arguments(given)
    if function is None or arguments is None or method == "__call__" and where is not None and out is None:
        return _ufunc_by_numpy(ufunc, method, inputs, out, kwargs)
    if method == "__call__" and ("dtype" in arguments or name.startswith("logical_")):  # which take any dtype there
        dtype = arguments.pop("dtype", _tarry.bool)
        inputs = [_tarry.astype(_tarry.asarray(x), dtype) if hasattr(x, "dtype") else x for x in inputs]
    if method != "__call__":
        arguments.setdefault("axis", 0)
    if method == "reduce" and (where is not None or initial is not None):
        made = _masked(function, inputs[0], inputs[1:], arguments, where, initial)
        return _ufunc_by_numpy(ufunc, method, inputs, out, kwargs) if made is None else _written(out, made)
    return _written(out, function(*inputs, **arguments), where)


def _ufunc_by_numpy(ufunc, method, inputs, out, kwargs):
    """A ufunc of the values."""
    return _written(out, getattr(ufunc, method)(*_values(inputs), **_values(kwargs)))


def _written(out, result, where=None):
    """The array to write to with the result in it, where a mask is true; of several arrays each."""
    if out is None:
        return result
    if len(out) > 1:
        return tuple(each if to is None else _written((to,), each, where) for to, each in zip(out, result))
    if isinstance(out[0], _tarry.Array):
        out[0][...] = result if where is None else _tarry.where(where, result, out[0])
    else:
        import numpy

        numpy.copyto(out[0], _values(result), casting="same_kind", where=True if where is None else _values(where))
    return out[0]


def _array_function(self, func, types, args, kwargs):
    """NumPy's functions: by ours of the same meaning, else by NumPy on the values."""
    name, out = func.__name__, kwargs.get("out")
    if name in _CHANGES and args:
        refuse_nameless_of_numpy(args[0], name, "function", self is args[0])
    elif name in _CHANGES:
        first = next(iter(kwargs))
        refuse_nameless_of_numpy(kwargs[first], name, "function", self is kwargs[first])
        args, kwargs = (kwargs[first],), {key: value for key, value in kwargs.items() if key != first}
    if name in _CHANGES:
        kwargs = {_PARAMETERS.get(key, key): value for key, value in kwargs.items()}
    if out is not None:
        refuse_nameless_of_numpy(out, name, "out", self is out)
        others = {key: value for key, value in kwargs.items() if key != "out"}
        result = _array_function(self, func, types, args, others)
        return _written(out if isinstance(out, tuple) else (out,), result)
    function = _function_of(func)
    given = dict(kwargs)
    where, initial = _taken_out(given, "where", "initial") if name not in _CHANGES else (None, None)
    arguments = _arguments(given)
    if function is None or arguments is None:
        return func(*_values(args), **_values(kwargs))
    if name in _REPLACED:
        args[0][...] = function(*args, **arguments)
        return None
    if "shape" in arguments:  # zeros_like of another shape
        arguments.setdefault("dtype", args[0].dtype)
        function = _ours(name.removesuffix("_like"))
        args = (arguments.pop("shape"), *args[1:])
    try:
        if where is None and initial is None:
            return function(*args, **arguments)
        made = _masked(function, args[0], args[1:], arguments, where, initial) if args else None
        return func(*_values(args), **_values(kwargs)) if made is None else made
    except (TypeError, ValueError) as error:
        theirs = not isinstance(error, _tarry.Error) or type(error) is _tarry.InvalidValue
        if name in _CHANGES or not (theirs or "there is no dtype" in str(error)):
            raise
        refused = error
    try:
        return func(*_values(args), **_values(kwargs))  # a choice of arguments that ours does not have
    except (TypeError, ValueError):
        if any(words in str(refused) for words in ("incompatible function arguments", "unexpected keyword")):
            raise
        raise refused from None


def at(name):
    """What numpy.add.at is for a ufunc: joins values with the elements at places, in place."""
    if name not in _JOINS:
        raise _tarry._wrong("InvalidValue", f"{name}.at", "values are joined by add, multiply, minimum or maximum")
    how = _JOINS[name]

    def join(x, indices, value):
        """Joins values with the elements at the places, in place; of a place that is named twice, with all of them."""
        refuse_nameless(x, f"{name}.at")
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
    values = numpy.asarray(memoryview(self))
    if dtype is not None and values.dtype != dtype:
        if copy is False:
            raise _tarry._wrong("InvalidDtype", "__array__", f"{self.dtype} as {numpy.dtype(dtype)} takes a copy, and copy is False")
        return values.astype(dtype)
    return values.copy() if copy else values


def attach(array):
    """Makes arrays answer to NumPy."""
    array.__array__ = _array
    array.__array_function__ = _array_function
    array.__array_priority__ = 1000
    array.__array_ufunc__ = _array_ufunc
    for make, names in _METHODS:
        _tarry._set_of_type(type(_tarry.sin), make.__name__, _method(make, names))
