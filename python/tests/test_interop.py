"""NumPy, buffers and DLPack."""
import array
import gc

import numpy as np
import pytest
import tarry as ta


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64"])
def test_every_dtype_goes_to_numpy_and_back(dtype):
    a = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    x = ta.asarray(a)
    assert x.dtype is getattr(ta, dtype) and x.shape == (2, 3)
    assert np.asarray(x).dtype == dtype
    np.testing.assert_array_equal(x, a)
    np.testing.assert_array_equal(np.from_dlpack(x), a)
    np.testing.assert_array_equal(ta.from_dlpack(a), a)


def test_values_are_shared_with_numpy_read_only():
    x = ta.asarray([1.0, 2.0])
    a, b = np.asarray(x), np.asarray(x)
    assert not a.flags.writeable and a.ctypes.data == b.ctypes.data
    del x
    gc.collect()
    assert a.tolist() == [1.0, 2.0]


def test_elements_are_copied_unless_that_is_declined():
    a = np.arange(4.0)
    copied, shared = ta.asarray(a), ta.asarray(a, copy=False)
    strided = ta.asarray(a[::-2], copy=False)
    assert strided.tolist() == [3.0, 1.0]
    a[:] = 7
    assert copied.tolist() == [0.0, 1.0, 2.0, 3.0] and shared.tolist() == [7.0] * 4
    with pytest.raises(ValueError):
        ta.asarray([1.0], copy=False)
    with pytest.raises(ValueError):
        ta.asarray(a, dtype=ta.float32, copy=False)


def test_shared_memory_is_given_back():
    for share in (lambda a: ta.asarray(a, copy=False), ta.from_dlpack):
        a = np.arange(1000.0)
        released = []

        class Watched(np.ndarray):
            def __del__(self):
                released.append(True)

        x = share(a.view(Watched)) + 1
        assert float(x[1]) == 2.0
        del x
        gc.collect()
        for _ in range(100):  # what waits for release is released between two instructions
            pass
        assert released


def test_other_memory_is_read():
    assert ta.asarray(array.array("i", [1, 2])).dtype is ta.int32
    assert ta.asarray(memoryview(b"ab")).tolist() == [97, 98]
    assert ta.asarray(np.float32(1.5)).dtype is ta.float32
    assert ta.asarray([np.arange(2), ta.asarray([5, 6])]).tolist() == [[0, 1], [5, 6]]
    with pytest.raises(TypeError):
        ta.asarray(np.array([1j]))
    with pytest.raises(TypeError):
        ta.asarray("a")


def test_numpy_functions_stay_in_tarry():
    x, y = ta.asarray([1.0, 2.0]), ta.asarray([3.0, 4.0])
    for got in (np.sin(x), np.add(x, 1), np.concatenate([x, y]), np.arange(2.0) + x, np.power(x, y), np.sum(x),
                np.add.reduce(x), np.transpose(x), np.where(x > 1, x, y), np.stack([x, y], 1), np.clip(x, 0, 1)):
        assert isinstance(got, ta.Array)
    np.testing.assert_allclose(np.concatenate([x, y]), [1, 2, 3, 4])
    np.testing.assert_allclose(np.stack([x, y], 1), [[1, 3], [2, 4]])
    assert float(np.std(x, ddof=1)) == pytest.approx(0.5**0.5)
    assert np.logical_and(x - 1, y).tolist() == [False, True] and np.logical_not(x - 1).tolist() == [True, False]


def test_functions_of_numpy_linalg_stay_in_tarry():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3), rng.standard_normal((2, 3, 1))
    s = a @ np.swapaxes(a, -1, -2)
    x, y, t = ta.asarray(a), ta.asarray(b), ta.asarray(s)
    for got, expected in (
            (np.linalg.solve(x, y), np.linalg.solve(a, b)), (np.linalg.solve(a, y), np.linalg.solve(a, b)),
            (np.linalg.inv(x), np.linalg.inv(a)), (np.linalg.det(x), np.linalg.det(a)),
            (np.linalg.cholesky(t), np.linalg.cholesky(s)), (np.linalg.eigvalsh(t), np.linalg.eigvalsh(s)),
            (np.linalg.slogdet(x).logabsdet, np.linalg.slogdet(a).logabsdet),
            (np.linalg.eigh(t, UPLO="L").eigenvalues, np.linalg.eigh(s).eigenvalues),
            (np.linalg.norm(x, axis=-1), np.linalg.norm(a, axis=-1)), (np.linalg.norm(x[0]), np.linalg.norm(a[0])),
            (np.linalg.norm(x, 1, -1), np.linalg.norm(a, 1, -1)),
            (np.outer(x[0, 0], x[0, 1]), np.outer(a[0, 0], a[0, 1])),
            (np.linalg.matrix_power(x, 3), np.linalg.matrix_power(a, 3)), (np.linalg.trace(x), np.linalg.trace(a))):
        assert isinstance(got, ta.Array) and not got.is_evaluated
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-9)
    assert isinstance(np.linalg.eigh(t, UPLO="U").eigenvalues, np.ndarray)  # which NumPy computes on the values


def test_dlpack_says_read_only_but_for_a_copy():
    x = ta.asarray([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert not np.from_dlpack(x).flags.writeable
    copied = np.from_dlpack(x, copy=True)
    copied[0] = 9
    assert x.tolist() == [1.0, 2.0]


def test_memory_of_a_gpu_is_shown_only_where_there_is_one():
    x = ta.asarray([1.0, 2.0])
    assert not hasattr(x, "__cuda_array_interface__")
    placed = ta.asarray([1.0, 2.0], device=ta.default_device())
    assert hasattr(placed + 1, "__cuda_array_interface__") == (ta.default_device() != ta.cpu)
    with ta.Scope(device=ta.cpu):
        assert not hasattr((x + 1).evaluate(), "__cuda_array_interface__")


class OnGpu:
    """Memory on a GPU, as other libraries show it; nobody reads it where there is none."""

    def __init__(self, **changed):
        self.__cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (0xA00000, False), "version": 3,
                                         **changed}


@pytest.mark.skipif(ta.default_device() != ta.cpu, reason="the memory is none")
def test_memory_of_a_gpu_is_refused_in_a_sentence_without_one():
    for read in (ta.asarray, lambda o: ta.asarray(o, copy=False), lambda o: ta.zeros(3) + o):
        with pytest.raises(ta.DeviceError, match="lies on a GPU, and this process has no cuda:0.*test_interop.py"):
            read(OnGpu())


def test_views_of_a_gpu_that_no_array_can_be_say_why():
    with pytest.raises(TypeError, match="mask"):
        ta.asarray(OnGpu(mask=OnGpu()))
    with pytest.raises(ta.InvalidArgument, match="<c8"):
        ta.asarray(OnGpu(typestr="<c8"))
    with pytest.raises(ta.InvalidArgument, match="whole number"):
        ta.asarray(OnGpu(strides=(6,)))
