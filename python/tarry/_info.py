"""What the namespace can do, as the array API standard asks."""

from . import _tarry

_DTYPES = {
    "bool": ["bool"],
    "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
    "real floating": ["float32", "float64"],
    "complex floating": [],
}
_DTYPES["integral"] = _DTYPES["signed integer"] + _DTYPES["unsigned integer"]
_DTYPES["numeric"] = _DTYPES["integral"] + _DTYPES["real floating"]


class _Info:
    def capabilities(self):
        """Which optional parts of the standard there are."""
        has_shapes_of_data = hasattr(_tarry, "nonzero")
        return {"boolean indexing": has_shapes_of_data, "data-dependent shapes": has_shapes_of_data,
                "max dimensions": 16}

    def default_device(self):
        """The device that unplaced work runs on."""
        return _tarry.default_device()

    def default_dtypes(self, *, device=None):
        """Dtypes that nothing else decides."""
        return {"real floating": _tarry.zeros(()).dtype, "complex floating": None, "integral": _tarry.int64,
                "indexing": _tarry.int64}

    def devices(self):
        """The devices that work in this process."""
        return _tarry.devices()

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of the standard, by name; of one kind, or of a tuple of kinds."""
        kinds = list(_DTYPES) if kind is None else [kind] if isinstance(kind, str) else kind
        return {name: getattr(_tarry, name) for each in kinds for name in _DTYPES[each]}


def __array_namespace_info__():
    """What the namespace can do: devices, dtypes, capabilities."""
    return _Info()
