"""Every mapping takes gradients of every cost back to its parameters as central differences do."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from protolearn import LGMLVQ, NGPCA, KMeans, MatrixNeuralGas, NeuralGas
from protolearn.core.threads import Threads
from protolearn.embedding._base import ViewSamples
from protolearn.embedding.costs import (
    isomap,
    laplacian,
    lle,
    mds,
    mvu,
    nerv,
    sammon,
    sne,
    strain,
    tnerv,
    tsne,
)
from protolearn.embedding.mappings import (
    MAPPINGS,
    FreeMapping,
    LinearMapping,
    LocalLinearMapping,
    NeighborMapping,
    NetworkMapping,
    get_mapping,
)

COSTS = {
    "tsne": tsne(8.0),
    "sne": sne(8.0),
    "nerv": nerv(8.0, 0.3),
    "tnerv": tnerv(8.0, 0.7),
    "mds": mds(),
    "sammon": sammon(),
    "isomap": isomap(8),
    "strain": strain(),
    "mvu": mvu(8),
    "lle": lle(8),
    "laplacian": laplacian(8),
}
LOCAL = {
    "crisp": LocalLinearMapping(KMeans(4, random_state=0), n_coordinates=3),
    "rank": LocalLinearMapping(NeuralGas(4, random_state=0), n_coordinates=3, gating="rank"),
    "density": LocalLinearMapping(MatrixNeuralGas(3, random_state=0), n_coordinates=2),
    "distance": LocalLinearMapping(LGMLVQ(n_components=2, random_state=0), regularization=0.0),
    "default": LocalLinearMapping(),
}
MADE = {
    "linear": LinearMapping(),
    "network": NetworkMapping((7, 6)),
    "neighbors": NeighborMapping(),
    "free": FreeMapping(),
} | LOCAL


def rng(seed=0):
    return np.random.RandomState(seed)


def samples(n=40, seed=0):
    """Return samples of five features, and two classes."""
    X = rng(seed).normal(size=(n, 5)) * [2.0, 1.5, 1.0, 0.7, 0.5] + 3.0
    return X, (X[:, 0] > 3.0).astype(int)


def made(name, n_components=2, n=40):
    """Return a mapping of samples, and parameters with which they lie about at random."""
    X, y = samples(n)
    fitted = MADE[name].fitted(X, y, n_components, rng())
    theta = fitted.start(rng(1).normal(size=(n, n_components)))
    return fitted, theta + 0.1 * rng(2).normal(size=theta.shape)


def objective(cost, n=40):
    return cost.objective(ViewSamples(samples(n)[0], None, 1.0), Threads(), rng())


def assert_slopes(function, theta, n_places=8, step=1e-5):
    """Compare some derivatives with central differences."""
    gradient = function(theta)[1]
    assert gradient.shape == theta.shape
    places = rng(5).permutation(theta.size)[:n_places]
    steps = step * np.eye(theta.size)[places]
    expected = [(function(theta + h)[0] - function(theta - h)[0]) / (2.0 * step) for h in steps]
    np.testing.assert_allclose(gradient[places], expected, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


# Gradients


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", MADE)
def test_gradient_by_parameters(name, cost):
    (fitted, theta), function = made(name), objective(COSTS[cost])

    def value(parameters):
        error, gradient = function(fitted.forward(parameters))
        return error, fitted.pull(parameters, gradient)

    assert_slopes(value, theta)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("n_components", [1, 3])
def test_gradient_in_other_dimensions(name, n_components):
    (fitted, theta), function = made(name, n_components), objective(COSTS["tsne"])

    def value(parameters):
        error, gradient = function(fitted.forward(parameters))
        return error, fitted.pull(parameters, gradient)

    assert_slopes(value, theta)


@pytest.mark.parametrize("name", MADE)
def test_gradient_of_the_penalty(name):
    fitted, theta = made(name)
    if name in set(LOCAL) - {"distance"}:
        assert fitted.penalty(theta, fitted.forward(theta))[0] > 0.0
    assert_slopes(lambda parameters: fitted.penalty(parameters, fitted.forward(parameters)), theta)


def t_sne_forces(X, Y, perplexity=8.0):
    """Return ``C_ij = (p_ij - q_ij) / (1 + |y_i - y_j|^2)`` of t-SNE by loops."""
    p = COSTS["tsne"].data.of(ViewSamples(X, None, 1.0), Threads(), rng())
    p = p if isinstance(p, np.ndarray) else p.toarray()
    n = len(X)
    kernel = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                kernel[i, j] = 1.0 / (1.0 + np.square(Y[i] - Y[j]).sum())
    return (p - kernel / kernel.sum()) * kernel


def slopes_of_weights(fitted, theta, gradient):
    """Return the gradient by parameters that one by weights (p, c) of the solved map means."""
    steps = np.eye(len(theta))
    start = fitted.solved(np.zeros_like(theta), 1.0).weights
    return np.array([((fitted.solved(step, 1.0).weights - start) * gradient).sum() for step in steps])


def test_gradient_of_linear_t_sne_is_that_of_its_formula():
    # Bunte 2011, eq. 6.18
    (X, _), (fitted, theta) = samples(25), made("linear", n=25)
    A = fitted.solved(theta, 1.0).weights.T
    Y = X @ A.T
    C, expected = t_sne_forces(X, Y), np.zeros_like(A)
    for i in range(25):
        for j in range(25):
            expected += 2.0 * C[i, j] * np.outer(A @ X[i] - A @ X[j], X[i] - X[j])
    found = fitted.pull(theta, objective(COSTS["tsne"], 25)(fitted.forward(theta))[1])
    np.testing.assert_allclose(found, slopes_of_weights(fitted, theta, expected.T), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ["crisp", "rank", "density"])
def test_gradient_of_local_t_sne_is_that_of_its_formulas(name):
    # Bunte 2011, eq. 6.22 and 6.23
    (X, _), (fitted, theta) = samples(25), made(name, n=25)
    charts, Y = fitted.charts, fitted.forward(theta)
    C, z, r = t_sne_forces(X, Y), charts.coordinates(X), charts.shares(X)
    k, m = z.shape[1:]
    expected = np.zeros((k, m + 1, 2))
    for chart in range(k):
        for i in range(25):
            for j in range(25):
                gap = 2.0 * C[i, j] * (Y[i] - Y[j])
                expected[chart, m] += gap * (r[i, chart] - r[j, chart])
                expected[chart, :m] += np.outer(r[i, chart] * z[i, chart] - r[j, chart] * z[j, chart], gap)
    found = fitted.pull(theta, objective(COSTS["tsne"], 25)(Y)[1])
    by_weights = slopes_of_weights(fitted, theta, expected.reshape(-1, 2))
    np.testing.assert_allclose(found, by_weights, rtol=1e-7, atol=1e-10)


# What a solved map does


@pytest.mark.parametrize("name", sorted(set(MADE) - {"free"}))
def test_solved_map_places_training_samples_as_the_parameters_do(name):
    (X, _), (fitted, theta) = samples(), made(name)
    solved, positions = fitted.solved(theta, 3.0), 3.0 * fitted.forward(theta)
    np.testing.assert_allclose(solved.place(X), positions, atol=1e-9)
    single = solved.place(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, positions, atol=1e-3 * np.abs(positions).max())


def test_free_positions_have_no_map():
    fitted, theta = made("free")
    assert fitted.solved(theta, 1.0) is None
    np.testing.assert_array_equal(fitted.forward(theta), theta.reshape(40, 2))


@pytest.mark.parametrize("name", ["linear", "crisp", "rank", "density"])
def test_start_of_what_is_linear_is_the_nearest(name):
    (X, y), wanted = samples(), rng(3).normal(size=(40, 2))
    mapping = (
        MADE[name] if name == "linear" else LocalLinearMapping(LOCAL[name].model, regularization=0.0, n_coordinates=2)
    )
    fitted = mapping.fitted(X, y, 2, rng())
    theta = fitted.start(wanted)
    best = np.square(fitted.forward(theta) - wanted).sum()
    for seed in range(20):
        other = theta + 1e-2 * rng(seed).normal(size=theta.shape)
        assert np.square(fitted.forward(other) - wanted).sum() > best


def test_white_features_are_white():
    for name in ("linear", "crisp", "rank", "density"):
        mapping = MADE[name] if name == "linear" else LocalLinearMapping(LOCAL[name].model, regularization=0.0)
        fitted = mapping.fitted(*samples(), 2, rng())
        size = len(fitted.start(np.zeros((40, 2)))) // 2
        steps = [fitted.forward(np.eye(2 * size)[2 * i])[:, 0] for i in range(size)]
        np.testing.assert_allclose(np.array(steps) @ np.array(steps).T / 40, np.eye(size), atol=1e-8)


@pytest.mark.parametrize("name", ["linear", "crisp", "rank", "network"])
def test_directions_in_which_samples_hardly_vary_have_no_part(name):
    X, y = samples(60)
    thin = np.column_stack([X, np.full(60, 0.1), 1e-13 * rng(4).normal(size=60)])
    mapping = (
        LocalLinearMapping(KMeans(3, random_state=0), n_coordinates=7, gating=name) if name in LOCAL else MADE[name]
    )
    fitted = mapping.fitted(thin, y, 2, rng())
    solved = fitted.solved(fitted.start(rng(1).normal(size=(60, 2))), 1.0)
    pushed = thin.copy()
    pushed[:, 5:] += 1e-9
    np.testing.assert_allclose(solved.place(pushed), solved.place(thin), atol=1e-4)


@pytest.mark.parametrize("name", ["linear", "crisp", "rank", "network"])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e9, 1e150])
def test_parameters_mean_the_same_at_all_scales(name, scale):
    X, y = samples()
    one, scaled = (MADE[name].fitted(s * X, y, 2, rng()) for s in (1.0, scale))
    wanted = rng(3).normal(size=(40, 2))
    expected = one.forward(one.start(wanted))
    np.testing.assert_allclose(scaled.forward(scaled.start(wanted)), expected, atol=1e-5)


@pytest.mark.parametrize("d", [2, 5])
def test_way_back_of_an_orthonormal_map_is_exact(d):
    X = rng().normal(size=(50, d)) + 7.0
    fitted = LinearMapping().fitted(X, None, d, rng())
    turn = np.linalg.qr(rng(1).normal(size=(d, d)))[0]
    solved = fitted.solved(fitted.start((X - X.mean(axis=0)) @ turn), 1.0)
    np.testing.assert_allclose(solved.weights, turn, atol=1e-10)
    np.testing.assert_allclose(solved.invert(solved.place(X)), X, atol=1e-10)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_way_back_of_principal_components_loses_the_other_eigenvalues(m):
    X = load_iris().data
    pca = PCA().fit(X)
    fitted = LinearMapping().fitted(X, None, m, rng())
    solved = fitted.solved(fitted.start(pca.transform(X)[:, :m]), 1.0)
    loss = np.square(X - solved.invert(solved.place(X))).sum() / (len(X) - 1)
    assert loss == pytest.approx(pca.explained_variance_[m:].sum(), rel=1e-8)


@pytest.mark.parametrize("name", ["crisp", "rank", "density"])
def test_way_back_of_charts_leads_to_where_it_came_from(name):
    fitted, theta = made(name)
    solved, Y = fitted.solved(theta, 1.0), rng(3).normal(size=(30, 2))
    charts = solved.charts
    blocks = solved.weights.reshape(len(charts), -1, 2)
    images = np.einsum("nkm,kmc->nkc", charts.coordinates(solved.invert(Y)), blocks[:, :-1]) + blocks[:, -1]
    assert np.abs(images - Y[:, None]).max(axis=2).min(axis=1).max() < 1e-8


def test_prototype_is_the_sample_of_its_position():
    (X, y), weights = samples(200), rng(1).normal(size=(20, 4, 2)) * 5.0
    fitted = LocalLinearMapping(KMeans(20, random_state=0), n_coordinates=3).fitted(X, y, 2, rng())
    solved = fitted.solved(fitted.start(np.zeros((200, 2))), 1.0)
    solved.weights[:] = weights.reshape(80, 2)
    centers = solved.charts.centers
    np.testing.assert_allclose(solved.invert(solved.place(centers)), centers, atol=1e-6)


# Charts of a local mapping


def test_default_charts_are_many_and_of_the_dimension_of_the_view():
    for n, k in ((8, 2), (60, 10), (600, 100)):
        fitted = LocalLinearMapping().fitted(samples(n)[0], None, 2, rng())
        assert fitted.charts.axes.shape == (k, 2, 5)
        assert fitted.charts.gating.kind == "crisp"


def test_given_charts_are_kept():
    X, y = samples(100)
    assert LocalLinearMapping(n_charts=5, n_coordinates=4).fitted(X, y, 2, rng()).charts.axes.shape == (5, 4, 5)
    model = NGPCA(3, 2, random_state=0).fit(X)
    fitted = LocalLinearMapping(FrozenEstimator(model), gating="rank").fitted(X, y, 2, rng())
    assert fitted.charts.model is model
    assert fitted.charts.gating.kind == "rank"
    supervised = LocalLinearMapping(LGMLVQ(n_components=3, random_state=0)).fitted(X, y, 2, rng())
    assert supervised.charts.gating.kind == "distance"
    assert set(supervised.charts.model.classes_) == {0, 1}


@pytest.mark.parametrize("gating", ["crisp", "rank", "distance", "density"])
def test_charts_in_one_place_do_no_harm(gating):
    X = np.repeat(samples(6)[0], 8, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct"):
        fitted = LocalLinearMapping(KMeans(10, random_state=0), gating=gating).fitted(X, None, 2, rng())
    theta = fitted.start(rng(1).normal(size=(48, 2)))
    assert np.isfinite(theta).all()
    value, slopes = fitted.penalty(theta, fitted.forward(theta))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()


def test_stiffer_charts_throw_nearby_prototypes_less_far():
    X, wanted = samples(120)[0], rng(1).normal(size=(120, 2))
    thrown = []
    for weight in (0.0, 0.1, 10.0):
        fitted = LocalLinearMapping(n_charts=20, regularization=weight).fitted(X, None, 2, rng())
        weights = fitted.solved(fitted.start(wanted), 1.0).weights.reshape(20, 3, 2)[:, :2]
        thrown.append(np.square(weights).sum())
    assert thrown[0] > thrown[1] > thrown[2]


# Names


def test_names_and_models_are_mappings():
    assert {name: type(get_mapping(name)) for name in MAPPINGS} == {
        "linear": LinearMapping,
        "local": LocalLinearMapping,
        "network": NetworkMapping,
        "neighbors": NeighborMapping,
        "free": FreeMapping,
    }
    model = KMeans(3)
    assert get_mapping(model) == LocalLinearMapping(model)
    assert get_mapping(LinearMapping()) == LinearMapping()


def test_mappings_of_ones_own_are_taken():
    class Own:
        def fitted(self, X, y, n_components, rng):
            return LinearMapping().fitted(X, y, n_components, rng)

    own = Own()
    assert get_mapping(own) is own


@pytest.mark.parametrize("mapping", ["other", None, 3, KMeans])
def test_what_is_no_mapping_is_refused(mapping):
    with pytest.raises(
        ValueError, match=r"mapping=.* must be one of 'linear', 'local', 'network', 'neighbors', 'free'"
    ):
        get_mapping(mapping)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(LocalLinearMapping, n_charts=0), "n_charts=0"),
        (partial(LocalLinearMapping, n_coordinates=0), "n_coordinates=0"),
        (partial(LocalLinearMapping, gating="soft"), "gating='soft'"),
        (partial(LocalLinearMapping, regularization=-1.0), "regularization=-1.0"),
        (partial(NetworkMapping, (10, 0)), "hidden=0"),
        (partial(NetworkMapping, (2.5,)), "hidden=2.5"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_more_coordinates_than_directions_are_refused():
    with pytest.raises(ValueError, match="n_components=6 is more than the 5 directions"):
        LocalLinearMapping(n_coordinates=6).fitted(*samples(), 2, rng())


# Networks


def test_network_is_a_network():
    (X, _), (fitted, theta) = samples(), made("network")
    solved = fitted.solved(theta, 1.0)
    assert [layer.shape for layer in solved.layers] == [(6, 7), (8, 6), (7, 2)]
    for x, y in zip(X, solved.place(X)):
        signal = (x - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean())
        for layer in solved.layers[:-1]:
            signal = np.array([max(0.0, signal @ layer[:-1, unit] + layer[-1, unit]) for unit in range(layer.shape[1])])
        np.testing.assert_allclose(signal @ solved.layers[-1][:-1] + solved.layers[-1][-1], y, atol=1e-9)


def test_network_starts_near_given_positions():
    X, _ = samples(200)
    fitted = NetworkMapping((50, 50)).fitted(X, None, 2, rng())
    wanted = PCA(2).fit_transform(X)
    gaps = fitted.forward(fitted.start(wanted)) - wanted
    assert np.square(gaps).sum() < 0.1 * np.square(wanted).sum()


def test_network_without_hidden_layers_is_linear():
    X, _ = samples()
    fitted = NetworkMapping(()).fitted(X, None, 2, rng())
    theta = fitted.start(rng(1).normal(size=(40, 2)))
    Y = fitted.forward(theta)
    padded = np.column_stack([X, np.ones(40)])
    np.testing.assert_allclose(padded @ np.linalg.lstsq(padded, Y, rcond=None)[0], Y, atol=1e-10)
