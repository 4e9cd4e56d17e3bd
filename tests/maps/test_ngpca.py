"""Neural gas with local PCA: likelihoods of the paper, schedules, invariances, batches, interruption."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from experiments.datasets import make_spiral_gaussian
from protolearn import NGPCA, MatrixNeuralGas
from protolearn.datasets import make_ring_line_square, make_spiral_uniform, make_vortex
from protolearn.maps import Ranks, _ngpca, _ngpca_kernels

RULES = ["rrlsa", "gram_schmidt", "sanger", "ccipca"]
QUICK = {"n_steps": 4000, "random_state": 0}


def clouds(seed=0, n=300, d=4):
    """Three flat clusters of different direction."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(n // 3, d)) * np.r_[4.0, 1.0, np.full(d - 2, 0.3)] @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        + 8 * rng.normal(size=d)
        for _ in range(3)
    ]
    return np.vstack(parts)


def likelihoods(make, n_prototypes, n_components, n_seeds=5, **options):
    """Mean log-likelihood of runs on samples of their own; the standard set of the paper unless told otherwise."""
    standard = {"range_end": 0.01, "learning_rate_end": 0.05, "variance_start": 1000.0}
    scores = []
    for seed in range(n_seeds):
        X = make(random_state=seed)[0]
        scores.append(NGPCA(n_prototypes, n_components, random_state=seed, **{**standard, **options}).fit(X).score(X))
    return float(np.mean(scores))


def assert_orthonormal(components):
    for rows in components:
        assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-9)


# Moeller and Hoffmann 2004, section 4.1


def test_ring_line_square():
    """Integrated learning, -10.85 in the paper, is better than neural gas with PCA afterwards, -11.09."""
    integrated = likelihoods(make_ring_line_square, 10, 2, range_start=1.0)
    two_stages = likelihoods(make_ring_line_square, 10, 2, range_start=1.0, algorithm="two-stage")
    assert -10.98 < integrated < -10.82
    assert -11.25 < two_stages < integrated - 0.1


def test_vortex():
    assert -10.36 < likelihoods(make_vortex, 20, 2, range_start=2.0) < -10.20


@pytest.mark.parametrize(("n_components", "paper"), [(3, -14.06), (1, -14.11)])
def test_first_spiral(n_components, paper):
    def make(random_state):
        return make_spiral_uniform(max_angle=4 * np.pi, random_state=random_state)

    assert abs(likelihoods(make, 12, n_components, range_start=1.0) - paper) < 0.12


def test_second_spiral():
    """A lower last rate leaves less noise in the variances."""
    options = {"range_start": 1.0, "variance_start": 1.0}
    standard = likelihoods(make_spiral_gaussian, 8, 1, **options)
    modified = likelihoods(make_spiral_gaussian, 8, 1, range_end=0.005, learning_rate_end=0.005, **options)
    assert -1.50 < modified < -1.34
    assert standard < modified


def test_combined_measure_is_needed():
    """Fig. 11: by the distance within the principal directions alone, prototypes come to lie off the samples."""
    options = {"range_start": 2.0, "n_seeds": 2}
    combined = likelihoods(make_vortex, 20, 1, **options)
    for measure, loss in (("mahalanobis", 0.4), ("reconstruction", 0.2), ("euclidean", 0.0)):
        assert likelihoods(make_vortex, 20, 1, measure=measure, **options) < combined - loss


@pytest.mark.parametrize("rule", RULES)
def test_every_online_pca_finds_the_arms_of_the_vortex(rule):
    assert likelihoods(make_vortex, 20, 2, n_seeds=1, online_pca=rule) > -10.5


def test_batch_is_as_good():
    X = make_vortex(random_state=0)[0]
    online = NGPCA(20, 2, random_state=0).fit(X).score(X)
    batch = NGPCA(20, 2, algorithm="batch", random_state=0).fit(X).score(X)
    assert batch > online - 0.15


# One prototype


@pytest.mark.parametrize("rule", RULES)
def test_one_prototype_learns_mean_and_principal_components(rule):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = rng.normal(size=(5000, 5)) * np.sqrt([100, 10, 1, 0.1, 0.01]) @ turn.T + 3
    one = NGPCA(1, 3, learning_rate_end=0.0005, online_pca=rule, random_state=0).fit(X)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    values, vectors = values[::-1], vectors[:, ::-1]
    assert_allclose(one.prototypes_[0], X.mean(axis=0), atol=0.5)
    assert_allclose(one.variances_[0], values[:3], rtol=0.1)
    assert_allclose(one.residual_variances_[0], values[3:].mean(), rtol=0.15)
    assert np.abs((one.components_[0] * vectors[:, :3].T).sum(axis=1)).min() > 0.99


