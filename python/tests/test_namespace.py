"""The namespace of the array API, dtypes, evaluation, random numbers."""
import asyncio

import numpy as np
import pytest
import tarry as ta


def test_arrays_know_their_namespace():
    assert ta.asarray(1).__array_namespace__(api_version="2024.12") is ta
    with pytest.raises(ValueError):
        ta.asarray(1).__array_namespace__(api_version="1999.01")
    info = ta.__array_namespace_info__()
    assert info.dtypes(kind="bool") == {"bool": ta.bool} and ta.cpu in info.devices()
    assert info.default_dtypes()["real floating"] is ta.float32


def test_dtypes_answer_as_the_standard_says():
    assert ta.finfo(ta.float32).eps == np.finfo(np.float32).eps and ta.finfo(ta.zeros(1)).bits == 32
    assert ta.iinfo(ta.uint64).max == 2**64 - 1 and ta.iinfo(ta.int8).min == -128
    assert ta.isdtype(ta.int8, ("bool", "integral")) and not ta.isdtype(ta.float32, ta.float64)
    assert ta.can_cast(ta.int8, ta.int16) and not ta.can_cast(ta.int16, ta.int8)
    assert ta.result_type(ta.int8, ta.uint8) is ta.int16 and ta.result_type(ta.zeros(1), 2.5) is ta.float32
    assert ta.float32 == ta.float32 and ta.float32 != ta.float64 and len({ta.int8, ta.int8}) == 1
    for name in ("float32", np.float32, np.dtype("float32")):
        assert ta.zeros(1, dtype=name).dtype is ta.float32


def test_numbers_of_python_have_default_dtypes():
    assert [ta.asarray(v).dtype for v in (True, 1, 1.5)] == [ta.bool, ta.int64, ta.float32]
    assert ta.asarray([1, 2.5]).dtype is ta.float32 and ta.full(2, 1.5).dtype is ta.float32
    assert ta.arange(3).dtype is ta.int64 and ta.arange(3.0).dtype is ta.float32
    with ta.Scope(default_float=ta.float64):
        assert ta.zeros(1).dtype is ta.float64 and ta.asarray(1.5).dtype is ta.float64


def test_scopes_may_end_in_another_order_than_they_began():
    def within(**settings):
        with ta.Scope(**settings):
            yield
            yield

    wide, narrow, relaxed = within(default_float=ta.float64), within(default_float=ta.float32), within(numerics="relaxed")
    for scope in (wide, narrow, relaxed):
        next(scope)
    assert ta.zeros(1).dtype is ta.float32
    narrow.close()
    assert ta.zeros(1).dtype is ta.float64
    again = within(default_float=ta.float32)
    next(again)
    wide.close()
    assert ta.zeros(1).dtype is ta.float32
    again.close()
    assert ta.zeros(1).dtype is ta.float32
    relaxed.close()
    assert ta.zeros(1).dtype is ta.float32


def test_tasks_leave_no_settings_behind():
    async def work(after, settings):
        await asyncio.sleep(0)
        with ta.Scope(**settings):
            for _ in range(after):
                await asyncio.sleep(0)

    async def all_of_them():
        await asyncio.gather(*(work(n, {"default_float": ta.float64, "numerics": "relaxed"}) for n in (1, 4, 2, 3)))

    asyncio.run(all_of_them())
    assert ta.zeros(1).dtype is ta.float32


def test_a_scope_that_is_refused_changes_nothing():
    with pytest.raises(ta.InvalidArgument):
        ta.Scope(device="cpu", default_float=ta.float16).__enter__()
    with ta.Scope(default_float=ta.float64) as scope:
        with pytest.raises(RuntimeError, match="in use"):
            scope.__enter__()
    assert ta.zeros(1).dtype is ta.float32


def test_diagonals_may_lie_anywhere():
    for k in (-2**70, -4, -1, 0, np.int64(1), 2**63):
        np.testing.assert_array_equal(ta.eye(3, 4, k=k), np.eye(3, 4, max(-5, min(k, 5))))
        np.testing.assert_array_equal(ta.tril(ta.ones((3, 3)), k), np.tril(np.ones((3, 3)), max(-5, min(k, 5))))
    with pytest.raises(TypeError):
        ta.eye(3, k=1.5)


def test_axes_none_and_all_differ():
    x = ta.ones((2, 3))
    assert ta.sum(x).shape == () and ta.sum(x, axis=()).shape == (2, 3) and ta.sum(x, axis=(0, -1)).shape == ()
    assert x.mean(axis=1, keepdims=True).shape == (2, 1)


def test_plans_predict_and_reports_count():
    x = ta.asarray(np.ones(1000, dtype=np.float32))
    area, spread = ta.sum(x), ta.std(x)
    plan, report = ta.plan(area, spread), ta.evaluate(area, [spread])
    assert plan.counters.bytes_read == report.counters.bytes_read == 4000
    assert "kernels        1" in repr(report) and report.counters.kernels == 1
    assert ta.plan(ta.exp(x), target="sm_90").sources()[0].count("__global__") == 1


def test_draws_depend_on_the_seed_and_their_number():
    g, h = ta.random.Generator(42), ta.random.Generator(42)
    first = g.normal((3,))
    np.testing.assert_array_equal(first, h.normal(3))
    assert g.draws == 1 and g == h and first.tolist() != g.normal(3).tolist()
    dice = np.asarray(g.integers(1000, 1, 7))
    assert dice.min() == 1 and dice.max() == 6
    assert 0.4 < float(ta.mean(ta.astype(g.bernoulli(10000, 0.5), ta.float32))) < 0.6


def test_numbers_have_no_imaginary_part():
    x = ta.asarray([1.5, -2.0])
    assert ta.real(x).tolist() == ta.conj(x).tolist() == x.tolist() and ta.imag(x).tolist() == [0.0, 0.0]
