"""tarry.random.default_rng: draws that are called as NumPy's."""
import copy
import pickle

import numpy as np
import pytest
import tarry as ta


def test_draws_have_numpys_arguments():
    for rng in (np.random.default_rng(3), ta.random.default_rng(3)):
        assert rng.random((2, 3)).shape == (2, 3) and np.shape(rng.random()) == ()
        assert rng.standard_normal(5).shape == (5,) and rng.normal(2.0, 0.5, 4).shape == (4,)
        assert rng.normal(size=(2, 2)).shape == (2, 2) and rng.normal(rng.random(3), 1.0).shape == (3,)
        assert rng.uniform(1, 2, 7).shape == (7,) and rng.exponential(2.0, size=3).shape == (3,)
        assert rng.integers(5, size=4).shape == (4,) and rng.integers(0, 2, (3, 3)).shape == (3, 3)
        assert rng.choice(5, 3).shape == (3,) and rng.choice(5, 5, replace=False).shape == (5,)
        assert rng.permutation(6).shape == (6,)


def test_draws_are_distributed_as_their_names_say():
    rng, n = ta.random.default_rng(7), 20000
    assert abs(float(rng.normal(3.0, 2.0, n).mean()) - 3) < 0.1 and abs(float(rng.normal(3.0, 2.0, n).std()) - 2) < 0.1
    low, high = rng.uniform(-2.0, 5.0, n).min(), rng.uniform(-2.0, 5.0, n).max()
    assert -2 <= float(low) < -1.9 and 4.9 < float(high) < 5
    assert abs(float(rng.exponential(4.0, n).mean()) - 4) < 0.2
    assert sorted(np.unique(rng.integers(1, 6, n, endpoint=True)).tolist()) == [1, 2, 3, 4, 5, 6]
    share = np.bincount(rng.choice(3, n, p=[0.2, 0.0, 0.8])) / n
    np.testing.assert_allclose(share, [0.2, 0, 0.8], atol=0.02)
    assert sorted(rng.permutation(50).tolist()) == list(range(50))
    assert sorted(rng.choice(ta.arange(50) * 2, 50, replace=False).tolist()) == list(range(0, 100, 2))
    x = ta.arange(50)
    rng.shuffle(x)
    assert sorted(x.tolist()) == list(range(50)) and x.tolist() != list(range(50))


@pytest.mark.parametrize("draw, mean, deviation", [
    ("lognormal(0.2, 0.5, n)", np.exp(0.325), np.exp(0.325) * np.sqrt(np.exp(0.25) - 1)),
    ("standard_exponential(n)", 1, 1), ("laplace(1.0, 2.0, n)", 1, np.sqrt(8)), ("rayleigh(2.0, n)", 2.5066, 1.3103),
    ("logistic(1.0, 0.5, n)", 1, 0.5 * np.pi / np.sqrt(3)), ("gumbel(1.0, 2.0, n)", 2.1544, 2.5651),
    ("weibull(2.0, n)", 0.8862, 0.4633), ("pareto(5.0, n)", 0.25, 0.3227), ("power(3.0, n)", 0.75, 0.1936),
    ("triangular(-1.0, 0.0, 3.0, n)", 2 / 3, 0.8498), ("geometric(0.25, n)", 4, 3.4641),
    ("gamma(2.5, 2.0, n)", 5, 3.1623), ("standard_gamma(0.5, n)", 0.5, 0.7071), ("beta(2.0, 6.0, n)", 0.25, 0.1443),
    ("chisquare(3, n)", 3, 2.4495), ("noncentral_chisquare(3, 5, n)", 8, 5.0990), ("f(6, 40, n)", 1.0526, 0.6719),
    ("noncentral_f(6, 40, 3, n)", 1.5789, 0.9582), ("logseries(0.7, n)", 1.9380, 1.6444),
    ("standard_t(9, n)", 0, 1.1339), ("wald(2.0, 6.0, n)", 2, 1.1547), ("poisson(4.0, n)", 4, 2),
    ("poisson(50.0, n)", 50, 7.0711), ("binomial(20, 0.25, n)", 5, 1.9365), ("binomial(200, 0.75, n)", 150, 6.1237),
    ("negative_binomial(3, 0.3, n)", 7, 4.8305),
])
def test_a_distribution_has_its_mean_and_deviation(draw, mean, deviation):
    values = eval(f"rng.{draw}", {"rng": ta.random.default_rng(5), "n": 200_000})
    assert np.isfinite(values).all() and abs(float(values.mean()) - mean) < 0.02 * deviation
    assert abs(float(values.std()) / deviation - 1) < 0.03


