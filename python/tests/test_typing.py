"""Type checkers understand programs that use the package, and its stubs are whole."""
import os
import pathlib

import pytest
import tarry as ta

PACKAGE = pathlib.Path(ta.__file__).parent
PROGRAM = """\
import math

import tarry as ta
import tarry.linalg
from tarry import Array, random


@ta.function
def step(x: Array, dt: float) -> Array:
    return x + dt * (1 - x)


@ta.function(most=3)
def both(x: Array, y: Array) -> tuple[Array, Array]:
    return x @ y, ta.linalg.outer(x[0], y[0])


def standardised(x: Array, axis: int | None = None) -> Array:
    centre, spread = ta.mean(x, axis=axis, keepdims=True), ta.std(x, axis=axis, keepdims=True)
    return (x - centre) / spread


g = random.Generator(3)
x: Array = standardised(g.normal((4, 5), dtype=ta.float64), axis=0)
y = step(x, 0.1)
x += 2
x[0, 1:] = -y[::2][0, 1:]
mask: Array = (x > 0) & ~(y == 1)
n: int = x.shape[0] + x.ndim + len(x) + step.traces
value: float = float(ta.sum(x)) + math.pi * abs(float(y[0, 0]))
report = ta.evaluate(x, [y])
kernels: int = report.counters.kernels
print(ta.plan(x, target="sm_90").sources()[0], report, kernels)
values, counts = ta.unique_counts(tarry.linalg.matrix_transpose(x))
rows: list[Array] = [row for row in x]
grid: list[Array] = ta.meshgrid(x[0], x[1])
top = ta.topk(x, 2).values
last, ys = ta.scan(lambda c, at: (c + at, c), 0.0, x)
end: Array = ta.while_loop(lambda s: s < 10, lambda s: s * 2, ta.ones(3))
with ta.Scope(default_float=ta.float64) as scope, ta.OnProgress(lambda progress: None):
    z = ta.zeros((2, 3), dtype="float32", device="cpu")
dtype: ta.Dtype = z.dtype
info = ta.__array_namespace_info__().dtypes(kind="bool")
namespace = x.__array_namespace__()
try:
    ta.ones(3) + ta.ones(4)
except ta.InvalidArgument as error:
    print(error.args, ta.e, ta.inf, ta.newaxis, ta.__version__)
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Checks files by mypy in its strict mode; gives what it prints and its exit status."""
    api = pytest.importorskip("mypy.api")
    if not (PACKAGE / "_tarry/__init__.pyi").exists():
        pytest.skip("the stubs were not made")
    cache = tmp_path_factory.mktemp("mypy")

    def check(*files):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MYPYPATH", os.fspath(PACKAGE.parent))
            out, errors, status = api.run(["--strict", "--follow-imports=silent", "--cache-dir", os.fspath(cache),
                                           *map(os.fspath, files)])
        return out + errors, status

    return check


def test_a_program_with_types_is_understood(checked, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    out, status = checked(tmp_path / "program.py")
    assert status == 0, out


@pytest.mark.parametrize("wrong", ["n: int = ta.sum(ta.ones(3))", "ta.ones(3).shape + 1",
                                   "ta.clip(ta.ones(3), lower=0)", "ta.unique_counts(ta.ones(2)).number"])
def test_mistakes_are_found(checked, tmp_path, wrong):
    (tmp_path / "wrong.py").write_text(f"import tarry as ta\n{wrong}\n")
    out, status = checked(tmp_path / "wrong.py")
    assert status == 1 and "wrong.py:2: error" in out


def test_the_stubs_are_whole(checked):
    out, status = checked(*PACKAGE.glob("*.pyi"), *PACKAGE.glob("_tarry/*.pyi"))
    assert status == 0, out
