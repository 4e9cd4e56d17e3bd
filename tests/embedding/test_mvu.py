import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import ConvergenceWarning

from protolearn import MVU
from protolearn.datasets import make_swiss_roll

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def strip():
    """Part of a roll, which is a plane rectangle bent by three quarters of a turn."""
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * rng.uniform(size=120), 2.0 * rng.uniform(size=120)
    return np.column_stack([np.cos(t), height, np.sin(t)]), np.column_stack([t, height])


def edge_lengths(X, k):
    distances = cdist(X, X)
    near = np.argsort(distances, axis=1)[:, 1 : k + 1]
    return distances[np.arange(len(X))[:, None], near], near


def test_a_bent_strip_is_laid_flat_and_neighbors_keep_their_distances(strip):
    X, flat = strip
    view = MVU(n_neighbors=6, method="low_rank", tol=1e-3, random_state=0).fit(X)
    lengths, near = edge_lengths(X, 6)
    shown = np.linalg.norm(view.coordinates_[:, None] - view.coordinates_[near], axis=2)
    unit = np.sqrt(np.square(lengths).mean())
    assert np.abs(shown - lengths).max() < 5e-3 * unit
    assert view.edge_error_ < 5e-3
    assert view.eigenvalues_.sum() > np.square(X - X.mean(axis=0)).sum()  # the data themselves are allowed
    assert procrustes(flat, view.embedding_)[2] < 0.01


def test_a_spiral_ribbon_is_unrolled_to_a_thousandth_of_its_rods():
    turn, height = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 2 * np.pi, 16), 0.6 * np.arange(4)))
    X = np.column_stack([(2 + turn) * np.cos(turn), (2 + turn) * np.sin(turn), height])
    view = MVU(n_neighbors=6, method="low_rank", tol=1e-3, random_state=0).fit(X)
    lengths, near = edge_lengths(X, 6)
    shown = np.linalg.norm(view.coordinates_[:, None] - view.coordinates_[near], axis=2)
    assert np.abs(shown - lengths).max() < 1.1e-3 * np.sqrt(np.square(lengths).mean())
    assert view.edge_error_ < 1e-3
    assert view.eigenvalues_[:2].sum() > 0.9999 * view.eigenvalues_.sum()
    assert view.eigenvalues_.sum() > 2 * np.square(X - X.mean(axis=0)).sum()


@pytest.mark.parametrize("constraint", ["equal", "shrink", "slack"])
def test_both_methods_find_the_same(constraint):
    X = make_swiss_roll(30, noise=0.0, random_state=0)[0]
    options = {"n_neighbors": 6, "constraint": constraint, "random_state": 0}
    convex, quick = (MVU(method=method, **options).fit(X) for method in ("sdp", "low_rank"))
    assert convex.eigenvalues_.sum() == pytest.approx(quick.eigenvalues_.sum(), rel=0.01)
    assert procrustes(convex.embedding_, quick.embedding_)[2] < 1e-3
    assert (convex.method_, quick.method_) == ("sdp", "low_rank")


def test_a_plane_stays_as_it_is_wherever_it_lies():
    rng = np.random.default_rng(1)
    flat = rng.uniform(size=(60, 2)) * [2.0, 1.0]
    turned = flat @ np.linalg.qr(rng.normal(size=(4, 2)))[0].T + 5.0
    for X in (flat, turned, 1e6 * turned):
        view = MVU(n_neighbors=20, method="low_rank", tol=1e-3, random_state=0).fit_transform(X)
        np.testing.assert_allclose(pdist(view), pdist(X), atol=0.02 * pdist(X).max())


def test_half_a_circle_becomes_a_line():
    t = np.linspace(0, np.pi, 40)
    line = MVU(1, n_neighbors=2, method="low_rank", tol=1e-3).fit_transform(np.column_stack([np.cos(t), np.sin(t)]))
    assert np.ptp(line) == pytest.approx(np.pi, rel=0.01)
    assert (np.diff(line[:, 0]) * np.sign(line[-1, 0] - line[0, 0]) > 0).all()


def test_strings_may_shrink_and_never_grow():
    X = make_swiss_roll(60, noise=0.0, random_state=1)[0]
    equal, shrink = (
        MVU(n_neighbors=6, method="low_rank", constraint=c, random_state=0).fit(X) for c in ("equal", "shrink")
    )
    lengths, near = edge_lengths(X, 6)
    shown = np.linalg.norm(shrink.coordinates_[:, None] - shrink.coordinates_[near], axis=2)
    assert (shown - lengths).max() < 0.02 * np.sqrt(np.square(lengths).mean())
    assert shrink.eigenvalues_.sum() > 0.99 * equal.eigenvalues_.sum()


def test_dissimilarities_and_a_graph_of_neighbors_say_the_same(strip):
    X, _ = strip
    by_vectors = MVU(n_neighbors=6, method="low_rank", random_state=0).fit(X)
    D = cdist(X, X)
    by_distances = MVU(n_neighbors=6, method="low_rank", metric="precomputed", random_state=0).fit(D)
    _, near = edge_lengths(X, 6)
    graph = sparse.csr_array((np.ones(near.size), (np.repeat(np.arange(120), 6), near.ravel())), shape=(120, 120))
    by_graph = MVU(connectivity=graph, method="low_rank", random_state=0).fit(X)
    for other in (by_distances, by_graph):
        assert procrustes(by_vectors.embedding_, other.embedding_)[2] < 1e-3