# Schedules, over one fit and over many patches


@pytest.fixture
def presented(monkeypatch):
    """Every block of presentations: indices drawn, ranges, rates, number of steps before."""
    blocks = []
    loop = _ngpca_kernels.present

    def record(X, drawn, centers, axes, variances, residual, ranges, rates, *settings):
        blocks.append((drawn.copy(), ranges.copy(), rates.copy(), settings[-1]))
        loop(X, drawn, centers, axes, variances, residual, ranges, rates, *settings)

    monkeypatch.setattr(_ngpca_kernels, "present", record)
    return blocks


def courses(blocks):
    drawn, ranges, rates = (np.concatenate(parts) for parts in list(zip(*blocks))[:3])
    return drawn, ranges, rates


def test_range_and_rate_fall_by_the_same_factor_at_every_step(presented):
    X = clouds()
    options = {"range_start": 3.0, "range_end": 0.02, "learning_rate_start": 0.4, "learning_rate_end": 0.003}
    model = NGPCA(3, 1, n_steps=2500, random_state=0, **options).fit(X)
    drawn, ranges, rates = courses(presented)
    passed = np.arange(2500) / 2500
    assert_allclose(ranges, 3.0 * (0.02 / 3.0) ** passed)
    assert_allclose(rates, 0.4 * (0.003 / 0.4) ** passed)
    assert model.n_steps_ == 2500
    assert drawn.min() >= 0
    assert len(np.unique(drawn)) > 250


def test_patches_continue_the_schedule_and_hold_the_last_values(presented):
    X = clouds()
    model = NGPCA(3, 1, n_steps=500, range_start=2.0, random_state=0)
    for size in (200, 250, 300):
        model.partial_fit(X[:size])
    assert model.n_steps_ == 750
    _, ranges, rates = courses(presented)
    passed = np.minimum(np.arange(750) / 500, 1.0)
    assert_allclose(ranges, 2.0 * (0.01 / 2.0) ** passed)
    assert_allclose(rates, 0.5 * (0.005 / 0.5) ** passed)
    assert_array_equal([before for *_, before in presented], [0, 200, 450])
    assert_allclose(model.multiplicities_.sum(), 750)


def test_more_samples_after_a_fit_are_learned_at_the_last_rate(presented):
    X = clouds()
    model = NGPCA(3, 1, n_steps=1500, random_state=0).fit(X)
    before = model.prototypes_.copy()
    presented.clear()
    model.partial_fit(X)
    _, ranges, rates = courses(presented)
    assert_allclose(ranges, 0.01)
    assert_allclose(rates, 0.005)
    assert 0 < np.abs(model.prototypes_ - before).max() < 2
    presented.clear()
    model.fit(X)
    assert presented[0][-1] == 0  # anew
    assert_array_equal(model.prototypes_, before)


def test_iterator_of_patches_is_a_series_of_them():
    X = clouds()
    patches = np.split(X[np.random.default_rng(0).permutation(300)], 3)
    model = NGPCA(3, 1, n_steps=300, random_state=0)
    streamed = clone(model).fit(iter(patches))
    for patch in patches:
        model.partial_fit(patch)
    # not to the last bit: products of matrices are rounded by where their factors lie in memory
    assert_allclose(streamed.prototypes_, model.prototypes_, rtol=1e-12, atol=1e-12)
    assert_allclose(streamed.components_, model.components_, rtol=1e-12, atol=1e-12)
    assert streamed.n_steps_ == 300


def test_stream_follows_samples_that_move():
    rng = np.random.default_rng(0)
    model = NGPCA(1, 1, n_steps=2000, learning_rate_end=0.02, random_state=0)
    for shift in (0.0, 10.0):
        for _ in range(10):
            model.partial_fit(rng.normal(size=(300, 3)) * [3.0, 0.5, 0.5] + shift)
    assert_allclose(model.prototypes_, 10.0, atol=1.5)
    assert 4 < model.variances_[0, 0] < 16


def test_two_stages_need_all_samples_at_once():
    assert hasattr(NGPCA(3), "partial_fit")
    assert not hasattr(NGPCA(3, algorithm="two-stage"), "partial_fit")


