"""Functions and methods say their signatures."""
import inspect
import pydoc

import pytest
import tarry as ta

NAMESPACES = [ta, ta.linalg, ta.random, ta.Array, ta.random.Generator]


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda each: each.__name__)
def test_every_function_has_a_signature(namespace):
    found = {name: getattr(namespace, name) for name in dir(namespace) if not name.startswith("_")}
    functions = {name: each for name, each in found.items() if callable(each) and not isinstance(each, type)}
    assert functions
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        assert all(each.name and "None | None" not in str(each.annotation) for each in parameters), name


def test_a_signature_has_the_types_and_the_defaults():
    assert str(inspect.signature(ta.sum)) == (
        "(x: Array | bool | int | float, axis: int | Sequence[int] | None = None, "
        "dtype: Dtype | str | type | None = None, *, keepdims: bool = False, initial: object | None = None, "
        "where: object = True) -> Array")
    assert inspect.signature(ta.softmax).parameters["axis"].default == -1
    assert str(inspect.signature(ta.default_device)) == "() -> Device"
    assert str(inspect.signature(ta.Scope.__init__)).startswith("(self, *, numerics: str | None = None, ")
    inspect.signature(ta.clip).bind(ta.ones(3), 0, max=1)
    with pytest.raises(TypeError):
        inspect.signature(ta.clip).bind(ta.ones(3), lower=0)


def test_a_method_of_an_array_has_that_already():
    assert list(inspect.signature(ta.Array.argmax).parameters) == ["self", "axis", "keepdims"]
    assert list(inspect.signature(ta.ones(3).argmax).parameters) == ["axis", "keepdims"]


def test_help_says_how_to_call_a_function_and_about_shapes():
    text = pydoc.plain(pydoc.render_doc(ta.clip))
    assert "clip(x: Array" in text and "Shapes: operands broadcast" in text