def test_samples_that_are_the_same_have_one_place(strip):
    X, _ = strip
    copies = np.vstack([X, X[:5]])
    view = MVU(n_neighbors=6, method="low_rank", random_state=0).fit_transform(copies)
    np.testing.assert_allclose(view[120:], view[:5])


def test_distances_that_no_points_have_shrink_or_give_in():
    D = np.ones((12, 12)) - np.eye(12)
    D[0, 1:] = D[1:, 0] = 0.1  # all others are one apart, and 0.1 from the first
    with pytest.warns(ConvergenceWarning, match="slack"):
        MVU(n_neighbors=11, metric="precomputed", max_iter=200, random_state=0).fit(D)
    options = {"n_neighbors": 11, "metric": "precomputed", "method": "low_rank", "random_state": 0}
    strings = MVU(constraint="shrink", **options).fit(D)
    shown = cdist(strings.coordinates_, strings.coordinates_)
    assert (shown - D).max() < 0.01
    assert shown[1:, 1:].max() < 0.21
    springs = MVU(constraint="slack", **options).fit(D)
    # Squared radius a of the others around the first: the least of 11 (a - 0.01)^2 + 55 (2 a - 1)^2.
    radius, unit = np.sqrt(220.22 / 462.0), np.sqrt((11 * 0.01 + 55) / 66)
    assert springs.edge_error_ == pytest.approx((radius - 0.1) / unit, rel=0.02)


def test_neighbors_at_distance_zero_that_chain_all_samples_are_refused():
    D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    D[D == 1.0] = 0.0  # each like the next, and yet the first and the last are far apart
    with pytest.raises(ValueError, match="distance zero"):
        MVU(n_neighbors=3, metric="precomputed", method="low_rank").fit(D)


def test_objects_with_the_same_distances_have_one_place():
    D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    copies = np.append(np.arange(10), [3, 3])
    view = MVU(1, n_neighbors=3, metric="precomputed", random_state=0).fit_transform(D[np.ix_(copies, copies)])
    np.testing.assert_array_equal(view[10:], view[[3, 3]])


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_components_are_joined_by_the_shortest_rods(metric):
    """Three groups on a line, from which every sample has two neighbors in its own: only the gaps are long."""
    x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.5, 30.0, 31.0, 32.0])
    X = x[:, None] if metric == "euclidean" else np.abs(x[:, None] - x)
    mvu = MVU(1, n_neighbors=2, metric=metric, method="low_rank", tol=1e-3, random_state=0)
    with pytest.warns(UserWarning, match="n_neighbors=2.* falls into 3 components, of 3, 3, 3 .*Raise n_neighbors"):
        places = np.sort(mvu.fit_transform(X)[:, 0])
    np.testing.assert_allclose(min((places - places[0], places[-1] - places[::-1]), key=lambda p: abs(p - x).sum()), x,
                               atol=0.1)  # fmt: skip


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_samples_within_a_radius_are_joined(strip, metric):
    X = strip[0][:60]
    D = cdist(X, X)
    radius = np.sort(D, axis=1)[:, 3].max()
    given = X if metric == "euclidean" else D
    options = {"metric": metric, "max_iter": 50, "method": "low_rank", "random_state": 0}
    found = MVU(radius=radius, **options).fit(given)
    same = MVU(connectivity=(D > 0.0) & (radius >= D), **options).fit(given)
    np.testing.assert_allclose(found.embedding_, same.embedding_, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_only_the_largest_component_is_unfolded(strip, metric):
    X = np.vstack([strip[0][:40], strip[0][:5] + 50.0])
    given = X if metric == "euclidean" else cdist(X, X)
    options = {"n_neighbors": 4, "metric": metric, "max_iter": 50, "method": "low_rank", "random_state": 0}
    with pytest.warns(UserWarning, match="of 40, 5 objects. Only the largest takes part; the other 5 are left out"):
        found = MVU(components="largest", **options).fit(given)
    alone = MVU(**options).fit(given[:40] if metric == "euclidean" else given[:40, :40])
    assert np.isnan(found.embedding_[40:]).all()
    assert np.isnan(found.coordinates_[40:]).all()
    size = np.abs(alone.embedding_).max()
    np.testing.assert_allclose(found.embedding_[:40], alone.embedding_, atol=1e-6 * size)
    assert found.edge_error_ == pytest.approx(alone.edge_error_, abs=1e-6)
    with pytest.raises(ValueError, match="falls into 2 components, of 40, 5 objects, with no path between them"):
        MVU(components="raise", **options).fit(given)
    with (
        pytest.raises(ValueError, match="largest component has 1 samples, too few"),
        pytest.warns(UserWarning, match="left out"),
    ):
        MVU(radius=1e-9, components="largest").fit(X)


def test_bad_input_is_named(strip):
    X, _ = strip
    far = np.vstack([X, X + 100.0])
    apart = sparse.block_diag([sparse.coo_array(np.ones((len(X), len(X))))] * 2)
    with pytest.raises(ValueError, match="2 components"):
        MVU(connectivity=apart).fit(far)
    with pytest.raises(ValueError, match="sdp"):
        MVU(method="sdp").fit(np.random.default_rng(0).normal(size=(300, 3)))
    with pytest.raises(ValueError, match="same"):
        MVU().fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match="constraint"):
        MVU(constraint="loose").fit(X)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        MVU(n_neighbors=6, method="low_rank", max_iter=1, tol=1e-6).fit(X)