def test_two_stages_have_the_centers_of_neural_gas():
    """The first stage ranks by Euclidean distance, so does this measure; the second leaves centers where they are."""
    X = clouds()
    two = NGPCA(3, 2, algorithm="two-stage", **QUICK).fit(X)
    gas = NGPCA(3, 2, measure="euclidean", **QUICK).fit(X)
    assert_allclose(two.prototypes_, gas.prototypes_, atol=1e-9)
    regions = ((X[:, None] - two.prototypes_) ** 2).sum(axis=2).argmin(axis=1)
    for i, center in enumerate(two.prototypes_):
        gaps = X[regions == i] - center
        assert_allclose(two.variances_[i, 0], np.linalg.eigvalsh(gaps.T @ gaps / len(gaps))[-1], rtol=0.35)


# The same data, given in different ways


@pytest.mark.parametrize("algorithm", ["online", "batch", "two-stage"])
def test_repeatable(algorithm):
    X = clouds()
    model = NGPCA(3, 2, algorithm=algorithm, n_steps=2000, max_iter=10, random_state=3)
    first, second = clone(model).fit(X), clone(model).set_params(n_jobs=2).fit(X)
    for name in ("prototypes_", "components_", "variances_", "residual_variances_", "weights_"):
        assert_array_equal(getattr(first, name), getattr(second, name))
    if algorithm != "batch":
        assert not np.array_equal(first.prototypes_, clone(model).set_params(random_state=4).fit(X).prototypes_)


@pytest.mark.parametrize("algorithm", ["online", "batch", "two-stage"])
@pytest.mark.parametrize("n_components", [2, 4])
def test_scale_and_place_of_the_data(algorithm, n_components):
    """L falls by d ln s. Offsets cost a little precision, and a long run forgives it."""
    X = clouds()
    model = NGPCA(3, n_components, algorithm=algorithm, n_steps=1000, max_iter=10, random_state=0)
    plain = clone(model).fit(X)
    scaled = clone(model).fit(0.01 * X)
    assert_allclose(scaled.prototypes_, 0.01 * plain.prototypes_, rtol=1e-6)
    assert_allclose(scaled.variances_, 1e-4 * plain.variances_, rtol=1e-6)
    assert_allclose(scaled.score(0.01 * X), plain.score(X) - 4 * np.log(0.01), rtol=1e-6)
    moved = clone(model).fit(X + 50)
    assert_allclose(moved.prototypes_ - 50, plain.prototypes_, atol=1e-6)
    assert_allclose(moved.variances_, plain.variances_, rtol=1e-5)
    given = clone(model).set_params(variance_start=2.0).fit(X)
    of_scaled = clone(model).set_params(variance_start=2e-4).fit(0.01 * X)
    assert_allclose(of_scaled.prototypes_, 0.01 * given.prototypes_, rtol=1e-6)


@pytest.mark.parametrize("algorithm", ["online", "batch", "two-stage"])
def test_order_and_repetition_of_samples(algorithm):
    X = clouds()
    rng = np.random.default_rng(0)
    order, weights = rng.permutation(300), rng.integers(0, 3, 300)
    weights[:10] = 1
    model = NGPCA(3, 2, algorithm=algorithm, n_steps=1000, max_iter=10, random_state=0)
    plain, shuffled = clone(model).fit(X), clone(model).fit(X[order])
    assert_allclose(shuffled.prototypes_, plain.prototypes_, atol=1e-8)
    assert_array_equal(shuffled.labels_, plain.labels_[order])
    weighted, repeated = clone(model).fit(X, sample_weight=weights), clone(model).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-8)
    assert_allclose(weighted.variances_, repeated.variances_, rtol=1e-6)
    assert_allclose(weighted.weights_, repeated.weights_)


@pytest.mark.parametrize("algorithm", ["online", "batch"])
def test_single_precision(algorithm):
    X = clouds()
    model = NGPCA(3, 2, algorithm=algorithm, n_steps=1000, max_iter=10, random_state=0)
    double, single = clone(model).fit(X), clone(model).fit(X.astype(np.float32))
    assert single.prototypes_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.score(X.astype(np.float32)), double.score(X), atol=0.05)


