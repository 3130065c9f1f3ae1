"""NumPy's functions on arrays of Tarry: axes, masks, initial values, outputs and what NumPy computes itself."""
import numpy as np
import pytest
import tarry as ta

A = np.random.default_rng(5).permutation(np.arange(12.0)).reshape(3, 4)
M, V = A > 4, A[0]


def same(ours, theirs):
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other)
        return
    assert np.shape(ours) == np.shape(theirs) and np.asarray(ours).dtype.kind == np.asarray(theirs).dtype.kind
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)


def check(call):
    theirs = eval(call, {"np": np, "x": A.copy(), "m": M, "a": A, "v": V})
    ours = eval(call, {"np": np, "x": ta.asarray(A), "m": ta.asarray(M), "a": A, "v": ta.asarray(V)})
    same(ours, theirs)
    return ours


@pytest.mark.parametrize("call", [
    "sort(x, axis=None)", "sort(x, None)", "argsort(x, axis=None)", "partition(x, 3, axis=None)[3]",
    "concatenate([x, x], axis=None)", "take_along_axis(x, np.array([7, 1]), axis=None)", "sum(x, axis=None)",
    "cumsum(x, axis=None)", "argmax(x, axis=None)", "append(x, 1.0, axis=None)", "flip(x, axis=None)",
    "roll(x, 2, axis=None)", "repeat(x, 2, axis=None)", "add.reduce(x, axis=None)", "linalg.norm(x, axis=None)",
])
def test_an_axis_of_none_is_the_flattened_array(call):
    assert isinstance(check(f"np.{call}"), ta.Array)


def test_partitions_without_an_axis_are_of_the_flattened_array():
    x = ta.asarray(A)
    assert A.ravel()[np.asarray(np.argpartition(x, 3, axis=None))].tolist() == sorted(A.ravel())
    np.put_along_axis(x, np.array([1, 6]), -1.0, axis=None)
    assert x[0, 1].item() == x[1, 2].item() == -1 and ta.sum(x < 0).item() == 2
    with pytest.raises(TypeError):
        np.stack([x, x], axis=None)


@pytest.mark.parametrize("call", ["divmod(np.array([7, -5, 3]), n)", "divmod(np.int64(7), n)", "divmod(7, n)",
                                  "np.divmod(np.array([7, -5, 3]), n)", "divmod(n, np.array([2, 2, 2]))"])
def test_a_quotient_and_remainder_take_numpys_arrays_on_either_side(call):
    n = np.array([2, 3, -4])
    same(eval(call, {"np": np, "n": ta.asarray(n)}), eval(call, {"np": np, "n": n}))


@pytest.mark.parametrize("call", [
    "np.sum(x, where=m)", "np.sum(x, axis=0, where=m[0], initial=2)", "np.mean(x, where=m)",
    "np.mean(x, 1, keepdims=True, where=m)", "np.any(m, where=x > 9)", "np.all(m, axis=1, where=x > 9)",
    "np.prod(x, 0, where=m)", "np.max(x, where=x < 3, initial=-1)", "np.min(x, axis=0, where=m, initial=7.5)",
    "np.nanmean(np.where(x > 9, np.nan, x), where=m)", "np.nansum(x, where=m)",
    "np.sum(x, initial=3)", "np.max(x, axis=1, initial=5.0)", "np.sum(a, where=m)", "np.add.reduce(x, where=m)",
    "np.logical_and(a, x)", "np.logical_or(x, a)", "np.exp(x, where=m, out=x)", "np.exp(a, where=m, out=np.zeros_like(x))", "np.sum(m, where=m)",
])
def test_reductions_and_ufuncs_go_where_a_mask_is_true(call):
    assert isinstance(check(call), ta.Array)


@pytest.mark.parametrize("call", [
    "np.var(x, where=m)", "np.std(x, axis=0, where=m)", "np.nanmax(x, where=m, initial=0)", "np.max(x[:0], initial=3)",
    "np.pad(x, 1, mode='mean')", "np.pad(x, 1, mode='linear_ramp')", "np.pad(x, 1, constant_values=(1, 2))",
    "np.pad(x, 1, constant_values=((1, 2), (3, 4)))", "np.histogram(x, bins='auto')", "np.linspace(x[0], x[1], 3)",
    "np.median(x, axis=(0, 1))", "np.sum(x, where=np.True_)", "np.exp(x, where=True)", "np.gradient(x, edge_order=2)", "np.quantile(x, 0.5, axis=(0, 1))",
])
def test_arguments_that_ours_do_not_take_are_left_to_numpy(call):
    check(call)


@pytest.mark.parametrize("wrong", ["np.max(x, where=m)", "np.quantile(x, 1.5)", "np.pad(x, 1, mode='other')",
                                   "np.linspace(x[0], x[:, 0], 3)"])
def test_a_call_that_numpy_refuses_too_is_an_error(wrong):
    with pytest.raises((TypeError, ValueError)):
        eval(wrong, {"np": np, "x": ta.asarray(A), "m": ta.asarray(M)})


