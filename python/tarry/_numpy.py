"""NumPy's functions on arrays of Tarry: np.sin(x) records like ta.sin(x), np.concatenate like ta.concat."""

import sys

from . import _joins, _names, _tarry
from ._changes import refuse_nameless, refuse_nameless_of_numpy

_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max", "logical_and": "all",
               "logical_or": "any"}
_SCANS = {"add": "cumulative_sum", "multiply": "cumulative_prod", "minimum": "cumulative_min",
          "maximum": "cumulative_max"}
_NOT_OURS = ("there is no dtype", "no array can be made of", "[gradient] takes one spacing")  # which NumPy may know
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


def _ours(name, namespace=None):
    """Our function of NumPy's name: of the extension module, or of those that are made of its."""
    if namespace is not None:
        return getattr(namespace, name, None)
    return getattr(_names, name) if name in _names.__all__ else getattr(_tarry, name, None)


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


def _is_of_scipy(kwargs):
    """True of the arguments of pad in SciPy's short-time transforms, which go on to complex numbers: those are NumPy's."""
    return "reflect_type" in kwargs or isinstance(kwargs.get("constant_values"), tuple)


def _taken_out(kwargs, *names):
    """The arguments of these names, which kwargs has no more; None for those that are not given, and for all places."""
    values = [kwargs.pop(name, None) for name in names]
    return [value if _is_given(value) and value is not True else None for value in values]


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
    if method == "reduceat" and name in _REDUCTIONS and kwargs.get("dtype") is None:
        return _written(out, reduceat(name)(*inputs, **{key: each for key, each in kwargs.items() if key == "axis"}))
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
        try:
            return _written(out, function(*inputs, **arguments, **_choice(where, initial)))
        except (TypeError, _tarry.InvalidValue):
            return _ufunc_by_numpy(ufunc, method, inputs, out, kwargs)
    return _written(out, function(*inputs, **arguments), where)


def _choice(where, initial):
    """The arguments of a reduction that are given: a mask and an initial value."""
    return {name: value for name, value in (("where", where), ("initial", initial)) if value is not None}


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
    if function is None or arguments is None or name == "pad" and _is_of_scipy(kwargs):
        return func(*_values(args), **_values(kwargs))
    if name in _REPLACED:
        args[0][...] = function(*args, **arguments)
        return None
    if "shape" in arguments:  # zeros_like of another shape
        arguments.setdefault("dtype", args[0].dtype)
        function = _ours(name.removesuffix("_like"))
        args = (arguments.pop("shape"), *args[1:])
    try:
        return function(*args, **arguments, **_choice(where, initial))
    except (TypeError, ValueError) as error:
        theirs = not isinstance(error, _tarry.Error) or type(error) is _tarry.InvalidValue
        if name in _CHANGES or not (theirs or any(words in str(error) for words in _NOT_OURS)):
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
    if name not in _joins.JOINS:
        raise _tarry._wrong("InvalidValue", f"{name}.at", f"values are joined by {', '.join(_joins.JOINS)}")
    how = _joins.JOINS[name]

    def join(x, indices, value):
        """Joins values with the elements at the places, in place; of a place that is named twice, with all of them."""
        if not isinstance(x, _tarry.Array):
            raise _tarry._wrong("InvalidDtype", f"{name}.at", f"changes an array of Tarry, not {type(x).__name__}")
        refuse_nameless(x, f"{name}.at")
        how(x, indices, value)

    return join


def reduceat(name):
    """What numpy.add.reduceat is for a ufunc."""
    return _joins.reduceat(_ours(_REDUCTIONS[name]))


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

    def run(x, axis=0, keepdims=False, **others):
        """The reduction along an axis, or several; along all for None."""
        return function(_tarry.asarray(x), axis=axis, keepdims=keepdims, **others)

    return run


_PAIRS = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "pow", "less", "equal")
_METHODS = ((at, _joins.JOINS), (outer, _PAIRS), (accumulate, _SCANS), (reduce, _REDUCTIONS), (reduceat, _REDUCTIONS))


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
    for method in (_joins.argpartition, _joins.choose, _joins.compress, _joins.partition, _joins.put):
        setattr(array, method.__name__, method)
    for make, names in _METHODS:
        _tarry._set_of_type(type(_tarry.sin), make.__name__, _method(make, names))
