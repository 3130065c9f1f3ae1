"""Systems and factors of stacks of matrices, beside NumPy."""
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tarry as ta

rng = np.random.default_rng(5)
SHAPES = [(1, 1), (3, 3), (4, 6, 6), (2, 3, 8, 8), (20, 20), (40, 40)]


def matrices(shape, dtype=np.float64):
    return (rng.standard_normal(shape) + shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_systems_are_those_of_numpy(shape, dtype):
    a, near = matrices(shape, dtype), {"rtol": 2e-4 if dtype == np.float32 else 1e-10}
    b = rng.standard_normal((*shape[:-1], 3)).astype(dtype)
    x = ta.linalg.solve(ta.asarray(a), ta.asarray(b))
    assert x.dtype == ta.asarray(a).dtype
    np.testing.assert_allclose(np.asarray(x), np.linalg.solve(a, b), atol=near["rtol"])
    np.testing.assert_allclose(np.asarray(ta.linalg.inv(ta.asarray(a))), np.linalg.inv(a), atol=near["rtol"])
    sign, logarithm = np.linalg.slogdet(a)
    found = ta.linalg.slogdet(ta.asarray(a))
    np.testing.assert_array_equal(np.asarray(found.sign), sign)
    np.testing.assert_allclose(np.asarray(found.logabsdet), logarithm, rtol=1e-4)
    if shape[-1] < 20:
        np.testing.assert_allclose(np.asarray(ta.linalg.det(ta.asarray(a))), np.linalg.det(a), **near)


def test_one_right_side_is_a_vector_only_where_it_has_one_axis():
    a, b = matrices((4, 3, 3)), rng.standard_normal(3)
    x = np.asarray(ta.linalg.solve(ta.asarray(a), ta.asarray(b)))
    np.testing.assert_allclose(x, np.stack([np.linalg.solve(m, b) for m in a]))


@pytest.mark.parametrize("shape", SHAPES)
def test_factors_are_those_of_numpy(shape):
    m = rng.standard_normal(shape)
    a = m @ np.swapaxes(m, -1, -2) + np.eye(shape[-1])
    lower = np.asarray(ta.linalg.cholesky(ta.asarray(a)))
    np.testing.assert_allclose(lower, np.linalg.cholesky(a), atol=1e-10)
    upper = np.asarray(ta.linalg.cholesky(ta.asarray(a), upper=True))
    np.testing.assert_array_equal(upper, np.swapaxes(lower, -1, -2))
    values, vectors = ta.linalg.eigh(ta.asarray(a))
    np.testing.assert_allclose(np.asarray(values), np.linalg.eigvalsh(a), rtol=1e-10)
    v = np.asarray(vectors)
    np.testing.assert_allclose(v * np.asarray(values)[..., None, :], a @ v, atol=1e-9 * shape[-1])
    np.testing.assert_array_equal(np.asarray(ta.linalg.eigvalsh(ta.asarray(a))), np.asarray(values))


def test_results_have_the_names_of_the_standard_and_can_be_pickled():
    result = ta.linalg.eigh(ta.asarray([[2.0, 1.0], [1.0, 2.0]]))
    assert result._fields == ("eigenvalues", "eigenvectors")
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    np.testing.assert_array_equal(np.asarray(again.eigenvalues), np.asarray(result.eigenvalues))
    assert ta.linalg.slogdet(ta.asarray([[2.0]]))._fields == ("sign", "logabsdet")


def test_shapes_that_do_not_fit_are_errors_with_the_line():
    with pytest.raises(ValueError, match=r"(?s)no stack of square matrices.*test_linalg.py"):
        ta.linalg.inv(ta.ones((2, 3)))
    with pytest.raises(ValueError, match="do not fit"):
        ta.linalg.solve(ta.ones((3, 3)), ta.ones((4, 2)))


def openblas_of_numpy():
    """The library that NumPy's wheel brings along."""
    folder = pathlib.Path(np.__file__).parent.parent / "numpy.libs"
    return next(iter(sorted(folder.glob("*openblas*.so*"))), None)


PRODUCTS = """
import numpy as np, tarry as ta
for dtype in (np.float32, np.float64):
    a, b = np.random.default_rng(1).standard_normal((2, 70, 70)).astype(dtype)
    product = ta.asarray(a) @ ta.asarray(b)
    np.testing.assert_allclose(np.asarray(product), a @ b, rtol=0, atol=2e-5 if dtype == np.float32 else 1e-13)
"""


def python(code, **switches):
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, check=True,
                          env={**os.environ, "TARRY_DEVICE": "cpu", **switches})


@pytest.mark.skipif(openblas_of_numpy() is None, reason="this NumPy has no library of its own")
def test_products_by_the_library_of_numpys_wheel():
    library = {"TARRY_BLAS": str(openblas_of_numpy())}
    assert python(["-c", PRODUCTS], **library).stderr == ""
    assert "blas: OpenBLAS" in python(["-m", "tarry", "info"], **library).stdout


def test_products_without_a_library_say_so_once_and_are_right():
    said = python(["-c", PRODUCTS], TARRY_BLAS="/no/libblas.so").stderr
    assert said.count("matmul on cpu runs as a plain kernel") == 1 and "/no/libblas.so" in said
    assert "or set TARRY_BLAS" in python(["-m", "tarry", "info"], TARRY_BLAS="/no/libblas.so").stdout
