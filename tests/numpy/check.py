#!/usr/bin/env python3
"""Exchanges arrays with NumPy through DLPack, both ways: check.py LIBRARY. Exit code 77: there is no NumPy."""

import ctypes
import gc
import os
import sys

try:
    import numpy
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: there is no NumPy")
    sys.exit(77)

KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
LAYOUTS = {
    "row-major": lambda x: x,
    "every other row": lambda x: x[::2],
    "backwards": lambda x: x[::-1, ::-1],
    "transposed": lambda x: x.T,
    "a column": lambda x: x[:, 3],
    "one element": lambda x: x[2, 5],
    "nothing": lambda x: x[:0],
}


def capsules():
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return api


class Given:
    """An object that numpy.from_dlpack takes a tensor from."""

    def __init__(self, api, tensor):
        self.capsule = api.PyCapsule_New(tensor, b"dltensor", None)

    def __dlpack__(self, stream=None):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def main():
    api = capsules()
    library = ctypes.CDLL(sys.argv[1])
    for name in ("exchange_same", "exchange_twice"):
        getattr(library, name).restype = ctypes.c_void_p
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.exchange_error.restype = ctypes.c_char_p

    def through(call, x):
        capsule = x.__dlpack__()
        tensor = api.PyCapsule_GetPointer(capsule, b"dltensor")
        api.PyCapsule_SetName(capsule, b"used_dltensor")  # taken over: NumPy does not give it back any more
        given = call(tensor)
        if not given:
            raise RuntimeError(library.exchange_error().decode())
        return numpy.from_dlpack(Given(api, given))

    exchanged = 0
    for kind in KINDS:
        whole = numpy.arange(8 * 10).reshape(8, 10).astype(kind)
        for layout, part in LAYOUTS.items():
            x = numpy.asarray(part(whole))
            twice = through(library.exchange_twice, x)
            assert twice.dtype == x.dtype and twice.shape == x.shape, (kind, layout, twice.dtype, twice.shape)
            assert numpy.array_equal(twice, x + x), (kind, layout, twice, x + x)
            same = through(library.exchange_same, x)
            assert numpy.array_equal(same, x), (kind, layout, same, x)
            if x.size:
                assert same.__array_interface__["data"][0] == x.__array_interface__["data"][0], (kind, layout, "was copied")
            exchanged += 2

    # Memory lives as long as whoever needs it, and not longer.
    x = numpy.arange(1000.0)
    before = sys.getrefcount(x)
    same = through(library.exchange_same, x)
    assert sys.getrefcount(x) > before
    address = x.__array_interface__["data"][0]
    del same
    gc.collect()
    assert sys.getrefcount(x) == before, "the tensor was not given back"
    same = through(library.exchange_same, x)
    del x
    gc.collect()
    assert same.__array_interface__["data"][0] == address and same.sum() == 499500.0

    # What cannot be taken says why, and is given back.
    x = numpy.zeros(3, dtype=numpy.complex64)
    before = sys.getrefcount(x)
    try:
        through(library.exchange_same, x)
        raise AssertionError("complex numbers were taken")
    except RuntimeError as error:
        assert "from_dlpack" in str(error), error
    print(f"{exchanged} arrays exchanged with NumPy {numpy.__version__}")


if __name__ == "__main__":
    main()
