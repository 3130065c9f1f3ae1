"""Whole functions: traced once for each structure of their arguments, and then replayed."""

import functools

from . import _tarry


def function(f=None, *, most=64):
    """A function that is traced once for each structure of its arguments, and then replayed.

    A call with a known structure checks the arguments and runs the finished plan: nothing is recorded, planned or
    looked up. The structure is the shape, dtype and device of each array, the nesting of tuples, lists and dicts,
    and the value of everything else: numbers, strings, objects with a hash. A number that changes from call to call is
    better a 0-d array, as `tarry.asarray(0.1, dtype=x.dtype)`, which is an argument.

    Arrays from outside are constants, as they were when the function was traced. A `tarry.random.Generator` is an
    argument and goes on with each call; to draw from one from outside is an error. Reading a value that depends on the
    arguments, as `if x > 0` does, is one too. The results are computed at once, with the bits of the function called
    directly; within another such function, and within the body of a scan, it is called directly.

    `most` structures are kept, least recently used out first; `traces` says how often the function was traced.
    """
    if f is None:
        return functools.partial(function, most=most)
    return functools.update_wrapper(_tarry.Function(f, most), f)
