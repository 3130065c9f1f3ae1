"""Functions from text and loops until done, from Python."""
import numpy as np
import pytest
import tarry as ta


def test_a_function_from_text_is_fused_and_has_the_bits_of_its_formula():
    soft = ta.scalar_function("soft", "(T x, T a)", "return x > a ? x - a : x < -a ? x + a : T(0);")
    x = np.random.default_rng(1).normal(size=1000)
    expected = np.where(x > 0.5, x - 0.5, np.where(x < -0.5, x + 0.5, 0))
    np.testing.assert_array_equal(np.asarray(soft(ta.asarray(x), 0.5)), expected)
    assert ta.evaluate(soft(ta.asarray(x) * 2, 0.25) + 1).counters.kernels == 1


def test_several_results_are_a_tuple():
    both = ta.scalar_function("both", "(int x) -> (int a, double b)", "a = x + 1; b = x / 2.0;")
    a, b = both(ta.asarray([1, 2], dtype=ta.int32))
    assert a.tolist() == [2, 3] and b.tolist() == [0.5, 1.0]


def test_a_mistake_in_a_text_shows_its_line_and_the_line_of_python():
    with pytest.raises(ValueError, match=r"(?s)'z' is not declared:\n  return x \+ z;\n +\^.*test_own_code.py"):
        ta.scalar_function("f", "(float x)", "return x + z;")
    with pytest.raises(ValueError, match="argument 'x' of f"):
        ta.scalar_function("f", "(float x)", "return x;")(ta.asarray([1.0], dtype=ta.float64))


def test_mandelbrot_by_a_loop_in_a_text():
    escape = ta.scalar_function("escape", "(double cr, double ci)", """
        double re = 0, im = 0;
        for (int n = 0; n < 50; n++) {
            double next = re * re - im * im + cr;
            im = 2 * re * im + ci;
            re = next;
            if (re * re + im * im > 4) return n;
        }
        return 50;
    """)
    re, im = np.meshgrid(np.linspace(-2, 1, 60), np.linspace(-1, 1, 40))
    z, c, expected = np.zeros_like(re, complex), re + 1j * im, np.full(re.shape, 50)
    for n in range(50):
        on = expected == 50
        z[on] = z[on] ** 2 + c[on]
        expected[on & (np.abs(z) > 2)] = n
    got = np.asarray(escape(ta.asarray(re), ta.asarray(im)))
    assert (got == expected).mean() > 0.995  # numbers at the border round otherwise


def test_while_loop_takes_nested_states():
    x = ta.asarray([2.0, 9.0, 1e6], dtype=ta.float64)
    done = ta.while_loop(
        lambda s: ta.abs(s["root"] * s["root"] - x) > 1e-12 * x,
        lambda s: {"root": 0.5 * (s["root"] + x / s["root"]), "rounds": s["rounds"] + 1},
        {"root": x, "rounds": ta.asarray(0)},
    )
    np.testing.assert_allclose(np.asarray(done["root"]), np.sqrt([2.0, 9.0, 1e6]), rtol=1e-12)
    assert done["rounds"].shape == (3,) and int(done["rounds"][1]) > 2
    with pytest.raises(ValueError, match="not bool"):
        ta.while_loop(lambda s: s, lambda s: s, ta.asarray(1))


def test_a_host_function_runs_once_when_needed_and_its_errors_come_out():
    calls = []

    def both(x, y):
        calls.append(x.shape)
        assert not x.flags.writeable
        if len(calls) == 1:
            raise KeyError("not today")
        return np.sort(x)[::-1], y.sum()

    x = ta.asarray([3.0, 1.0, 2.0]) + 1
    high, total = ta.host_function(both, [x, ta.asarray([1, 2])], [((3,), ta.float64), ((), ta.int64)])
    assert calls == []
    with pytest.raises(KeyError, match="not today"):
        ta.evaluate(high)
    assert (high * 2).tolist() == [8.0, 6.0, 4.0]
    assert int(total) == 3 and len(calls) == 2


