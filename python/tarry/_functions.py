"""Whole functions: traced once for each structure of their arguments, and then replayed."""

import functools

from . import _tarry


def _order(f):
    """The names of a function's parameters: those that may go by position, of them those that only do, and the others.
    None where they are unknown."""
    import inspect

    try:
        parameters = inspect.signature(f, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None
    by_position = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    only = {each.name for each in parameters if each.kind is each.POSITIONAL_ONLY}
    return by_position, only, [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]


def _bound(order, positional, named):
    """The arguments of a call, by position as far as they may be, the others in the order of the parameters."""
    if order is None:
        return positional, named
    by_position, only, by_name = order
    positional, named = list(positional), dict(named)
    for name in by_position[len(positional):]:
        if name in only or name not in named:
            break
        positional.append(named.pop(name))
    known = [name for name in (*by_position, *by_name) if name in named]
    return tuple(positional), {name: named[name] for name in dict.fromkeys((*known, *named))}


def function(f=None, *, most=64):
    """A function that is traced once for each structure of its arguments, and then replayed.

    A call with a known structure checks the arguments and runs the finished plan: nothing is recorded, planned or
    looked up. The structure is the shape, dtype and device of each array, the nesting of tuples, lists and dicts,
    and the value of everything else: numbers, strings, objects with a hash. A number that changes from call to call is
    better a 0-d array, as `tarry.asarray(0.1, dtype=x.dtype)`, which is an argument.

    Arrays from outside are constants, as they were when the function was traced. A `tarry.random.Generator` is an
    argument and goes on with each call; to draw from one from outside is an error. Reading a value that depends on the
    arguments, as `if x > 0` does, is one too. The results are computed at once, with the bits of the function called
    directly, where an argument is an array or a generator, and are lazy otherwise; within another such function, and
    within the body of a scan, it is called directly. An argument is the same by position and by name.

    `most` structures are kept, least recently used out first; `traces` says how often the function was traced.
    """
    if f is None:
        return functools.partial(function, most=most)
    return functools.update_wrapper(_tarry.Function(f, most), f)
