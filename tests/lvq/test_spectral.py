"""Distances of spectra: the formulas of the source in plain complex arithmetic, and every gradient."""

import numpy as np
import pytest

from protolearn.lvq.cost import SQUASHING, RelativeDistance
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.spectral import STRUCTURES, HalfSpectrum, Spectral

SHAPES = [(5, 5, 3), (4, 6, 2), (3, 4, 4), (1, 7, 1), (6, 1, 2)]
CLASSES = np.array([0, 0, 1, 2, 2])
SLOTS = {"global": [0, 0, 0, 0, 0], "class": [0, 0, 1, 2, 2], "prototype": [0, 1, 2, 3, 4]}
VARIANTS = [
    ("magnitude", False),
    ("position", False),
    ("magnitude", True),
]


# The oracle: all frequencies, complex numbers, one filter after the other. Spectra of patches (h, w, c) are flattened
# in this order; those of one channel are vectors of M = h w numbers.


def full_spectrum(patch):
    return np.fft.fft2(patch, axes=(0, 1), norm="ortho").ravel()


def filter_spectrum(kernel):
    h, w = kernel.shape
    return np.fft.fft2(np.roll(kernel, (-(h // 2), -(w // 2)), axis=(0, 1))).ravel()


def response(spectrum, omega, kernels):
    total = np.zeros(len(omega), complex)
    for kernel in kernels:
        total += (omega @ spectrum) * filter_spectrum(kernel)
    return total


def oracle(x, w, omega, kernels, distance):
    r_x, r_w = (response(full_spectrum(v), omega, kernels) for v in (x, w))
    if distance == "position":
        return (np.abs(r_x - r_w) ** 2).sum()
    return ((np.abs(r_x) ** 2 - np.abs(r_w) ** 2) ** 2).sum()


def fourier(h, w):
    """Return the matrix of the transform of flattened pictures."""
    rows, columns = (np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n) / np.sqrt(n) for n in (h, w))
    return np.kron(rows, columns)


def multiplicities(h, w):
    """Return how often each of the stored frequencies occurs in a full spectrum."""
    half = w // 2 + 1
    return np.array([[1 if j in (0, w - j) else 2 for j in range(half)] for _ in range(h)]).ravel()


def stored(full, h, w):
    """Return the part of full spectra (..., h w) that is stored, scaled to the same length."""
    half = full.reshape(*full.shape[:-1], h, w)[..., : w // 2 + 1]
    return half.reshape(*full.shape[:-1], -1) * np.sqrt(multiplicities(h, w))


def mirrored(half, h, w):
    """Return values (h w,) of all frequencies from those of the stored ones, equal at opposite frequencies."""
    table = half.reshape(h, w // 2 + 1)
    full = np.empty((h, w))
    for i, j in np.ndindex(h, w):
        full[i, j] = table[i, j] if j <= w // 2 else table[-i % h, w - j]
    return full.ravel()


def random_map(structure, shape, rng):
    """Return a real map of the structure: Omega in the Fourier domain (M, N), and the parameters that stand for it."""
    h, w, c = shape
    M = h * w
    if structure == "color":
        weights = rng.normal(size=c)
        return np.kron(np.eye(M), weights), weights
    if structure == "diagonal":
        transfer = np.fft.fft2(rng.normal(size=(c, h, w)), norm="ortho").reshape(c, M)
        omega = np.zeros((M, M, c), complex)
        for channel in range(c):
            omega[:, :, channel] = np.diag(transfer[channel])
        half = stored(transfer, h, w).T
        return omega.reshape(M, -1), np.stack([half.real, half.imag])
    pixels = rng.normal(size=(M, M, c)) / M  # from every pixel and channel to every pixel
    F = fourier(h, w)
    omega = np.einsum("om,mnc,nk->okc", F, pixels, F.conj().T).reshape(M, -1)
    half = stored(np.einsum("om,mnc->nco", F, pixels), h, w).reshape(M * c, -1).T
    return omega, np.concatenate([half.real, half.imag])


def random_kernels(shape, rng, n=3, is_complex=False):
    """Return kernels whose joint response has a mean square of one, the unit in which distances are measured."""
    kernels = rng.normal(size=(n, *shape[:2]))
    kernels = kernels + 1j * rng.normal(size=kernels.shape) if is_complex else kernels
    return kernels / np.sqrt(np.mean(np.abs(sum(filter_spectrum(kernel) for kernel in kernels)) ** 2))


def metric_of(shape, kernels, structure, localization="class", variant=("magnitude", False)):
    return Spectral(
        shape, kernels, structure=structure, localization=localization, distance=variant[0], learn_filters=variant[1]
    )


def random_state(metric, rng):
    """Return prototypes, parameters, and the maps Omega."""
    n_maps = max(SLOTS[metric.localization]) + 1
    omegas, parameters = zip(*(random_map(metric.structure, metric.shape, rng) for _ in range(n_maps)))
    theta = (np.stack(parameters),)
    N = int(np.prod(metric.shape))
    if not metric.learn_filters:
        return rng.normal(size=(len(CLASSES), N)), theta, omegas
    theta = (*theta, mirror_symmetric(rng.uniform(0.5, 1.5, (n_maps, *metric.shape[:2]))))
    return mirror_symmetric(rng.uniform(0.3, 1.5, (len(CLASSES), *metric.shape[:2]))), theta, omegas


def mirror_symmetric(full):
    """Return the stored values (n, Q) of values (n, h, w) that are made equal at opposite frequencies."""
    opposite = np.roll(full[:, ::-1, ::-1], (1, 1), axis=(1, 2))
    return ((full + opposite) / 2)[..., : full.shape[2] // 2 + 1].reshape(len(full), -1)


def problem_of(metric, squashing="sigmoid", n=12, seed=0):
    rng = np.random.default_rng(seed)
    W, theta, omegas = random_state(metric, rng)
    X, y = rng.normal(size=(n, int(np.prod(metric.shape)))), rng.integers(0, 3, n)
    shapes = [W.shape, *(part.shape for part in theta)]
    cost = RelativeDistance(squashing, (2.0, 2.0))
    problem = Problem(X, y, rng.uniform(0.5, 2, n), CLASSES, metric, cost, 0.0, shapes)
    return problem, W, theta, omegas


# Half spectra


@pytest.mark.parametrize("size", [(5, 5), (4, 6), (5, 4), (4, 5), (1, 7), (1, 6), (7, 1), (2, 2), (1, 1)])
def test_half_spectrum_is_an_isometry_and_its_inverse_the_adjoint(size, rng):
    plane = HalfSpectrum(*size)
    pictures = rng.normal(size=(3, 2, *size))
    spectra = plane.forward(pictures)
    assert spectra.shape == (3, 2, plane.n_frequencies)
    assert np.allclose(spectra, stored(np.fft.fft2(pictures, norm="ortho").reshape(3, 2, -1), *size))
    assert np.allclose(plane.back(spectra), pictures)
    assert np.allclose((np.abs(spectra) ** 2).sum(axis=-1), (pictures**2).sum(axis=(-1, -2)))
    any_spectra = rng.normal(size=(3, 2, plane.n_frequencies)) + 1j * rng.normal(size=(3, 2, plane.n_frequencies))
    product = (spectra.conj() * any_spectra).real.sum()
    assert (pictures * plane.back(any_spectra)).sum() == pytest.approx(product, rel=1e-10)


@pytest.mark.parametrize("size", [(5, 5), (4, 6), (5, 4), (1, 7), (7, 1), (2, 2)])
def test_folded_values_are_means_of_opposite_frequencies(size, rng):
    h, w = size
    plane = HalfSpectrum(h, w)
    full = rng.normal(size=(2, h, w))
    half = plane.fold(full).reshape(2, h, w // 2 + 1)
    for i, j in np.ndindex(half.shape[1:]):
        assert np.allclose(half[:, i, j], (full[:, i, j] + full[:, -i % h, -j % w]) / 2)
    for values, expected in zip(plane.unfold(plane.fold(full)), plane.fold(full)):
        assert np.allclose(values.ravel(), mirrored(expected, h, w))
        assert np.allclose(values, np.roll(values[::-1, ::-1], (1, 1), axis=(0, 1)))
    assert np.array_equal(plane.counts.ravel(), multiplicities(h, w))
    assert plane.counts.sum() == h * w


# Distances


@pytest.mark.pairwise(
    structure=sorted(STRUCTURES), localization=sorted(SLOTS), distance=["magnitude", "position"], shape=SHAPES
)
def test_distances_are_those_of_complex_spectra_and_single_filters(structure, localization, distance, shape, rng):
    for is_complex in (False, True):
        kernels = random_kernels(shape, rng, is_complex=is_complex)
        metric = metric_of(shape, kernels, structure, localization, (distance, False))
        W, theta, omegas = random_state(metric, rng)
        X = rng.normal(size=(2, W.shape[1]))
        D = metric.measure(X, W, CLASSES, theta)[0]
        for (i, p), d in np.ndenumerate(D):
            omega = omegas[SLOTS[localization][p]]
            assert d == pytest.approx(
                oracle(X[i].reshape(shape), W[p].reshape(shape), omega, kernels, distance), rel=1e-9
            )


@pytest.mark.pairwise(structure=sorted(STRUCTURES), localization=sorted(SLOTS), shape=SHAPES)
def test_distances_with_learned_filters(structure, localization, shape, rng):
    h, w, _ = shape
    metric = metric_of(shape, random_kernels(shape, rng), structure, localization, ("magnitude", True))
    W, theta, omegas = random_state(metric, rng)
    X = rng.normal(size=(3, int(np.prod(shape))))
    D = metric.measure(X, W, CLASSES, theta)[0]
    counts = multiplicities(h, w)
    for (i, p), d in np.ndenumerate(D):
        slot = SLOTS[localization][p]
        gains = mirrored(theta[1][slot] / counts**0.5, h, w)
        powers = mirrored(W[p] ** 2 / counts, h, w)
        z = omegas[slot] @ full_spectrum(X[i].reshape(shape))
        assert d == pytest.approx(((np.abs(z * gains) ** 2 - powers) ** 2).sum(), rel=1e-9)


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_filters_to_be_learned_start_as_the_given_ones(structure, rng):
    shape = (5, 4, 3)
    kernels = random_kernels(shape, rng)
    fixed, learned = (metric_of(shape, kernels, structure, variant=("magnitude", learn)) for learn in (False, True))
    X, W = rng.normal(size=(4, 60)), rng.normal(size=(5, 60))
    start = fixed.start(60, CLASSES, np.random.RandomState(0))
    more = learned.start(60, CLASSES, np.random.RandomState(0))
    roots = learned.roots(learned.describe(W, *(part[0] for part in more)))
    assert np.array_equal(more[0], start[0])
    expected = fixed.measure(X, W, CLASSES, start)[0]
    assert np.allclose(learned.measure(X, roots, CLASSES, more)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_maps_start_as_the_mean_of_the_channels(structure, shape, rng):
    metric = metric_of(shape, None, structure, variant=("position", False))
    theta = metric.start(int(np.prod(shape)), CLASSES, np.random.RandomState(0))
    X, W = rng.normal(size=(4, *shape)), rng.normal(size=(5, *shape))
    D = metric.measure(X.reshape(4, -1), W.reshape(5, -1), CLASSES, theta)[0]
    difference = X.mean(axis=-1)[:, None] - W.mean(axis=-1)
    assert np.allclose(D, (difference**2).sum(axis=(2, 3)))  # Parseval
    M = shape[0] * shape[1]
    omega = np.kron(np.eye(M), np.full(shape[2], 1 / shape[2]))  # [I I I] / 3, in the order of our channels
    powers = metric_of(shape, None, structure)
    D = powers.measure(X.reshape(4, -1), W.reshape(5, -1), CLASSES, theta)[0]
    unit = np.zeros((1, *shape[:2]))
    unit[0, shape[0] // 2, shape[1] // 2] = 1.0
    assert D[1, 2] == pytest.approx(oracle(X[1], W[2], omega, unit, "magnitude"), rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_only_the_sum_of_the_filters_counts(structure, variant, rng):
    shape = (5, 4, 3)
    kernels = random_kernels(shape, rng, 4)
    W, theta, _ = random_state(metric_of(shape, kernels, structure, variant=variant), rng)
    X = rng.normal(size=(6, 60))
    G = rng.normal(size=(6, 5))
    results = []
    for bank in (kernels, kernels[[2, 0, 3, 1]], kernels.sum(axis=0)[None]):
        metric = metric_of(shape, bank, structure, variant=variant)
        theta_now = metric.normalize(theta)
        D, pullback = metric.measure(X, W, CLASSES, theta_now)
        results.append((D, pullback(G)))
    (D, (dW, slopes)), *others = results
    for D_other, (dW_other, slopes_other) in others:
        assert np.allclose(D_other, D, rtol=1e-12)
        assert np.allclose(dW_other, dW, rtol=1e-9, atol=1e-9 * np.abs(dW).max())
        assert all(np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max()) for a, b in zip(slopes_other, slopes))


def test_distances_are_in_units_of_the_filters(rng):
    shape = (5, 4, 3)
    kernels = random_kernels(shape, rng)
    for variant in VARIANTS:
        metric, larger = (metric_of(shape, bank, "diagonal", variant=variant) for bank in (kernels, 70 * kernels))
        W, theta, _ = random_state(metric, rng)
        X = rng.normal(size=(6, 60))
        assert larger.unit == pytest.approx(70.0)
        D = metric.measure(X, W, CLASSES, metric.normalize(theta))[0]
        assert np.allclose(larger.measure(X, W, CLASSES, larger.normalize(theta))[0], D, rtol=1e-10)


def test_no_filter_is_a_filter_that_changes_nothing(rng):
    shape = (4, 5, 2)
    unit = np.zeros((1, 4, 5))
    unit[0, 2, 2] = 1.0
    none, one = (metric_of(shape, kernels, "diagonal") for kernels in (None, unit))
    W, theta, _ = random_state(none, rng)
    X = rng.normal(size=(6, 40))
    assert np.allclose(none.measure(X, W, CLASSES, theta)[0], one.measure(X, W, CLASSES, theta)[0], rtol=1e-12)


# Gradients


def differences(problem, flat, directions, step=1e-6):
    costs = [[problem(flat + sign * step * d)[0] for sign in (1, -1)] for d in directions]
    return np.array([(up - down) / (2 * step) for up, down in costs])


@pytest.mark.pairwise(structure=sorted(STRUCTURES), localization=sorted(SLOTS), variant=VARIANTS, shape=SHAPES)
def test_gradient_equals_finite_differences(structure, localization, variant, shape, rng):
    metric = metric_of(shape, random_kernels(shape, rng), structure, localization, variant)
    problem, W, theta, _ = problem_of(metric)
    flat = pack(W, theta)
    directions = rng.choice([-1.0, 1.0], size=(5, len(flat)))
    numeric = differences(problem, flat, directions)
    assert np.linalg.norm(directions @ problem(flat)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)
    assert np.linalg.norm(numeric) > 0


@pytest.mark.pairwise(structure=sorted(STRUCTURES), variant=VARIANTS, squashing=sorted(SQUASHING))
def test_gradient_by_every_single_parameter(structure, variant, squashing, rng):
    shape = (2, 2, 2)
    kernels = random_kernels(shape, rng, is_complex=True)
    problem, W, theta, _ = problem_of(metric_of(shape, kernels, structure, "global", variant), squashing)
    flat = pack(W, theta)
    numeric = differences(problem, flat, np.eye(len(flat)))
    gradient = problem(flat)[1]
    for block in problem.blocks:
        assert np.linalg.norm(gradient[block] - numeric[block]) <= 1e-6 * np.linalg.norm(numeric[block])


def test_gradient_is_right_where_parameters_stand_for_no_real_map(rng):
    metric = metric_of((2, 4, 1), random_kernels((2, 4, 1), rng), "diagonal")
    problem, W, (omega,), _ = problem_of(metric)
    flat = pack(W, (omega + rng.normal(size=omega.shape),))
    directions = np.eye(len(flat))
    numeric = differences(problem, flat, directions)
    assert np.linalg.norm(problem(flat)[1] - numeric) <= 1e-6 * np.linalg.norm(numeric)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_gradient_of_a_weighted_sample_is_that_of_copies(structure, variant, rng):
    metric = metric_of((3, 4, 2), random_kernels((3, 4, 2), rng), structure, variant=variant)
    problem, W, theta, _ = problem_of(metric)
    flat = pack(W, theta)
    times = rng.integers(1, 4, problem.n_samples)
    problem.u = times.astype(float)
    cost, gradient = problem(flat)
    problem.X, problem.y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    problem.u = np.ones(len(problem.X))
    again = problem(flat)
    assert again[0] == pytest.approx(cost, rel=1e-12)
    assert np.allclose(again[1], gradient, rtol=1e-9, atol=1e-12 * np.abs(gradient).max())


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_cost_does_not_depend_on_the_size_of_learned_filters(structure, rng):
    metric = metric_of((3, 4, 2), random_kernels((3, 4, 2), rng), structure, variant=("magnitude", True))
    problem, W, (omega, filters), _ = problem_of(metric)
    cost, gradient = problem(pack(W, (omega, filters)))
    sizes = rng.uniform(0.1, 10, (len(filters), 1))
    assert problem(pack(W, (omega, sizes * filters)))[0] == pytest.approx(cost, rel=1e-12)
    slopes = problem.unpack(gradient)[1][1]
    assert np.allclose((slopes * filters).sum(axis=1), 0.0, atol=1e-12 * np.abs(slopes).max())
    normal = metric.normalize((omega, filters))
    assert all(np.allclose(a, b) for a, b in zip(metric.normalize(normal), normal))
    given = metric.start(24, CLASSES, np.random.RandomState(0))[1]
    assert np.allclose(np.linalg.norm(normal[1], axis=1), np.linalg.norm(given, axis=1))


@pytest.mark.pairwise(
    structure=sorted(STRUCTURES), shape=[(5, 5, 3), (4, 6, 2), (1, 7, 1), (6, 1, 2)], learns=[False, True]
)
def test_any_parameters_are_taken_for_those_of_the_nearest_real_map(structure, shape, learns, rng):
    metric = metric_of(shape, random_kernels(shape, rng), structure, variant=("magnitude", learns))
    _, real, _ = random_state(metric, rng)
    assert np.allclose(metric.normalize(real)[0], real[0])
    disturbed = (real[0] + rng.normal(size=real[0].shape), *real[1:])
    omegas = metric.normalize(disturbed)[0]
    x = rng.normal(size=(1, int(np.prod(shape))))
    for omega in omegas:
        spectrum = metric.map.apply(metric.map.lift(x), omega)
        assert np.allclose(metric.map.plane.forward(metric.map.plane.back(spectrum)), spectrum)
    rest = disturbed[0] - omegas
    assert (rest * real[0]).sum() == pytest.approx(0.0, abs=1e-9)  # at right angles to all real maps


# The complex gradients of the source: d/dRe + i d/dIm with all frequencies free


def complex_slopes(x, w, omega, S, distance):
    """Return the derivatives of d(x, w) by the spectrum of w and by Omega."""
    r_x, r_w = S * (omega @ x), S * (omega @ w)
    if distance == "position":
        e = S.conj() * (r_x - r_w)
        return -2 * omega.conj().T @ e, 2 * np.outer(e, (x - w).conj())
    delta = np.abs(r_x) ** 2 - np.abs(r_w) ** 2
    by_w = -4 * omega.conj().T @ (S.conj() * delta * r_w)
    by_omega = 4 * (np.outer(delta * r_x * S.conj(), x.conj()) - np.outer(delta * r_w * S.conj(), w.conj()))
    return by_w, by_omega


def winners(d, label, classes):
    """Return J and K, and the derivatives of mu = (d_J - d_K) / (d_J + d_K) by their distances."""
    own = np.asarray(classes) == label
    J, K = np.where(own, d, np.inf).argmin(), np.where(own, np.inf, d).argmin()
    total = (d[J] + d[K]) ** 2
    return (J, 2 * d[K] / total), (K, -2 * d[J] / total)


def to_pixels(complex_map, shape):
    """Return a map between spectra (M, N) as one between pixels (M, h w, c)."""
    h, w, c = shape
    F = fourier(h, w)
    return np.einsum("mo,onc,nk->mkc", F.conj().T, complex_map.reshape(h * w, h * w, c), F)


def complex_gradient(problem, W, omegas, slots, S):
    """Return the gradients of the mean of mu by the spectra of the prototypes and by each Omega."""
    shape, distance = problem.metric.shape, problem.metric.distance
    prototypes = [full_spectrum(w.reshape(shape)) for w in W]
    by_w, by_omega = np.zeros((len(W), W.shape[1]), complex), np.zeros((len(omegas), *omegas[0].shape), complex)
    for x, label, u in zip(problem.X, problem.y, problem.u / problem.u.sum()):
        x = full_spectrum(x.reshape(shape))
        d = []
        for p, w in enumerate(prototypes):
            r_x, r_w = (S * (omegas[slots[p]] @ v) for v in (x, w))
            e = r_x - r_w if distance == "position" else np.abs(r_x) ** 2 - np.abs(r_w) ** 2
            d.append((np.abs(e) ** 2).sum())
        for p, gamma in winners(np.array(d), label, problem.classes):
            slopes = complex_slopes(x, prototypes[p], omegas[slots[p]], S, distance)
            by_w[p] += u * gamma * slopes[0]
            by_omega[slots[p]] += u * gamma * slopes[1]
    return by_w, by_omega


@pytest.mark.pairwise(
    structure=sorted(STRUCTURES), distance=["magnitude", "position"], shape=[(3, 4, 3), (4, 3, 2), (3, 3, 1), (1, 5, 3)]
)
def test_gradient_is_the_complex_one_of_the_source(structure, distance, shape, rng):
    h, w, c = shape
    M = h * w
    kernels = random_kernels(shape, rng)
    problem, W, theta, omegas = problem_of(metric_of(shape, kernels, structure, "class", (distance, False)), "identity")
    S = sum(filter_spectrum(kernel) for kernel in kernels)
    by_w, by_omega = complex_gradient(problem, W, omegas, SLOTS["class"], S)
    ours_w, (ours,) = problem.unpack(problem(pack(W, theta))[1])

    patches = np.fft.ifft2(by_w.reshape(-1, *shape), axes=(1, 2), norm="ortho")
    assert np.abs(patches.imag).max() <= 1e-12 * np.abs(patches).max()  # real patches stay real
    assert np.allclose(patches.real.reshape(ours_w.shape), ours_w, rtol=1e-9, atol=1e-12 * np.abs(ours_w).max())
    for free, mine in zip(by_omega, ours):
        pixels = to_pixels(free, shape)
        assert np.abs(pixels.imag).max() <= 1e-12 * np.abs(pixels).max()  # and real maps real maps
        if structure == "full":
            F = fourier(h, w)
            half = stored(np.einsum("om,mnc->nco", F, pixels.real), h, w).reshape(M * c, -1).T
            expected = np.concatenate([half.real, half.imag])
        else:
            diagonal = np.einsum("mmc->cm", free.reshape(M, M, c))  # that of each block
            half = stored(diagonal, h, w).T
            expected = diagonal.sum(axis=1).real if structure == "color" else np.stack([half.real, half.imag])
        assert np.allclose(mine, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(3, 4, 3), (4, 3, 2), (1, 5, 1)])
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_gradient_with_learned_filters_is_the_complex_one_of_the_source(structure, shape, rng):
    h, w, c = shape
    M = h * w
    metric = metric_of(shape, random_kernels(shape, rng), structure, "prototype", ("magnitude", True))
    problem, W, theta, omegas = problem_of(metric, "identity")
    theta = metric.normalize(theta)
    counts = multiplicities(h, w)
    gains = [mirrored(f / counts**0.5, h, w) for f in theta[1]]
    powers = [mirrored(q**2 / counts, h, w) for q in W]
    by_w, by_F = np.zeros((len(W), M)), np.zeros((len(W), M))
    by_omega = np.zeros((len(W), *omegas[0].shape), complex)
    for x, label, u in zip(problem.X, problem.y, problem.u / problem.u.sum()):
        x = full_spectrum(x.reshape(shape))
        z = [omega @ x for omega in omegas]
        D = [np.abs(a * F) ** 2 - w for a, F, w in zip(z, gains, powers)]
        for p, gamma in winners((np.array(D) ** 2).sum(axis=1), label, CLASSES):
            by_w[p] += u * gamma * -2 * D[p]
            by_F[p] += u * gamma * 4 * D[p] * np.abs(z[p]) ** 2 * gains[p]
            by_omega[p] += u * gamma * 4 * np.outer(D[p] * gains[p] ** 2 * z[p], x.conj())
    ours_W, (ours, ours_filters) = problem.unpack(problem(pack(W, theta))[1])

    def collected(full):  # each stored frequency stands for itself and its opposite
        return counts * full.reshape(len(full), h, w)[..., : w // 2 + 1].reshape(len(full), -1)

    expected = collected(by_w) * 2 * W / counts
    assert np.allclose(ours_W, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    free = collected(by_F) / counts**0.5
    unit = theta[1] / np.linalg.norm(theta[1], axis=1, keepdims=True)
    expected = free - unit * (unit * free).sum(axis=1, keepdims=True)  # along the sphere of filters of one size
    assert np.allclose(ours_filters, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    for slope, mine in zip(by_omega, ours):
        diagonal = np.einsum("mmc->cm", slope.reshape(M, M, c))
        half = stored(diagonal, h, w).T
        if structure == "full":
            pixels = to_pixels(slope, shape).real
            half = stored(np.einsum("om,mnc->nco", fourier(h, w), pixels), h, w).reshape(M * c, -1).T
            expected = np.concatenate([half.real, half.imag])
        else:
            expected = diagonal.sum(axis=1).real if structure == "color" else np.stack([half.real, half.imag])
        assert np.allclose(mine, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


# Invariances


@pytest.mark.pairwise(
    structure=["diagonal", "color"], shape=[(5, 5, 3), (4, 6, 2), (1, 7, 1)], localization=sorted(SLOTS)
)
def test_powers_are_blind_to_circular_shifts(structure, shape, localization, rng):
    for variant in [("magnitude", False), ("magnitude", True)]:
        metric = metric_of(shape, random_kernels(shape, rng), structure, localization, variant)
        W, theta, _ = random_state(metric, rng)
        X = rng.normal(size=(4, *shape))
        D = metric.measure(X.reshape(4, -1), W, CLASSES, theta)[0]
        for move in [(1, 0), (0, 1), (2, 3)]:
            moved = np.roll(X, move, axis=(1, 2)).reshape(4, -1)
            assert np.allclose(metric.measure(moved, W, CLASSES, theta)[0], D, rtol=1e-9)


@pytest.mark.parametrize(
    ("structure", "distance"), [("full", "magnitude"), ("full", "position"), ("diagonal", "position")]
)
def test_positions_count_for_full_maps_and_amplitudes(structure, distance, rng):
    metric = metric_of((5, 5, 3), random_kernels((5, 5, 3), rng), structure, variant=(distance, False))
    W, theta, _ = random_state(metric, rng)
    X = rng.normal(size=(4, 5, 5, 3))
    D, moved = (metric.measure(Z.reshape(4, -1), W, CLASSES, theta)[0] for Z in (X, np.roll(X, (1, 2), axis=(1, 2))))
    assert (np.abs(D - moved) > 1e-3 * D).all()


@pytest.mark.parametrize("variant", VARIANTS[:2], ids=str)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_distance_to_itself_is_zero(structure, variant, rng):
    metric = metric_of((4, 5, 3), random_kernels((4, 5, 3), rng), structure, variant=variant)
    W, theta, _ = random_state(metric, rng)
    D = metric.measure(W, W, CLASSES, theta)[0]
    assert np.array_equal(np.diag(D), np.zeros(5)) or np.diag(D).max() <= 1e-25 * D.max()
    assert (D >= 0).all()
    assert (D + np.eye(5) > 0).all()


@pytest.mark.parametrize("distance", ["magnitude", "position"])
@pytest.mark.parametrize("structure", ["diagonal", "color"])
def test_transposed_patches_and_filters_have_the_same_distances(structure, distance, rng):
    shape = (4, 7, 2)
    kernels = random_kernels(shape, rng)
    metric = metric_of(shape, kernels, structure, "global", (distance, False))
    turned = metric_of((7, 4, 2), np.swapaxes(kernels, 1, 2), structure, "global", (distance, False))
    theta, there = (m.start(56, CLASSES, np.random.RandomState(0)) for m in (metric, turned))
    X, W = rng.normal(size=(3, *shape)), rng.normal(size=(5, *shape))
    D = metric.measure(X.reshape(3, -1), W.reshape(5, -1), CLASSES, theta)[0]
    X, W = (np.swapaxes(Z, 1, 2).reshape(len(Z), -1) for Z in (X, W))
    assert np.allclose(turned.measure(X, W, CLASSES, there)[0], D, rtol=1e-10)


def test_size_of_everything_is_a_factor_on_the_distance(rng):
    for variant, power in [(("magnitude", False), 4), (("position", False), 2), (("magnitude", True), 4)]:
        metric = metric_of((4, 5, 2), random_kernels((4, 5, 2), rng), "diagonal", variant=variant)
        W, theta, _ = random_state(metric, rng)
        X = rng.normal(size=(3, 40))
        D = metric.measure(X, W, CLASSES, theta)[0]
        assert np.allclose(metric.measure(255 * X, 255 * W, CLASSES, theta)[0], 255.0**power * D, rtol=1e-10)


def test_usual_weights_of_colors_give_the_distance_of_gray_patches(rng):
    weights = np.array([0.2989, 0.587, 0.114])
    kernels = random_kernels((5, 6, 3), rng)
    X, W = rng.random((4, 5, 6, 3)), rng.random((5, 5, 6, 3))
    color = metric_of((5, 6, 3), kernels, "color", "global")
    gray = metric_of((5, 6, 1), kernels, "color", "global")
    D = color.measure(X.reshape(4, -1), W.reshape(5, -1), CLASSES, (weights[None],))[0]
    expected = gray.measure((X @ weights).reshape(4, -1), (W @ weights).reshape(5, -1), CLASSES, (np.ones((1, 1)),))[0]
    assert np.allclose(D, expected, rtol=1e-10)
    S = sum(filter_spectrum(kernel) for kernel in kernels).reshape(5, 6)
    powers = [np.abs(np.fft.fft2(Z @ weights, norm="ortho") * S) ** 2 for Z in (X, W)]
    assert D[2, 3] == pytest.approx(((powers[0][2] - powers[1][3]) ** 2).sum(), rel=1e-10)


# Filters in space


def circular_convolution(picture, kernel):
    """Convolve by the sum over all pixels, with kernels centered in the middle."""
    h, w = picture.shape
    result = np.zeros((h, w), np.result_type(picture, kernel))
    for i, j in np.ndindex(h, w):
        for a, b in np.ndindex(h, w):
            result[i, j] += kernel[a, b] * picture[(i - a + h // 2) % h, (j - b + w // 2) % w]
    return result


@pytest.mark.parametrize("shape", [(5, 5, 3), (4, 6, 2), (5, 4, 1), (1, 7, 2), (6, 1, 2)])
@pytest.mark.parametrize("structure", ["diagonal", "color"])
def test_map_is_a_convolution_with_its_kernels(structure, shape, rng):
    maps = STRUCTURES[structure](shape)
    _, parameters = random_map(structure, shape, rng)
    x = rng.normal(size=shape)
    kernels = maps.kernels(parameters)
    assert kernels.shape == shape
    intensity = maps.plane.back(maps.apply(maps.lift(x.reshape(1, -1)), parameters))[0]
    expected = sum(circular_convolution(x[..., c], kernels[..., c]) for c in range(shape[2]))
    assert np.allclose(intensity, expected)


@pytest.mark.parametrize("shape", [(5, 5, 3), (4, 6, 2), (5, 4, 1), (1, 7, 2), (6, 1, 2)])
def test_kernels_of_a_full_map_are_those_of_the_nearest_convolution(shape, rng):
    h, w, c = shape
    maps = STRUCTURES["full"](shape)
    omega, parameters = random_map("full", shape, rng)
    kernels = maps.kernels(parameters)
    diagonal = np.einsum("mmc->mc", omega.reshape(h * w, h * w, c)).reshape(h, w, c)
    expected = np.fft.fftshift(np.fft.ifft2(diagonal, axes=(0, 1)), axes=(0, 1))
    assert np.allclose(expected.imag, 0.0, atol=1e-12)
    assert np.allclose(kernels, expected.real)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_pulling_back_is_the_adjoint_of_applying(structure, shape, rng):
    maps = STRUCTURES[structure](shape)
    _, a = random_map(structure, shape, rng)
    _, b = random_map(structure, shape, rng)
    X, Y = rng.normal(size=(2, 3, int(np.prod(shape))))
    Q = maps.plane.n_frequencies
    slopes = rng.normal(size=(3, Q)) + 1j * rng.normal(size=(3, Q))

    def product(spectra):
        return (slopes.conj() * spectra).real.sum()

    assert (maps.pull_parameters(maps.lift(X), slopes) * b).sum() == pytest.approx(
        product(maps.apply(maps.lift(X), b)), rel=1e-9
    )
    assert (maps.pull_patches(a, slopes) * Y).sum() == pytest.approx(product(maps.apply(maps.lift(Y), a)), rel=1e-9)


# Repainted patches


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_repainted_patch_has_the_wanted_powers_and_its_own_phases(structure, shape, rng):
    metric = metric_of(shape, random_kernels(shape, rng), structure)
    N = int(np.prod(shape))
    omega = metric.start(N, CLASSES, np.random.RandomState(0))[0][0]
    x, other, third = rng.normal(size=(3, N))
    wanted = [0.3, 0.7] @ metric.describe(np.stack([other, third]), omega)
    painted = metric.repainted(x, wanted, omega)
    assert np.allclose(metric.describe(painted[None], omega)[0], wanted, rtol=1e-8, atol=1e-12 * wanted.max())
    before, after = (full_spectrum(v.reshape(shape)).reshape(-1, shape[2]) for v in (x, painted))
    ratio = after / before
    assert np.allclose(ratio.imag, 0.0, atol=1e-8)
    assert np.allclose(ratio, ratio[:, :1])  # colors stay: one factor for all channels
    assert (ratio.real > 0).all()


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_dark_frequencies_are_lit_in_all_channels(structure, rng):
    shape = (5, 4, 3)
    metric = metric_of(shape, random_kernels(shape, rng), structure)
    omega = metric.start(60, CLASSES, np.random.RandomState(0))[0][0]
    wanted = metric.describe(rng.normal(size=(1, 60)), omega)[0]
    for x in (np.zeros(60), np.ones(60), np.full(60, 0.1)):
        painted = metric.repainted(x, wanted, omega)
        assert np.allclose(metric.describe(painted[None], omega)[0], wanted, rtol=1e-6, atol=1e-9 * wanted.max())
        assert np.abs(painted).max() < 1e3