def test_results_of_a_host_function_fit_what_is_declared():
    (one,) = ta.host_function(lambda: (1, 2), [], [((), ta.int64)])
    with pytest.raises(ValueError, match="2 results, and 1 are declared"):
        ta.evaluate(one)
    with pytest.raises(TypeError, match="a pair"):
        ta.host_function(lambda: 1, [], [3])


def test_a_cuda_kernel_runs_where_there_is_a_gpu_and_says_so_where_there_is_none():
    kernel = """extern "C" __global__ void scale(const float* x, float* y, double a) {
        y[threadIdx.x] = (float)a * x[threadIdx.x];
    }"""
    x = ta.ones((32,), dtype=ta.float32)
    (y,) = ta.cuda_kernel(kernel, "scale", [x], [((32,), ta.float32)], block=(32, 1, 1), numbers=(3.0,))
    if any(str(d).startswith("cuda") for d in ta.devices()):
        assert y.tolist() == [3.0] * 32
    else:
        with pytest.raises(ta.DeviceError):
            ta.evaluate(y)


def test_a_reduction_combines_with_text_of_the_users():
    largest = ta.reduction(ta.scalar_function("largest", "(T a, T b)", "return a > b ? a : b;"))
    x = np.arange(12.0).reshape(3, 4)[:, ::-1]
    assert np.array_equal(np.asarray(largest(ta.asarray(x), axis=1)), x.max(axis=1))
    assert np.array_equal(np.asarray(largest(x, axis=(0, 1), keepdims=True)), [[11.0]])
    place = ta.reduction(ta.scalar_function(
        "place", "(double v, int64_t i, double w, int64_t j) -> (double x, int64_t k)",
        "x = w > v ? w : v; k = w > v ? j : i;"))
    values, places = place(ta.asarray([1.0, 9.0, 3.0], dtype=ta.float64), ta.arange(3))
    assert (float(values), int(places)) == (9.0, 1)


def test_a_reduction_of_nothing_is_its_identity_or_an_error():
    total = ta.scalar_function("total", "(T a, T b)", "return a + b;")
    assert float(ta.reduction(total, 0)(ta.zeros((0,)))) == 0
    with pytest.raises(ta.InvalidArgument, match=r"total.*no identity"):
        ta.reduction(total)(ta.zeros((0,)))
    with pytest.raises(TypeError, match="identity"):
        ta.reduction(total, "none")
    with pytest.raises(ta.InvalidArgument, match="2 identities for 1 states"):
        ta.reduction(total, [0, 1])


def test_a_reduction_may_finish_what_it_has_combined():
    root = ta.scalar_function("root", "(T a)", "return sqrt(a);")
    norm = ta.reduction(ta.scalar_function("squares", "(T a, T b)", "return a + b;"), finish=root)
    assert float(norm(ta.asarray([9.0, 16.0]))) == 5.0


def test_the_history_has_code_of_the_users_beside_generated_kernels():
    x = ta.asarray([1.0, 2.0, 3.0])
    (y,) = ta.host_function(lambda a: np.asarray(a) * 2, [x], [((3,), ta.float64)], name="noted_in_python")
    ta.evaluate(y + 1)
    mine = [r for r in ta.kernel_history() if r.name == "noted_in_python"]
    assert len(mine) == 1 and mine[0].reason == "user" and mine[0].hit == "called" and mine[0].launches == 1
    assert mine[0].bytes_read == 12 and "test_own_code.py" in mine[0].lines[0] and mine[0].key == ""
    assert repr(mine[0]).startswith("noted_in_python (user) on cpu")
    ours = [r for r in ta.kernel_history() if r.reason == "" and r.name.startswith("add_")]
    assert ours and len(ours[-1].key) == 32 and ours[-1].launches >= 1
