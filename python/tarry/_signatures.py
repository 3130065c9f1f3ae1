"""Signatures of the module's functions, for inspect and whatever asks it: read when somebody asks."""

import __future__

import re

from . import _tarry


class _Annotation(str):
    """The name of a type, which signatures show without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(function):
    """The signature of a function of the module; nanobind keeps it as text, with places for the defaults."""
    if not function.__module__.startswith("tarry"):  # nanobind's types are those of other modules too
        raise AttributeError("__signature__")
    import inspect

    text, _, defaults = function.__nb_signature__[0]
    text = re.sub(r"\\(\d+)", r"_default\1", text).replace("tarry._tarry.", "")
    names = {f"_default{i}": value for i, value in enumerate(defaults or ())}
    exec(compile(f"{text}: ...", "<signature>", "exec", __future__.annotations.compiler_flag), names)
    made = inspect.signature(names[function.__name__])
    return made.replace(
        parameters=[each if each.annotation is each.empty else each.replace(annotation=_Annotation(each.annotation))
                    for each in made.parameters.values()],
        return_annotation=_Annotation(made.return_annotation))


def _bound_signature(method):
    """The signature of a method of an object, which is given already."""
    made = _signature(method.__func__)
    return made.replace(parameters=list(made.parameters.values())[1:])


def attach(array):
    """Makes functions and methods say their signatures."""
    for function, get in ((_tarry.sin, _signature), (array.sum, _signature), (_tarry.zeros(()).sum, _bound_signature)):
        _tarry._set_of_type(type(function), "__signature__", property(get))
