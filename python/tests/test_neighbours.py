"""Numba, PyTorch, JAX and MPI on the memory of arrays."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tarry as ta

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # read when JAX is imported


def address(x):
    return np.asarray(x).ctypes.data


@pytest.fixture
def on_cpu():
    with ta.Scope(device=ta.cpu):
        yield


def test_numba_compiles_loops_over_arrays():
    numba = pytest.importorskip("numba")

    @numba.njit
    def longest_rise(values):
        longest = rise = 0
        for i in range(1, len(values)):
            rise = rise + 1 if values[i] > values[i - 1] else 0
            longest = max(longest, rise)
        return longest

    @numba.njit
    def norms(a):
        return np.sqrt((a * a).sum(axis=1))

    x = ta.asarray([3.0, 1.0, 2.0, 4.0, 0.0]) * 2
    assert longest_rise(x) == 2  # through the buffer protocol
    a = ta.reshape(ta.arange(6, dtype=ta.float64), (2, 3)) + 1
    np.testing.assert_allclose(ta.asarray(norms(np.asarray(a)), copy=False), np.linalg.norm(np.asarray(a), axis=1))


def test_ufuncs_of_numba_give_arrays():
    numba = pytest.importorskip("numba")

    def soft(x, bound):
        return x - bound if x > bound else 0.0

    def clip(x, bound):  # a name that there is with another meaning
        return bound if x > bound else x

    x = ta.asarray([1.0, 2.0, 5.0], dtype=ta.float64) * 2
    for made in (numba.vectorize(["float64(float64, float64)"])(soft), numba.vectorize(soft)):
        got = made(x, 3.0)
        assert isinstance(got, ta.Array) and (got + 1).tolist() == [1.0, 2.0, 8.0]
        assert made(x, np.asarray([0.0, 1.0, 2.0])).tolist() == [2.0, 3.0, 8.0]
    named = numba.vectorize(["float64(float64, float64)"])(clip)
    assert named(x, 3.0).tolist() == [2.0, 3.0, 3.0]
    y = ta.zeros(3, dtype=ta.float64)
    assert named(x, 3.0, out=y) is y and y.tolist() == [2.0, 3.0, 3.0]
    there = np.empty(3)
    assert named(x, 3.0, out=there) is there and there.tolist() == [2.0, 3.0, 3.0]

    @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def running(values, out):
        total = 0.0
        for i in range(values.shape[0]):
            total += values[i]
            out[i] = total

    assert running(x).tolist() == [2.0, 6.0, 16.0]


def test_a_ufunc_that_gives_no_numbers_gives_what_it_gives():
    got = np.frompyfunc(lambda value: f"{value:.1f}", 1, 1)(ta.asarray([1.0, 2.0]) / 4)
    assert isinstance(got, np.ndarray) and got.tolist() == ["0.2", "0.5"]


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")  # what torch.asarray says of read-only memory
def test_pytorch_shares_memory_both_ways(on_cpu):
    torch = pytest.importorskip("torch")
    x = ta.arange(6, dtype=ta.float32) * 2
    for t in (torch.from_dlpack(x), torch.asarray(x)):
        assert t.dtype == torch.float32 and t.tolist() == x.tolist()
        assert t.data_ptr() == address(x)
    t = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    for y in (ta.from_dlpack(t), ta.asarray(t, copy=False)):
        assert y.dtype is ta.float64 and y.shape == (2, 3) and address(y) == t.data_ptr()
    assert ta.from_dlpack(t.T).tolist() == t.T.tolist()
    copied = ta.asarray(t)
    t[0, 0] = 9
    assert copied[0, 0].item() == 0.0 and (ta.from_dlpack(t) + 1)[0, 0].item() == 10.0
    assert ta.asarray(torch.tensor([1.5], dtype=torch.bfloat16)).dtype is ta.bfloat16
    assert torch.from_dlpack(ta.asarray([1.5, 2.0], dtype=ta.bfloat16)).tolist() == [1.5, 2.0]


def test_pytorch_shares_memory_of_a_gpu_both_ways():
    torch = pytest.importorskip("torch")
    if ta.default_device() == ta.cpu or not torch.cuda.is_available():
        pytest.skip("there is no GPU that both see")
    x = ta.arange(6, dtype=ta.float32) * 2
    t = torch.from_dlpack(x)  # torch.as_tensor takes no memory that says it is read-only
    assert t.is_cuda and t.tolist() == x.tolist()
    assert t.data_ptr() == x.__cuda_array_interface__["data"][0]
    t = torch.arange(6, dtype=torch.float64, device="cuda").reshape(2, 3)
    for y in (ta.from_dlpack(t), ta.asarray(t, copy=False)):
        assert y.device == ta.default_device() and y.__cuda_array_interface__["data"][0] == t.data_ptr()
    assert (ta.from_dlpack(t.T) + 1).tolist() == (t.T + 1).tolist()


def test_jax_shares_memory_both_ways(on_cpu):
    jax = pytest.importorskip("jax")
    x = ta.arange(64, dtype=ta.float32) * 2
    for y in (jax.dlpack.from_dlpack(x), jax.numpy.from_dlpack(x)):
        assert y.dtype == "float32" and y.unsafe_buffer_pointer() == address(x)
        assert float(jax.numpy.sum(y)) == float(ta.sum(x))
    assert jax.numpy.asarray(x).tolist() == x.tolist()
    y = jax.numpy.arange(64, dtype="float32").reshape(8, 8)
    for z in (ta.from_dlpack(y), ta.asarray(y, copy=False)):
        assert z.dtype is ta.float32 and z.shape == (8, 8) and address(z) == y.unsafe_buffer_pointer()
        assert float(ta.sum(z)) == float(y.sum())


PROGRAM = """\
import numpy as np
import tarry as ta
from mpi4py import MPI

world = MPI.COMM_WORLD
assert world.size == 2
x = ta.arange(5, dtype=ta.float64) * (world.rank + 1)
if world.rank == 0:
    world.Send(x, dest=1)
else:
    received = np.empty(5)
    world.Recv(received, source=0)
    assert ta.asarray(received, copy=False).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
total = np.empty(5)
world.Allreduce(x.evaluate(), total)
assert (ta.asarray(total, copy=False) / 3).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
assert world.allreduce(x).tolist() == total.tolist()
if world.gather(world.rank) == [0, 1]:
    print("done")
"""


def test_mpi_sends_and_adds_up_arrays_of_two_ranks(tmp_path):
    pytest.importorskip("mpi4py")
    beside = pathlib.Path(sys.executable).parent / "mpiexec"
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([launcher, "-n", "2", sys.executable, str(tmp_path / "program.py")], capture_output=True,
                          text=True, check=False, timeout=120, env=environment)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
