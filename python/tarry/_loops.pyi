from collections.abc import Callable
from typing import Any, TypeVar

from ._tarry import Array

_State = TypeVar("_State")

def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, *, axis: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]: ...
def while_loop(
    cond_fun: Callable[[_State], Array], body_fun: Callable[[_State], _State], init_val: _State, *,
    limit: int = 2147483647,
) -> _State: ...
def associative_scan(
    fn: Callable[[_State, _State], _State], elems: _State, reverse: bool = False, axis: int = 0,
) -> _State: ...