def test_refresh_changes_nothing_but_rounding(monkeypatch):
    X = clouds()
    found = []
    for refresh in (10, 10**6):
        monkeypatch.setattr(_ngpca, "REFRESH", refresh)
        found.append(NGPCA(3, 3, **QUICK).fit(X))
    often, never = found
    assert_allclose(often.prototypes_, never.prototypes_, atol=1e-6)
    for model in (often, never):
        assert_orthonormal(model.components_)


# Batches


@pytest.mark.parametrize("measure", ["combined", "euclidean", "reconstruction"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_batch_cost_never_rises_at_a_fixed_range(measure, n_components):
    X = clouds(1)
    for range_ in (0.1, 1.0):
        options = {"algorithm": "batch", "max_iter": 40, "range_start": range_, "range_end": range_}
        model = NGPCA(3, n_components, measure=measure, init=X[[0, 100, 200]], **options).fit(X)
        costs = np.array(model.cost_history_)
        tiny = 1e-11 * max(np.abs(costs).max(), (X**2).sum() * 1e-3)
        assert np.diff(costs).max() <= tiny
        assert costs[-1] < costs[0]


def test_batch_is_matrix_neural_gas_with_logarithmic_volumes():
    X = clouds(2)
    options = {"init": X[[0, 100, 200]], "max_iter": 12}
    ranks = Ranks((1.0, 0.01))
    for q in (1, 4):
        local = NGPCA(3, q, algorithm="batch", range_start=1.0, **options).fit(X)
        shape = {"n_components": q, "normalization": "logdet", "regularization": "floor"}
        matrix = MatrixNeuralGas(3, neighborhood=ranks, **shape, **options).fit(X)
        assert_allclose(local.prototypes_, matrix.prototypes_, atol=1e-9)
        assert_allclose(local.covariances_, matrix.covariances_, atol=1e-9)
        assert_allclose(local.cost_history_, matrix.cost_history_)


def test_batch_patches_keep_the_spread_of_earlier_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) * [3.0, 1.0, 0.2]
    model = NGPCA(1, 1, algorithm="batch", max_iter=3, random_state=0)
    for patch in np.split(X, 4):
        model.partial_fit(patch)
    whole = NGPCA(1, 1, algorithm="batch", max_iter=3, random_state=0).fit(X)
    assert_allclose(model.prototypes_, whole.prototypes_, atol=1e-9)
    assert_allclose(model.variances_, whole.variances_, rtol=0.02)
    assert_allclose(np.trace(model.covariances_[0]), np.trace(whole.covariances_[0]))


@pytest.mark.parametrize("algorithm", ["online", "two-stage", "batch"])
def test_several_starts(algorithm):
    """They are of the batch algorithm, where the lowest cost is kept."""
    X = clouds(3)
    model = NGPCA(5, 1, algorithm=algorithm, n_steps=1000, max_iter=10, init="random", random_state=0)
    one, many = clone(model).fit(X), clone(model).set_params(n_init=5).fit(X)
    if algorithm == "batch":
        assert many.cost_history_[-1] <= one.cost_history_[-1]
    else:
        assert_array_equal(many.prototypes_, one.prototypes_)


# What is stored


@pytest.mark.parametrize("algorithm", ["online", "batch", "two-stage"])
@pytest.mark.parametrize("n_components", [1, 3, 4])
def test_attributes(algorithm, n_components):
    X = clouds(4)
    model = NGPCA(3, n_components, algorithm=algorithm, n_steps=2000, max_iter=10, random_state=0).fit(X)
    assert model.components_.shape == (3, n_components, 4)
    assert (np.diff(model.variances_, axis=1) <= 0).all()
    assert (model.variances_ > 0).all()
    if n_components == 4:
        assert_array_equal(model.residual_variances_, 0)
    else:
        assert (model.residual_variances_ > 0).all()
    counts = np.bincount(model.labels_, minlength=3)
    assert_allclose(model.weights_, counts / 300)
    assert_allclose(model.multiplicities_, counts)
    assert_allclose(2 * model.log_volumes_, np.linalg.slogdet(model.covariances_)[1])
    assert model.n_steps_ == (0 if algorithm == "batch" else 2000)
    assert model.n_iter_ >= 1


# Interruption


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_interrupted_training_keeps_what_it_has(method, monkeypatch):
    X = clouds(5, 3000)
    monkeypatch.setattr(_ngpca, "BLOCK", 500)
    loop, calls = _ngpca_kernels.present, []

    def interrupt(*arguments):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(1)
        loop(*arguments)

    monkeypatch.setattr(_ngpca_kernels, "present", interrupt)
    model = NGPCA(3, 2, n_steps=3000, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(X)
    assert model.n_steps_ == 1000
    assert np.isfinite(model.score(X))
    calls.clear()
    calls.append(1)
    monkeypatch.setattr(_ngpca_kernels, "present", loop)
    model.partial_fit(X)
    assert model.n_steps_ == 4000


def test_pickled_stream_goes_on_where_it_was():
    X = clouds(6)
    model = NGPCA(3, 2, n_steps=900, random_state=0).partial_fit(X)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.partial_fit(X).prototypes_, model.partial_fit(X).prototypes_)
    assert copied.n_steps_ == 600


def test_clone_starts_anew():
    X = clouds(6)
    model = NGPCA(3, 2, range_start=1.5, online_pca="sanger", **QUICK).fit(X)
    fresh = clone(model)
    assert not hasattr(fresh, "n_steps_")
    assert fresh.get_params() == model.get_params()
    assert_array_equal(fresh.fit(X).prototypes_, model.prototypes_)


# Degenerate data and bad input


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.pairwise(
    data=["constant column", "all constant", "two points", "on a line", "far outlier"],
    rule=RULES,
    algorithm=["online", "batch", "two-stage"],
)
def test_degenerate_data_give_finite_maps(algorithm, rule, data):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    if data == "constant column":
        X[:, 1] = 5
    elif data == "all constant":
        X[:] = 5
    elif data == "two points":
        X = np.repeat(X[:2], 30, axis=0)
    elif data == "on a line":
        X = X[:, :1] * [1.0, 2.0, 3.0]
    else:
        X[0] = 1e6
    for q in (1, 2, 3):
        model = NGPCA(2, q, algorithm=algorithm, online_pca=rule, n_steps=500, max_iter=5, random_state=0).fit(X)
        for name in ("prototypes_", "components_", "variances_", "residual_variances_", "log_volumes_"):
            assert np.isfinite(getattr(model, name)).all(), name
        assert np.isfinite(model.distances(X)).all()
        assert not np.isnan(model.score_samples(X)).any()
        assert_orthonormal(model.components_)


@pytest.mark.parametrize("algorithm", ["online", "two-stage"])
@pytest.mark.parametrize("rule", RULES)
def test_more_directions_than_samples_span(algorithm, rule):
    """Where samples do not vary, directions stay orthonormal and variances at the smallest allowed."""
    rng = np.random.default_rng(0)
    for n, d, k, q in ((30, 90, 1, 45), (15, 30, 2, 20)):
        X = rng.normal(size=(n, d))
        model = NGPCA(k, q, algorithm=algorithm, online_pca=rule, n_steps=3000, random_state=0).fit(X)
        assert np.isfinite(model.score(X))
        assert_orthonormal(model.components_)
        assert (model.variances_ > 0).all()
        if k == 1:
            assert_allclose(model.variances_[0, n:], model.variances_[0, -1], rtol=1e-6)
            assert model.variances_[0, -1] < 1e-3 * model.variances_[0, 0]


def test_bad_input_is_refused():
    X = clouds(7)
    for name, value in (
        ("algorithm", "offline"),
        ("measure", "manhattan"),
        ("online_pca", "oja"),
        ("n_steps", 0),
        ("n_prototypes", 0),
        ("n_components", 0),
        ("range_start", -1.0),
        ("range_end", 0.0),
        ("learning_rate_start", 1.5),
        ("learning_rate_end", 0.0),
        ("variance_start", 0.0),
        ("epsilon", -1.0),
    ):
        with pytest.raises(ValueError, match=name):
            NGPCA(3, 1).set_params(**{name: value}).fit(X)
    with pytest.raises(ValueError, match="n_components=5 is more than the 4 features"):
        NGPCA(3, 5).fit(X)
    with pytest.raises(ValueError, match="fewer than the 3 prototypes"):
        NGPCA(3, 1).fit(X[:2])
    with pytest.raises(ValueError, match="fewer than the 3 prototypes"):
        NGPCA(3, 1).partial_fit(X[:2])
    bad = X.copy()
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        NGPCA(3, 1).fit(bad)
    fitted = NGPCA(3, 1, n_steps=500, random_state=0).fit(X)
    with pytest.raises(ValueError, match="4 prototypes, but the current map has 3"):
        fitted.set_params(n_prototypes=4).partial_fit(X)
