"""Functions that are traced once for each structure, and then replayed."""
import collections
import copy
import functools
import gc
import inspect
import threading
import weakref

import numpy as np
import pytest
import tarry as ta

X = np.random.default_rng(1).uniform(-1, 1, (5, 3))


def formula(x, scale=2.0):
    return ta.exp(x * scale) / (ta.sum(ta.abs(x), axis=-1, keepdims=True) + 1) - x


def same(a, b):
    return np.asarray(a).tobytes() == np.asarray(b).tobytes() and a.dtype == b.dtype and a.shape == b.shape


def test_bits_are_those_of_the_function_and_each_structure_is_traced_once():
    calls = []
    f = ta.function(lambda x, scale=2.0: calls.append(1) or formula(x, scale))
    for factor in (1, 2, 3):
        for dtype in (ta.float32, ta.float64):
            x = ta.asarray(X * factor, dtype=dtype)
            assert same(f(x), formula(x)) and f(x).is_evaluated
            assert same(f(x, scale=0.5), formula(x, 0.5))
    assert len(calls) == f.traces == 4


def test_trees_go_in_and_come_out():
    point = collections.namedtuple("point", "x y")

    @ta.function
    def f(tree, *rest, **named):
        return {"sum": tree[0] + tree[1]["b"], "point": point(rest[0] * 2, None)}, [named["w"], "text", 3]

    one = ta.ones(2)
    for _ in range(2):
        made, (w, text, three) = f((one, {"b": one * 2}), one, w=X)
        assert made["sum"].tolist() == [3, 3] and made["point"].x.tolist() == [2, 2] and made["point"].y is None
        assert (text, three) == ("text", 3) and np.array_equal(w, X)
    assert f.traces == 1


def test_what_is_no_array_is_part_of_the_structure():
    f = ta.function(lambda x, how: x * how if isinstance(how, (int, float)) else getattr(ta, how)(x))
    x = ta.asarray([4.0, -0.0])
    assert f(x, "sqrt").tolist() == [2, 0] and f(x, 2).tolist() == [8, 0] and f(x, True).dtype == x.dtype
    assert np.signbit(f(x, 0.0)).tolist() == [False, True] and np.signbit(f(x, -0.0)).tolist() == [True, False]
    assert f.traces == 5
    with pytest.raises(TypeError, match="objects that have a hash, not set"):
        f(x, {1})


def test_a_zero_dimensional_array_is_a_number_that_changes():
    step = ta.function(lambda x, dt: x + x * dt)
    x = ta.asarray(X)
    for dt in (0.0, 0.5, -1.0):
        number = ta.asarray(dt, dtype=ta.float64)
        assert same(step(x, number), x + x * number)
    assert step.traces == 1


def test_structures_that_were_not_used_for_long_are_forgotten():
    f = ta.function(lambda x, n: x + n, most=2)
    for n in (1, 2, 1, 3, 1, 2):
        assert float(f(ta.zeros(()), n)) == n
    assert f.traces == 4


def test_a_function_keeps_one_structure_or_more():
    for most in (0, -1):
        with pytest.raises(ta.InvalidValue, match=r"one structure or more, not most = .*test_functions.py"):
            ta.function(lambda x: x, most=most)


def test_lists_that_contain_themselves_are_errors():
    own, deep, kinds, mixed, table = [], [], (), [ta.ones(1)], {}
    own.append(own)
    mixed.append(mixed)
    table["a"] = table
    for _ in range(100_000):
        deep, kinds = [deep], (kinds,)
    x = ta.ones(1)
    for call in (lambda: ta.function(lambda z: x)(own), lambda: ta.function(lambda z: x)(deep),
                 lambda: ta.function(lambda z: x)(table), lambda: ta.function(lambda z: own)(x),
                 lambda: ta.evaluate(own), lambda: ta.plan(mixed), lambda: ta.evaluate(deep), lambda: ta.asarray(mixed),
                 lambda: ta.asarray(own), lambda: ta.concat(mixed), lambda: ta.isdtype(ta.int8, kinds), lambda: ta.scan(lambda c, at: (c, at), own, x),
                 lambda: ta.while_loop(lambda s: s < 1, lambda s: own, x)):
        with pytest.raises(ValueError, match="nested more than"):
            call()


def test_a_captured_array_is_a_constant_and_computed_once():
    w = ta.exp(ta.asarray(X))
    f = ta.function(lambda x: x + w)
    before = np.asarray(f(ta.asarray(X)))
    assert w.is_evaluated
    w[0] = 100.0
    assert np.array_equal(f(ta.asarray(X)), before)