def test_ranges_between_floating_arrays_have_their_dtype():
    for call in ("linspace(v[0], v[1], 5)", "logspace(v[0], v[1], 5)", "geomspace(v[0] + 1, v[1] + 1, 5)"):
        for module in (np, ta):
            made = eval(f"m.{call}", {"m": module, "v": ta.asarray(V)})
            assert made.dtype == ta.float64
            np.testing.assert_allclose(made, eval(f"np.{call}", {"np": np, "v": V}))
    half = ta.asarray([1, 2], dtype=ta.float16)
    assert ta.linspace(half[0], 3, 3).dtype is ta.float16 and ta.linspace(ta.asarray(1), 3, 3).dtype is ta.float32


def test_ufuncs_of_two_results_write_to_two_outputs():
    x, first, second = ta.asarray(A), ta.zeros((3, 4), dtype=ta.float64), np.zeros((3, 4))
    made = np.divmod(x, 5, out=(first, second))
    assert made[0] is first and made[1] is second
    same(made, np.divmod(A, 5))
    whole, rest = np.divmod(x, 5, out=(None, second))
    assert isinstance(whole, ta.Array) and rest is second


LOST = ["z[1:].fill(7)", "z[1:].sort()", "np.copyto(z[1:], 7)", "ta.copyto(z[1:], 7)", "np.add.at(z[1:], [0], 5)",
        "ta.add.at(z[1:], [0], 5)", "np.fill_diagonal(z.T, 3)", "ta.fill_diagonal(z.T, 3)", "np.put(z[0], 0, 5)",
        "np.put_along_axis(z[1:], np.array([[0]]), 5, 1)", "np.place(z[0], z[0] < 9, [1])", "ta.place(z[0], z[0] < 9, [1])",
        "np.putmask(z[0], z[0] < 9, 1)", "ta.putmask(z[0], z[0] < 9, 1)", "np.exp(z, out=z[:])", "np.exp(z, z[:])",
        "np.exp(a, out=z[:])", "np.stack([z[0]], out=z[:1])", "np.stack([a[0]], out=z[:1])", "np.cumsum(z, 1, out=z[:])",
        "np.clip(z, 1, 2, out=z[:])", "np.sum(z, 0, out=z[0])", "np.mean(z, 0, out=z[0])", "rng.shuffle(z[0])",
        "np.take(z, [0, 1, 2], 0, out=z[:])", "np.divmod(z, 2, out=(z[:], z[:]))", "np.round(z, 1, out=z[:])"]


@pytest.mark.parametrize("change", LOST)
def test_a_change_of_an_array_without_a_name_is_an_error(change):
    given = {"np": np, "ta": ta, "z": ta.asarray(A[:, :3]), "a": A[:, :3], "rng": ta.random.default_rng(1)}
    with pytest.raises(ta.InvalidArgument, match="has no name"):
        exec(change, given)
    assert given["z"].tolist() == A[:, :3].tolist()


@pytest.mark.parametrize("change", LOST)
def test_the_same_change_of_an_array_with_a_name_is_none(change):
    for part in ("z[1:]", "z[:1]", "z[:]", "z[0]", "z.T"):
        if f"{part}." in change:
            change = f"y = {part}\n{change.replace(f'{part}.', 'y.', 1)}"
        elif f"({part}," in change or f"out={part}" in change or f"({part})" in change or f" {part})" in change:
            change = change.replace(f"({part}", "(y").replace(f"out={part}", "out=y").replace(f" {part})", " y)")
            change = f"y = {part}\n{change}"
    given = {"np": np, "ta": ta, "z": ta.asarray(A[:, :3]), "a": A[:, :3], "rng": ta.random.default_rng(1)}
    exec(change, given)

    def local(np, ta, z, a, rng):
        exec(change, {"np": np, "ta": ta, "z": z, "a": a, "rng": rng})

    local(np, ta, ta.asarray(A[:, :3]), A[:, :3], ta.random.default_rng(1))


def test_arrays_to_change_may_go_by_name():
    ours, theirs = ta.asarray(A), A.copy()
    for x in (ours, theirs):
        np.copyto(dst=x, src=7.0, where=M)
        np.put(a=x, ind=[0, 5], v=[1.0, 2.0])
        np.place(arr=x, mask=M, vals=[3.0, 4.0])
        np.putmask(x, mask=M & (A > 9), values=[5.0])
        np.fill_diagonal(a=x, val=6.0)
    same(ours, theirs)
    with pytest.raises(ta.InvalidArgument, match="has no name"):
        np.copyto(dst=ours[1:], src=7.0)
    with pytest.raises(ta.InvalidValue, match="joined by add"):
        np.hypot.at(ours, [0], 1.0)


def test_a_number_is_copied_where_the_dtype_holds_it():
    x, b = ta.zeros(2, dtype=ta.float64), ta.zeros(2, dtype=ta.uint8)
    ta.copyto(x, 2**64)
    ta.copyto(b, 255)
    assert x.tolist() == [2.0**64] * 2 and b.tolist() == [255, 255]
    for number, kind in ((300, ta.InvalidValue), (2**64, ta.InvalidValue), (0.5, ta.InvalidDtype)):
        with pytest.raises(kind):
            np.copyto(b, number)
    assert b.tolist() == [255, 255]


def test_an_output_without_a_name_is_given_back():
    x = ta.asarray(A)
    made = np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)
    same(made, np.divide(1.0, A, out=np.zeros_like(A), where=A != 0))
    assert np.stack([x, x], out=ta.zeros((2, 3, 4), dtype=ta.float64)).tolist() == [A.tolist()] * 2