def test_parameters_of_distributions_are_arrays_too():
    rng, scales = ta.random.default_rng(5), ta.asarray([1.0, 10.0, 100.0])
    for draw in (rng.rayleigh, rng.weibull, rng.pareto, rng.power, rng.standard_gamma, rng.chisquare, rng.poisson):
        assert draw(scales).shape == (3,)
    assert rng.standard_cauchy((2, 3)).shape == (2, 3) and rng.lognormal(scales[:, None], size=(3, 4)).shape == (3, 4)
    assert rng.geometric(ta.asarray([0.5, 1.0])).shape == (2,) and float(rng.geometric(1.0)) == 1


def test_counts_are_integers_and_add_up():
    rng = ta.random.default_rng(3)
    for counts in (rng.poisson(ta.asarray([1.0, 30.0])), rng.binomial([10, 100], 0.5), rng.negative_binomial(2, 0.5)):
        assert counts.dtype == ta.int64
    rolls = np.asarray(rng.multinomial(60, [0.5, 0.2, 0.3], 20_000))
    assert rolls.shape == (20_000, 3) and (rolls.sum(1) == 60).all()
    np.testing.assert_allclose(rolls.mean(0), [30, 12, 18], rtol=0.02)
    np.testing.assert_allclose(np.cov(rolls.T)[0], [15, -6, -9], rtol=0.08)
    shares = np.asarray(rng.dirichlet([1.0, 2.0, 5.0], 20_000))
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(shares.mean(0), [0.125, 0.25, 0.625], atol=0.01)


def test_inverse_gaussian_numbers_of_a_large_mean_stay_positive():
    drawn = np.asarray(ta.random.default_rng(4).wald(1e4, 1.0, 50_000))
    assert (drawn > 0).all() and np.isfinite(drawn).all()
    assert abs(np.median(drawn) - 2.198) < 0.1  # 1 / x is nearly a squared normal number


def test_vectors_of_normal_numbers_have_their_covariance():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    drawn = ta.random.default_rng(9).multivariate_normal(mean, cov, 100_000)
    assert drawn.shape == (100_000, 2)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(np.asarray(drawn).T), cov, atol=0.03)


def test_a_generator_is_copied_with_its_place():
    rng = ta.random.default_rng(7)
    rng.random(3)
    again, kept = copy.copy(rng), pickle.loads(pickle.dumps(rng))
    expected = rng.normal(size=3).tolist()
    assert again.normal(size=3).tolist() == expected == kept.normal(size=3).tolist()
    assert ta.random.default_rng().key != ta.random.default_rng().key
    assert rng.fork().normal(size=2).shape == (2,)
    assert ta.random.default_rng(3).random(2).tolist() == ta.random.Generator(3).uniform(2).tolist()


def test_wrong_draws_say_what_is_wrong():
    rng = ta.random.default_rng(7)
    with pytest.raises(ValueError, match="without replacement"):
        rng.choice(3, 4, replace=False)
    with pytest.raises(ta.InvalidArgument, match="mean -1"):
        rng.poisson(-1.0)
    with pytest.raises(ta.InvalidArgument, match="no integer"):
        rng.binomial(2.5, 0.5)


def test_seeds_are_integers_several_or_a_sequence_of_numpy():
    draws = {}
    for seed in (7, [1, 2], (2, 1), [7], 2**70, np.random.SeedSequence(3), np.array([1, 3])):
        first, second = (ta.random.default_rng(seed).normal(size=4).tolist() for _ in range(2))
        assert first == second
        draws[repr(seed)] = tuple(first)
    assert len(set(draws.values())) == len(draws)
    assert ta.random.default_rng(np.int64(7)) == ta.random.default_rng(7) == ta.random.Generator(7)
    rng = ta.random.default_rng(1)
    assert ta.random.default_rng(rng) is rng
    assert ta.random.default_rng(ta.random.Generator(3, 2)).normal(size=2).shape == (2,)
    for wrong in (-1, [1, -2], []):
        with pytest.raises(ta.InvalidValue, match="not negative.*test_default_rng.py"):
            ta.random.default_rng(wrong)


def test_what_is_permuted_keeps_the_elements_of_each_vector():
    rng, x = ta.random.default_rng(3), np.arange(60.0).reshape(6, 10)
    along = np.asarray(rng.permuted(x, axis=1))
    assert (np.sort(along, 1) == x).all() and (along != x).any(1).all() and (along % 10 != along[0] % 10).any()
    assert (np.sort(np.asarray(rng.permuted(x, axis=0)), 0) == x).all()
    assert sorted(np.asarray(rng.permuted(x)).ravel()) == list(range(60))
    assert len(rng.bytes(7)) == 7 and rng.bytes(16) != rng.bytes(16)
