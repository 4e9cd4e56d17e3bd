"""Forces are the gradient of the divergence; those of a field and of a graph are the same as those of all pairs."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from protolearn.core.threads import Threads
from protolearn.embedding._exact import Exact
from protolearn.embedding._fast import Fast, _Edges
from protolearn.embedding._fields import CurveTable, Tree
from protolearn.embedding._neighbors import nearest_in_matrix
from protolearn.embedding.affinities import (
    GaussianKernel,
    StudentKernel,
    calibrated,
    conditional_affinities,
    joint_affinities,
)
from protolearn.embedding.divergences import (
    DIVERGENCES,
    Alpha,
    Beta,
    Bregman,
    CauchySchwarz,
    Csiszar,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    GeneralizedRenyi,
    Hellinger,
    ItakuraSaito,
    KullbackLeibler,
    NeRV,
    Renyi,
    ReverseGeneralizedKullbackLeibler,
    ReverseKullbackLeibler,
    Tsallis,
)


def cube(f):
    return f**3


def cube_slope(f):
    return 3.0 * f**2


def cube_curvature(f):
    return 6.0 * f


def pearson(u):
    return (u - 1.0) ** 2


def pearson_slope(u):
    return 2.0 * (u - 1.0)


NAMED = [family() for family in DIVERGENCES.values()]
OTHERS = [
    Alpha(-1.0),
    Alpha(2.0),
    Beta(0.2),
    Beta(1.5),
    Eta(1.3),
    Eta(3.0),
    Renyi(0.2),
    Renyi(2.0),
    GeneralizedRenyi(2.0),
    Tsallis(2.0),
    Gamma(0.05),
    Gamma(2.0),
    NeRV(0.0),
    NeRV(0.1),
    NeRV(1.0),
    ReverseGeneralizedKullbackLeibler(),
    Bregman(cube, cube_slope, cube_curvature),
    Csiszar(pearson, pearson_slope),
]
GENERIC = (Bregman, Csiszar)
KERNELS = [GaussianKernel(), StudentKernel(), StudentKernel(0.5), StudentKernel(3.0)]


def name(item):
    return type(item).__name__ if isinstance(item, GENERIC) else repr(item).replace("()", "")


def affinities(n, symmetric, seed, zeros=0.0):
    rng = np.random.default_rng(seed)
    p = rng.gamma(1.0, size=(n, n))
    p[rng.random((n, n)) < zeros] = 0.0
    p[np.arange(n), np.arange(n) - 1] += 0.1
    np.fill_diagonal(p, 0.0)
    if symmetric:
        p = p + p.T
    return p / p.sum(axis=None if symmetric else 1, keepdims=True)


def differences(function, points, h=1e-4):
    """Central differences of the fourth order."""
    gradient = np.empty_like(points)
    for place in np.ndindex(points.shape):
        e = np.zeros_like(points)
        e[place] = h
        near, far = function(points + e) - function(points - e), function(points + 2 * e) - function(points - 2 * e)
        gradient[place] = (8.0 * near - far) / (12.0 * h)
    return gradient


def view_affinities(points, kernel, symmetric):
    """Return q, r and the rate of decay of all pairs by plain loops, with a zero diagonal."""
    n = len(points)
    w, r = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                r[i, j] = ((points[i] - points[j]) ** 2).sum()
                if isinstance(kernel, GaussianKernel):
                    w[i, j] = np.exp(-r[i, j])
                else:
                    w[i, j] = (1.0 + r[i, j] / kernel.dof) ** (-(kernel.dof + 1.0) / 2.0)
    q = w / (w.sum() if symmetric else w.sum(axis=1, keepdims=True))
    rate = np.ones_like(r) if isinstance(kernel, GaussianKernel) else 0.5 * (kernel.dof + 1.0) / (kernel.dof + r)
    return q, r, rate


@pytest.mark.pairwise(divergence=NAMED + OTHERS, kernel=KERNELS, symmetric=[True, False], zeros=[0.0, 0.4])
def test_gradient_is_that_of_the_value(divergence, kernel, symmetric, zeros):
    divergence = divergence.limit()
    points = 0.7 * np.random.default_rng(1).normal(size=(6, 2))
    forces = Exact(affinities(6, symmetric, 2, zeros), kernel, symmetric)
    slow = differences(lambda Y: forces.value(Y, divergence), points)
    gradient = forces.step(points, divergence).gradient
    np.testing.assert_allclose(gradient, slow, rtol=1e-6, atol=1e-6 * np.abs(slow).max())


@pytest.mark.parametrize("d", [1, 3])
def test_gradient_in_other_dimensions(d):
    points = np.random.default_rng(1).normal(size=(7, d))
    forces = Exact(affinities(7, False, 0), StudentKernel(2.0), False)
    slow = differences(lambda Y: forces.value(Y, Gamma()), points)
    np.testing.assert_allclose(forces.step(points, Gamma()).gradient, slow, atol=1e-8 * np.abs(slow).max() + 1e-9)


def brackets(divergence, p, q):
    """Forces of each pair under a joint distribution as printed for each family (specification 2.13)."""
    a = getattr(divergence, "alpha", None)
    if isinstance(divergence, KullbackLeibler):
        return p - q
    if isinstance(divergence, ItakuraSaito):
        return p / q - 1.0 + q * np.sum(1.0 - p / q)
    if isinstance(divergence, Eta):
        e = divergence.eta
        return e * (e - 1.0) * ((p - q) * q ** (e - 1.0) - q * np.sum((p - q) * q ** (e - 1.0)))
    if isinstance(divergence, Beta):
        b = divergence.beta
        return q ** (b - 1.0) * (p - q) - q * np.sum(q ** (b - 1.0) * (p - q))
    if isinstance(divergence, Alpha):
        return (p**a * q ** (1.0 - a) - q * np.sum(p**a * q ** (1.0 - a))) / a
    if isinstance(divergence, GeneralizedRenyi):
        s = np.sum(p**a * q ** (1.0 - a) - a * p + (a - 1.0) * q)
        return (p**a * q ** (1.0 - a) - q * np.sum(p**a * q ** (1.0 - a))) / (s + 1.0)
    if isinstance(divergence, Renyi):
        return p**a * q ** (1.0 - a) / np.sum(p**a * q ** (1.0 - a)) - q
    if isinstance(divergence, Tsallis):
        return p**a * q ** (1.0 - a) - q * np.sum(p**a * q ** (1.0 - a))
    if isinstance(divergence, Hellinger):
        return 0.5 * (np.sqrt(p * q) - q * np.sum(np.sqrt(p * q)))
    if isinstance(divergence, Gamma):
        g = divergence.gamma
        return p * q**g / np.sum(p * q**g) - q ** (g + 1.0) / np.sum(q ** (g + 1.0))
    raise NotImplementedError


PRINTED = [
    KullbackLeibler(),
    ItakuraSaito(),
    Eta(2.0),
    Eta(1.5),
    Beta(0.5),
    Beta(1.7),
    Alpha(0.5),
    Alpha(2.0),
    GeneralizedRenyi(0.5),
    Renyi(0.5),
    Renyi(2.0),
    Tsallis(0.5),
    Hellinger(),
    Gamma(0.5),
    Gamma(2.0),
    CauchySchwarz(),
]


@pytest.mark.parametrize("divergence", PRINTED, ids=name)
@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_brackets_as_printed(divergence, kernel):
    n = 8
    points = 0.4 * np.random.default_rng(3).normal(size=(n, 2))
    p = affinities(n, True, 4)
    q, _, rate = view_affinities(points, kernel, True)
    others = ~np.eye(n, dtype=bool)
    b = np.zeros((n, n))
    b[others] = brackets(divergence, p[others], q[others])
    np.testing.assert_allclose(b.sum(), 0.0, atol=1e-12 * np.abs(b).sum())
    c = b * rate
    expected = 4.0 * (c.sum(axis=1)[:, None] * points - c @ points)
    found = Exact(p, kernel, True).step(points, divergence).gradient
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_gradients_of_sne_and_tsne_by_plain_loops():
    n = 7
    points = np.random.default_rng(5).normal(size=(n, 2))
    p = affinities(n, False, 6)
    q, r, _ = view_affinities(points, GaussianKernel(), False)
    sne, tsne = np.zeros_like(points), np.zeros_like(points)
    joint = (p + p.T) / (2 * n)
    dof = 2.0
    t, _, _ = view_affinities(points, StudentKernel(dof), True)
    for i in range(n):
        for j in range(n):
            if i != j:
                apart = points[i] - points[j]
                sne[i] += 2.0 * apart * (p[i, j] - q[i, j] + p[j, i] - q[j, i])
                tsne[i] += 2.0 * (dof + 1.0) / dof * (joint[i, j] - t[i, j]) / (1.0 + r[i, j] / dof) * apart
    kl = KullbackLeibler()
    np.testing.assert_allclose(Exact(p, GaussianKernel(), False).step(points, kl).gradient, sne, atol=1e-13)
    np.testing.assert_allclose(Exact(joint, StudentKernel(dof), True).step(points, kl).gradient, tsne, atol=1e-13)
    value = sum(p[i, j] * np.log(p[i, j] / q[i, j]) for i in range(n) for j in range(n) if i != j)
    np.testing.assert_allclose(Exact(p, GaussianKernel(), False).value(points, kl), value)


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_gradient_of_the_retrieval_visualizer(c):
    n = 7
    points = np.random.default_rng(5).normal(size=(n, 2))
    p = affinities(n, False, 6)
    q, _, _ = view_affinities(points, GaussianKernel(), False)
    gradient = np.zeros_like(points)
    a = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        kl = sum(q[i, j] * np.log(q[i, j] / p[i, j]) for j in others)
        for j in others:
            a[i, j] = c * (p[i, j] - q[i, j]) - (1.0 - c) * q[i, j] * (np.log(q[i, j] / p[i, j]) - kl)
    for i in range(n):
        for j in range(n):
            gradient[i] += 2.0 * (a[i, j] + a[j, i]) * (points[i] - points[j])
    np.testing.assert_allclose(
        Exact(p, GaussianKernel(), False).step(points, NeRV(c).limit()).gradient, gradient, atol=1e-12
    )


@pytest.mark.parametrize("kernel", [GaussianKernel(), StudentKernel()], ids=name)
@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
def test_links_between_families(kernel, symmetric):
    points = np.random.default_rng(7).normal(size=(9, 2))
    forces = Exact(affinities(9, symmetric, 8), kernel, symmetric)

    def gradient(divergence):
        return forces.step(points, divergence.limit()).gradient

    def assert_same(first, second, factor=1.0, atol=1e-11):
        np.testing.assert_allclose(
            gradient(first), factor * gradient(second), atol=atol * np.abs(gradient(first)).max()
        )

    assert_same(Alpha(0.5), Hellinger(), 4.0)
    assert_same(Tsallis(0.7), Alpha(0.7), 0.7)
    assert_same(Eta(1.7), Beta(1.7), 1.7 * 0.7)
    assert_same(Gamma(1.0), CauchySchwarz())
    assert_same(GeneralizedRenyi(0.7), Renyi(0.7))
    assert_same(NeRV(1.0), KullbackLeibler())
    assert_same(NeRV(0.0), ReverseKullbackLeibler())
    assert_same(Gamma(1e-5), KullbackLeibler(), atol=1e-3)
    assert_same(Alpha(1.0 + 1e-5), KullbackLeibler(), atol=1e-3)
    if symmetric:
        renyi, tsallis = gradient(Renyi(0.3)).ravel(), gradient(Tsallis(0.3)).ravel()
        cosine = renyi @ tsallis / np.linalg.norm(renyi) / np.linalg.norm(tsallis)
        np.testing.assert_allclose(cosine, 1.0, atol=1e-12)


@pytest.mark.parametrize("divergence", NAMED, ids=name)
def test_forces_turn_with_the_view_and_cancel(divergence):
    rng = np.random.default_rng(9)
    points, p = rng.normal(size=(10, 2)), affinities(10, False, 10, 0.3)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    order = rng.permutation(10)
    forces, moved = Exact(p, StudentKernel(), False), Exact(p[order][:, order], StudentKernel(), False)
    step, other = forces.step(points, divergence), moved.step(points[order] @ turn + 3.0, divergence)
    size = np.abs(step.gradient).max()
    np.testing.assert_allclose(other.gradient, step.gradient[order] @ turn, atol=1e-10 * size)
    np.testing.assert_allclose(other.mass, step.mass)
    np.testing.assert_allclose(step.gradient.sum(axis=0), 0.0, atol=1e-11 * size)
    np.testing.assert_allclose(moved.value(points[order] @ turn + 3.0, divergence), forces.value(points, divergence))


@pytest.mark.parametrize("divergence", [KullbackLeibler(), Gamma(), NeRV(0.3)], ids=name)
def test_exaggeration_multiplies_the_pull_alone(divergence):
    points = np.random.default_rng(9).normal(size=(10, 2))
    forces = Exact(affinities(10, True, 1), StudentKernel(), True)
    push, net, stronger = (forces.step(points, divergence, factor).gradient for factor in (0.0, 1.0, 5.0))
    np.testing.assert_allclose(stronger, push + 5.0 * (net - push), atol=1e-14)


# Affinities of a view that are the kernel itself

MEASURES = [family() for family in DIVERGENCES.values() if family().of_measures]


def test_which_divergences_are_of_measures():
    assert {GeneralizedKullbackLeibler(), Beta(), ItakuraSaito(), Alpha(), Hellinger(), Gamma()} <= set(MEASURES)
    assert not {KullbackLeibler(), ReverseKullbackLeibler(), Renyi(), Tsallis()} & set(MEASURES)


@pytest.mark.parametrize("kernel", [GaussianKernel(), StudentKernel(), StudentKernel(0.5)], ids=name)
@pytest.mark.parametrize("divergence", [*MEASURES, Beta(0.5), Beta(1.7)], ids=name)
def test_gradient_of_measures_is_that_of_the_value(divergence, kernel):
    points = 0.7 * np.random.default_rng(1).normal(size=(6, 2))
    forces = Exact(affinities(6, True, 2), kernel, True)
    slow = differences(lambda Y: forces.value(Y, divergence, 7.0), points)
    gradient = forces.step(points, divergence, 1.0, 7.0).gradient
    np.testing.assert_allclose(gradient, slow, rtol=1e-6, atol=1e-6 * np.abs(slow).max())


@pytest.mark.parametrize("kernel", [GaussianKernel(), StudentKernel(), StudentKernel(3.0)], ids=name)
@pytest.mark.parametrize("b", [1.0, 0.5, 1.7, 2.0])
def test_measures_as_printed(b, kernel):
    """``C = -W kappa G`` with weights of any sum T (specification 2.13); a divergence of degree b has a factor T**b."""
    n, total = 8, 11.0
    points = 0.4 * np.random.default_rng(3).normal(size=(n, 2))
    p = affinities(n, True, 4)
    q, _, rate = view_affinities(points, kernel, True)
    w = kernel.weights(((points[:, None] - points) ** 2).sum(axis=2))
    np.fill_diagonal(w, 0.0)
    np.testing.assert_allclose(w / w.sum(), q)
    with np.errstate(divide="ignore", invalid="ignore"):
        c = np.where(w > 0.0, w ** (b - 1.0) * (total * p - w) * rate, 0.0)  # slopes of beta are w**(b-2) (w - h)
    expected = 4.0 * (c.sum(axis=1)[:, None] * points - c @ points)
    forces = Exact(p, kernel, True)
    step = forces.step(points, Beta(b).limit(), 1.0, total)
    np.testing.assert_allclose(total**b * step.gradient, expected, atol=1e-11 * np.abs(expected).max())
    others = ~np.eye(n, dtype=bool)
    value = Beta(b).value(total * p[others], w[others])
    np.testing.assert_allclose(total**b * forces.value(points, Beta(b).limit(), total), value)


def test_the_best_mass_of_measures_is_that_of_distributions():
    points = np.random.default_rng(3).normal(size=(9, 2))
    forces = Exact(affinities(9, True, 4), StudentKernel(), True)
    mass = StudentKernel().weights(pdist(points, "sqeuclidean")).sum() * 2.0
    gkl, kl = GeneralizedKullbackLeibler(), KullbackLeibler()
    np.testing.assert_allclose(forces.value(points, gkl, mass), forces.value(points, kl))
    assert forces.value(points, gkl, mass) < min(forces.value(points, gkl, factor * mass) for factor in (0.99, 1.01))
    np.testing.assert_allclose(
        forces.step(points, gkl, 1.0, mass).gradient, forces.step(points, kl).gradient, atol=1e-14
    )


# Fields and graphs against all pairs


@dataclass
class Layout:
    """Affinities of digits on a graph, and a layout of them such as there is while a view is learned."""

    p: dict
    points: np.ndarray


def digits_layout(n, spread):
    """Return clusters as in a view: strewn over a disc, samples of a class together, sizes as fits would have them."""
    X, y = (part[:n] for part in load_digits(return_X_y=True))
    neighbors = nearest_in_matrix(squareform(pdist(X, "sqeuclidean")), 60)
    conditional = conditional_affinities(neighbors, calibrated(neighbors.squares, 20.0)[0])
    rng = np.random.default_rng(0)
    angles = 2.0 * np.pi * y / 10.0
    inner = PCA(2, svd_solver="full").fit_transform(X)
    centers = np.c_[np.cos(angles), np.sin(angles)] * (0.6 + 0.4 * (y % 2))[:, None]
    points = centers + 0.25 * inner / inner.std() * rng.uniform(0.3, 1.0, size=(n, 1))
    return Layout({True: joint_affinities(conditional), False: conditional}, spread * points)


LAYOUTS = {spread: digits_layout(250, spread) for spread in (1e-4, 2.0, 25.0)}
FAST_DIVERGENCES = [*NAMED, Alpha(2.0), Eta(3.0), Gamma(2.0)]


def error(exact, fast, points, divergence, mass=None):
    """Return the larger of the errors of the push and of the net force, over the size of the push.

    Where a view is learned the net force vanishes, so that it is no measure itself.
    """
    pushes, nets = ([forces.step(points, divergence, x, mass).gradient for forces in (exact, fast)] for x in (0.0, 1.0))
    return max(np.linalg.norm(b - a) for a, b in (pushes, nets)) / np.linalg.norm(pushes[0])


@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
@pytest.mark.parametrize("spread", LAYOUTS)
def test_fast_forces_are_those_of_all_pairs(spread, symmetric):
    layout = LAYOUTS[spread]
    p, points = layout.p[symmetric], layout.points
    exact, fast = Exact(p.toarray(), StudentKernel(), symmetric), Fast(p, StudentKernel(), symmetric, Threads())
    for divergence in FAST_DIVERGENCES:
        # Where each row has its own sums of cubes, a lone point's are small against what the grid rounds off.
        tolerance = 0.02 if divergence == Gamma(2.0) and not symmetric else 0.01
        assert error(exact, fast, points, divergence) < tolerance, divergence
        steps = [forces.step(points, divergence) for forces in (exact, fast)]
        np.testing.assert_allclose(steps[1].mass, steps[0].mass, rtol=2e-3)
        np.testing.assert_allclose(fast.value(points, divergence), exact.value(points, divergence), rtol=2e-3)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_fast_forces_of_measures(d):
    layout = LAYOUTS[25.0]
    height = np.random.default_rng(0).normal(size=(len(layout.points), 1))
    p, points = layout.p[True], np.hstack([layout.points, height])[:, :d].copy()
    exact, fast = Exact(p.toarray(), StudentKernel(), True), Fast(p, StudentKernel(), True, Threads())
    for divergence in (GeneralizedKullbackLeibler(), Beta(0.5), Beta(1.5), Hellinger(), ItakuraSaito()):
        for mass in (300.0, 10_000.0):
            assert error(exact, fast, points, divergence, mass) < 0.01, divergence
            values = [forces.value(points, divergence, mass) for forces in (exact, fast)]
            np.testing.assert_allclose(values[1], values[0], rtol=2e-3)


@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
@pytest.mark.parametrize("kernel", [GaussianKernel(), StudentKernel(0.5), StudentKernel(3.0)], ids=name)
def test_fast_forces_under_other_kernels(kernel, symmetric):
    layout = LAYOUTS[2.0]
    points = layout.points * (1.0 if isinstance(kernel, GaussianKernel) else 5.0)
    p = layout.p[symmetric]
    exact, fast = Exact(p.toarray(), kernel, symmetric), Fast(p, kernel, symmetric, Threads())
    for divergence in (KullbackLeibler(), Gamma(), NeRV(), Renyi(0.5), Eta(2.0)):
        assert error(exact, fast, points, divergence) < 0.01, divergence
        np.testing.assert_allclose(fast.value(points, divergence), exact.value(points, divergence), rtol=2e-3)


def lone_points(n):
    """A layout of few points with a graph that joins each to the next two."""
    ring = np.arange(n)
    p = np.zeros((n, n))
    p[ring, (ring + 1) % n] += 0.7
    p[ring, (ring + 2) % n] += 0.3
    return p


@pytest.mark.pairwise(size=[1e-4, 1.0, 4.0], n=[5, 40], symmetric=[True, False])
def test_few_points(n, size, symmetric):
    p = lone_points(n)
    p = (p + p.T) / (2 * n) if symmetric else p
    points = size * np.random.default_rng(n).normal(size=(n, 2))
    exact, fast = Exact(p, StudentKernel(), symmetric), Fast(sparse.csr_array(p), StudentKernel(), symmetric, Threads())
    for divergence in (KullbackLeibler(), Gamma(), Hellinger(), CauchySchwarz()):
        assert error(exact, fast, points, divergence) < 0.01, divergence


@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
def test_far_clusters(symmetric):
    n = 60
    p = np.kron(np.eye(2), np.ones((n // 2, n // 2))) - np.eye(n)
    p /= p.sum(axis=None if symmetric else 1, keepdims=True)
    points = np.random.default_rng(0).normal(size=(n, 2))
    points[n // 2 :, 0] += 1e4
    exact, fast = Exact(p, StudentKernel(), symmetric), Fast(sparse.csr_array(p), StudentKernel(), symmetric, Threads())
    for divergence in (KullbackLeibler(), Gamma()):
        true, found = (forces.step(points, divergence) for forces in (exact, fast))
        assert np.isfinite(found.gradient).all()
        np.testing.assert_allclose(found.mass, true.mass, rtol=0.1)


@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
def test_views_on_a_line(symmetric):
    layout = LAYOUTS[25.0]
    p, points = layout.p[symmetric], layout.points[:, :1].copy()
    exact, fast = Exact(p.toarray(), StudentKernel(), symmetric), Fast(p, StudentKernel(), symmetric, Threads())
    for divergence in (KullbackLeibler(), Gamma(), NeRV()):
        assert fast.step(points, divergence).gradient.shape == points.shape
        assert error(exact, fast, points, divergence) < 0.01, divergence


@pytest.mark.pairwise(
    spread=[*LAYOUTS], kernel=[StudentKernel(), StudentKernel(2.0), GaussianKernel()], symmetric=[True, False]
)
def test_views_in_space(spread, kernel, symmetric):
    layout = LAYOUTS[spread]
    height = np.random.default_rng(0).normal(size=(len(layout.points), 1)) * 0.3 * spread
    points = np.hstack([layout.points, height]) * (0.1 if isinstance(kernel, GaussianKernel) else 1.0)
    p = layout.p[symmetric]
    exact, fast = Exact(p.toarray(), kernel, symmetric), Fast(p, kernel, symmetric, Threads())
    of_pairs = [CauchySchwarz()] if symmetric else []
    for divergence in [KullbackLeibler(), Gamma(), NeRV(), ReverseKullbackLeibler(), Renyi(0.5), Eta(2.0), *of_pairs]:
        # Squares of a Gaussian have a short range, and each row has sums of its own: there are few points in it.
        rough = not symmetric and isinstance(kernel, GaussianKernel) and divergence == Eta(2.0)
        assert error(exact, fast, points, divergence) < (0.03 if rough else 0.01), divergence
        np.testing.assert_allclose(fast.value(points, divergence), exact.value(points, divergence), rtol=5e-3)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(2, 300), stretch=st.sampled_from([0.0, 1e-6, 1.0, 100.0]))
def test_every_point_of_a_tree_counts_once(seed, n, stretch):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3)) * [1.0, stretch, 1.0] + 5.0 * rng.integers(3, size=(n, 3))
    points[n // 2 :: 2] = points[0]
    table = CurveTable(points, 1.0)
    values, gradients = Tree(table, points, Threads()).potential(table.waves(np.ones_like(table.squares)))
    np.testing.assert_allclose(values, n - 1)
    np.testing.assert_allclose(gradients, 0.0, atol=1e-9)


def test_a_grid_that_is_kept_gives_the_same():
    layout = LAYOUTS[25.0]
    p, rng = layout.p[True], np.random.default_rng(0)
    kept = Fast(p, StudentKernel(), True, Threads())
    points = layout.points.copy()
    for divergence in (KullbackLeibler(), Gamma(2.0), KullbackLeibler()):
        for _ in range(3):
            points *= 1.01
            points += 0.2 * rng.normal(size=points.shape)
            fresh = Fast(p, StudentKernel(), True, Threads())
            assert error(fresh, kept, points, divergence) < 0.01


@pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])
def test_threads_change_nothing(symmetric):
    layout = LAYOUTS[25.0]
    for divergence in (KullbackLeibler(), Gamma(), NeRV()):
        one, two = (
            Fast(layout.p[symmetric], StudentKernel(), symmetric, threads).step(layout.points, divergence).gradient
            for threads in (Threads(), Threads(2, least=50))
        )
        np.testing.assert_array_equal(two, one)


def test_value_and_step_share_sums_of_the_same_points_only():
    layout = LAYOUTS[2.0]
    fast, points = Fast(layout.p[True], StudentKernel(), True, Threads()), layout.points.copy()
    for divergence in (KullbackLeibler(), NeRV(0.5), KullbackLeibler()):
        fast.value(points, divergence)
        points *= 1.1
        alone = Fast(layout.p[True], StudentKernel(), True, Threads())
        expected = alone.step(points, divergence).gradient
        np.testing.assert_allclose(fast.step(points, divergence).gradient, expected, atol=1e-3 * np.abs(expected).max())
        assert fast.value(points, divergence) == pytest.approx(alone.value(points, divergence), rel=1e-4)


def test_rows_of_very_different_masses():
    rng = np.random.default_rng(0)
    radii, angles = 15.0 * rng.uniform(size=250) ** 2, rng.uniform(0.0, 2.0 * np.pi, size=250)
    points = radii[:, None] * np.c_[np.cos(angles), np.sin(angles)]
    squares = squareform(pdist(points, "sqeuclidean"))
    neighbors = nearest_in_matrix(squares, 30)
    p = conditional_affinities(neighbors, calibrated(neighbors.squares, 8.0)[0])
    assert np.ptp(np.log(GaussianKernel().weights(squares).sum(axis=1) - 1.0)) > 10.0
    exact, fast = Exact(p.toarray(), GaussianKernel(), False), Fast(p, GaussianKernel(), False, Threads())
    assert fast.value(points, NeRV(0.5)) == pytest.approx(exact.value(points, NeRV(0.5)), rel=5e-4)


def test_points_are_left_as_they_are():
    layout = LAYOUTS[2.0]
    before = layout.points.copy()
    Fast(layout.p[True], StudentKernel(), True, Threads()).step(layout.points, Gamma())
    Exact(layout.p[True].toarray(), StudentKernel(), True).step(layout.points, Gamma())
    np.testing.assert_array_equal(layout.points, before)


# Compiled loops against NumPy


def edges_and_points(seed):
    rng = np.random.default_rng(seed)
    chances, values = rng.random((2, 50, 50))
    graph = sparse.csr_array(np.where(chances < 0.2, values, 0))
    return graph, (3.0 * rng.normal(size=(50, 2))).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0, 2.5, -1.0])
def test_compiled_pull(kernel, exponent):
    graph, points = edges_and_points(0)
    points *= 0.3 if isinstance(kernel, GaussianKernel) else 1.0  # whose inverse grows beyond single precision
    forces = Fast(graph, kernel, True, Threads())
    edges = _Edges.of(graph, graph.sum(axis=1))
    found, totals = forces._power_pulls(points.astype(np.float64), edges, exponent)
    dense, y = graph.toarray(), points.astype(np.float64)
    apart = y[:, None] - y
    r = (apart**2).sum(axis=2)
    w = dense * kernel.weights(r) ** exponent
    expected = 2.0 * ((w * kernel.decay(r))[:, :, None] * apart).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(totals, w.sum(axis=1), rtol=1e-4, atol=1e-30)


def test_compiled_edges():
    from protolearn.embedding._kernels import edge_squares, pull_weighted

    graph, points = edges_and_points(1)
    y = points.astype(np.float64)
    rows = np.repeat(np.arange(50), np.diff(graph.indptr))
    apart = y[rows] - y[graph.indices]
    squares, forces = np.empty(graph.nnz), np.empty((50, 2))
    edge_squares(graph.indptr, graph.indices, y, 0, 50, squares)
    np.testing.assert_allclose(squares, (apart**2).sum(axis=1))
    pull_weighted(graph.indptr, graph.indices, graph.data, y, 0, 50, forces)
    expected = np.zeros((50, 2))
    np.add.at(expected, rows, graph.data[:, None] * apart)
    np.testing.assert_allclose(forces, expected, atol=1e-12)
