"""Kernels of the tests go to a cache of their own."""
import os
import tempfile

os.environ.setdefault("TARRY_CACHE_DIR", os.path.join(tempfile.gettempdir(), "tarry-python-tests"))
