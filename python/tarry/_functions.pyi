from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_S = TypeVar("_S")

class _Function(Protocol[_P, _R]):
    @property
    def traces(self) -> int: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

@overload
def function(f: Callable[_P, _S], *, most: int = 64) -> _Function[_P, _S]: ...
@overload
def function(f: None = None, *, most: int = 64) -> Callable[[Callable[_P, _S]], _Function[_P, _S]]: ...