def test_generators_are_arguments():
    def draw(g, x):
        return g.normal((4,)) * x + g.uniform((4,))

    f, x = ta.function(draw), ta.ones(4)
    replayed, direct = ta.random.Generator(5), ta.random.Generator(5)
    assert all(same(f(replayed, x), draw(direct, x)) for _ in range(3))
    assert replayed == direct and replayed.draws == 6 and f.traces == 1
    with pytest.raises(ValueError, match="pass the generator as an argument"):
        ta.function(lambda x: x + direct.uniform((4,)))(x)
    with pytest.raises(ValueError, match="not known"):
        ta.function(lambda g: ta.full((), g.draws))(direct)


def test_generators_keep_their_type():
    def draw(rng, x):
        return rng.normal(1.0, 2.0, size=4) * x + rng.standard_normal(4)

    f, x = ta.function(draw), ta.ones(4)
    replayed, direct, plain = ta.random.default_rng(5), ta.random.default_rng(5), ta.random.Generator(5)
    assert all(same(f(replayed, x), draw(direct, x)) for _ in range(3))
    assert f.traces == 1 and replayed.draws == direct.draws == 6

    def of_a_copy(rng):
        return copy.copy(rng).normal(size=3) + rng.normal(size=3)

    assert same(ta.function(of_a_copy)(replayed), of_a_copy(direct))
    assert type(direct.fork(2)) is type(direct.fork()) is type(copy.copy(direct)) is type(direct)
    with pytest.raises(ValueError, match="fork it outside"):
        ta.function(lambda rng: rng.fork().normal(size=3))(direct)
    with pytest.raises(TypeError, match="size"):
        f(plain, x)
    with pytest.raises(ValueError, match="pass the generator as an argument"):
        ta.function(lambda x: x + direct.normal(size=4))(x)


def test_an_argument_by_position_and_by_name_is_one_structure():
    @ta.function
    def f(x, b=3, /, c=1, *, d=0, e=0, **others):
        return x * b + c + d + e + sum(others.values())

    x = ta.ones(2)
    assert f(x, 2, 5).tolist() == f(x, 2, c=5).tolist() == [7, 7] and f.traces == 1
    assert f(x, d=1, e=2, c=3).tolist() == f(x, c=3, e=2, d=1).tolist() == [9, 9] and f.traces == 2
    assert f(x, 2, 5, g=1).tolist() == [8, 8] and f.traces == 3
    for wrong in (lambda: f(x, 2, 5, c=5), lambda: f(c=1), lambda: f()):
        with pytest.raises(TypeError):
            wrong()

    scaled = ta.function(functools.partial(lambda x, by, to: x * by + to, to=1))
    assert scaled(x, by=2).tolist() == scaled(x, 2).tolist() == [3, 3] and scaled.traces == 1


def test_reading_a_value_is_an_error_that_names_the_line():
    f = ta.function(lambda x: x if ta.mean(x) > 0 else -x)
    with pytest.raises(ValueError, match="depends on the arguments.*test_functions.py"):
        f(ta.asarray(X))
    assert f.traces == 0
    with pytest.raises(ZeroDivisionError):
        ta.function(lambda x: 1 // 0)(ta.asarray(X))

    def writes(x):
        x[0] = 1
        return x

    with pytest.raises(ValueError, match="writes to its argument 0"):
        ta.function(writes)(ta.asarray(X))


def test_within_others_it_is_called_directly():
    inner = ta.function(lambda x: x * x + 1)
    outer = ta.function(lambda x: inner(x) + inner(x + 1))
    assert float(outer(ta.asarray(2.0))) == 15
    last, _ = ta.scan(lambda c, x: ((n := inner(c) + x), n), ta.zeros(2), ta.ones((3, 2)))
    assert last.tolist() == [38, 38] and inner.traces == 0


def test_methods_names_and_signatures_are_those_of_the_function():
    class Model:
        def __init__(self):
            self.w = ta.full((3,), 2.0)

        @ta.function
        def apply(self, x, *, bias=0.0):
            """Applies it."""
            return x * self.w + bias

    model = Model()
    assert model.apply(ta.ones(3), bias=1.0).tolist() == [3, 3, 3]
    assert Model.apply.__name__ == "apply" and Model.apply.__doc__ == "Applies it."
    assert str(inspect.signature(Model.apply)) == "(self, x, *, bias=0.0)"
    assert Model.apply.traces == 1


def test_settings_of_the_caller_are_part_of_the_structure():
    f = ta.function(lambda x: ta.zeros(2) + x)
    assert f(ta.ones(2)).dtype == ta.float32
    with ta.Scope(default_float=ta.float64):
        assert f(ta.ones(2, dtype=ta.float32)).dtype == ta.float64
    assert f.traces == 2


def test_threads_share_a_function():
    f, wrong = ta.function(formula), []

    def work(seed):
        for i in range(50):
            x = ta.asarray(X[: 1 + (i + seed) % 5] * i)
            if not same(f(x), formula(x)):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_a_function_goes_with_what_it_holds():
    f = ta.function(lambda x: x + 1)
    f(ta.ones(2))
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None
