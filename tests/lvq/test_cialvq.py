"""LVQ of color textures: fitted models against complex arithmetic, invariances, training, and unusual input."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from protolearn import CIALVQ
from protolearn.lvq import LBFGS, SGD, Adam, Solver, Waypoint, difference_of_gaussians_bank, gabor_bank
from protolearn.lvq._start import first_prototypes
from protolearn.lvq.samples import Labeled

SHAPE = (6, 5, 3)
H, W, C = SHAPE
STRUCTURES = ["color", "diagonal", "full"]
VARIANTS = [
    {"structure": structure, **variant}
    for structure in STRUCTURES
    for variant in ({"distance": "magnitude"}, {"distance": "position"}, {"learn_filters": True})
]
SOME = VARIANTS[::4]  # every structure once, and every distance once
SHIFT_INVARIANT = [{"structure": "color"}, {"structure": "diagonal"}, {"structure": "diagonal", "learn_filters": True}]
FROZEN = SGD(0.0, 0.0)
SHORT_WAVES = gabor_bank((H, W), wavelengths=(3.0, 4.2), remove_dc=True)
SOLVERS = ["lbfgs", "sgd", "waypoint", "adam", LBFGS(3), Waypoint(0.05), Adam(batch_size=8)]


def name(settings):
    return "-".join(map(str, settings.values()))


def textures(n=30, shape=SHAPE, seed=0, noise=0.15):
    """Return patches of waves of three directions and colors, at random positions, in noise."""
    rng = np.random.default_rng(seed)
    h, w, c = shape
    y = np.arange(n) % 3
    rows, columns = np.indices((h, w))
    angles = np.stack([rows / h, columns / w, rows / h + columns / w])
    colors = rng.uniform(0.2, 1, (3, c))
    waves = np.sin(2 * np.pi * (angles[y] + rng.random((n, 1, 1))))
    return 0.5 + 0.3 * waves[..., None] * colors[y][:, None, None] + noise * rng.random((n, h, w, c)), y


def fitted(X, y, **settings):
    init = "neural_gas" if settings.get("prototypes_per_class") == 1 else "mean"  # the mean of the class, or of thirds
    settings = {"prototypes_per_class": 2, "init": init, "max_iter": 6, "random_state": 0} | settings
    return CIALVQ(**settings).fit(X, y)


def spectra(patches):
    """Return full spectra (n, M c), in the order of the pixels."""
    return np.fft.fft2(patches, axes=(1, 2), norm="ortho").reshape(len(patches), -1)


def filter_spectra(kernels):
    h, w = kernels.shape[1:]
    return [np.fft.fft2(np.roll(k, (-(h // 2), -(w // 2)), axis=(0, 1))).ravel() for k in kernels]


def slots_of(model):
    labels = model.prototype_labels_
    if model.localization == "global":
        return np.zeros(len(labels), int)
    return np.arange(len(labels)) if model.localization == "prototype" else np.searchsorted(model.classes_, labels)


@pytest.fixture(scope="module")
def data():
    return textures()


@pytest.fixture(scope="module")
def kernels():
    return np.random.default_rng(5).normal(size=(3, H, W))


@pytest.fixture(scope="module")
def models(data):
    """Fitted models of all variants, with the default bank."""
    return {name(settings): fitted(*data, **settings) for settings in VARIANTS}


# Fitted models say the same in all their attributes


@pytest.mark.parametrize(("localization", "is_complex"), [("global", True), ("class", False), ("prototype", True)])
@pytest.mark.parametrize("distance", ["magnitude", "position"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_distances_follow_from_the_maps_filter_by_filter(structure, distance, is_complex, localization, data, kernels):
    X, y = data
    bank = kernels + 1j * kernels[::-1, ::-1] if is_complex else kernels
    model = fitted(X, y, structure=structure, distance=distance, filters=bank, localization=localization, max_iter=3)
    slots = slots_of(model)
    D = model.distances(X[:4])
    prototypes = spectra(model.prototype_patches_)
    assert model.omegas_.shape == (slots.max() + 1, H * W, H * W * C)
    for i, x in enumerate(spectra(X[:4])):
        for p, w in enumerate(prototypes):
            omega = model.omegas_[slots[p]]
            r_x, r_w = (sum((omega @ v) * G for G in filter_spectra(bank)) for v in (x, w))
            e = r_x - r_w if distance == "position" else np.abs(r_x) ** 2 - np.abs(r_w) ** 2
            assert D[i, p] == pytest.approx((np.abs(e) ** 2).sum(), rel=1e-8)


@pytest.mark.parametrize("localization", ["global", "class", "prototype"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_distances_with_learned_filters_follow_from_gains_and_powers(structure, localization, data):
    X, y = data
    bank = {"filters": SHORT_WAVES}
    model = fitted(X, y, structure=structure, learn_filters=True, localization=localization, **bank)
    slots = slots_of(model)
    D = model.distances(X)
    for p, w in enumerate(model.prototype_powers_):
        z = (spectra(X) @ model.omegas_[slots[p]].T).reshape(-1, H, W)
        d = ((np.abs(z * model.filter_gains_[slots[p]]) ** 2 - w) ** 2).sum(axis=(1, 2))
        assert np.allclose(D[:, p], d, rtol=1e-8)
    assert (model.prototype_powers_ >= 0).all()
    given = np.abs(sum(filter_spectra(SHORT_WAVES))).reshape(H, W)
    assert not np.allclose(model.filter_gains_, given, rtol=1e-5)  # they were learned
    opposite = np.roll(model.filter_gains_[:, ::-1, ::-1], (1, 1), axis=(1, 2))
    assert np.allclose(model.filter_gains_, opposite)


@pytest.mark.parametrize("settings", VARIANTS, ids=name)
def test_powers_intensities_and_maps_agree(settings, data, models):
    X, _ = data
    model = models[name(settings)]
    through = np.einsum("smn,xn->xsm", model.omegas_, spectra(X)).reshape(len(X), 3, H, W)
    pictures = np.fft.ifft2(through, norm="ortho")
    assert np.allclose(pictures.imag, 0, atol=1e-10)
    assert np.allclose(model.intensities(X), pictures.real)
    assert model.filter_gains_.shape == (3, H, W)
    assert np.allclose(model.powers(X), np.abs(through * model.filter_gains_) ** 2)
    assert np.array_equal(model.powers(X), model.powers(X.reshape(len(X), -1)))
    if settings.get("distance") == "position":
        return
    slots = slots_of(model)
    D = ((model.powers(X)[:, slots] - model.prototype_powers_) ** 2).sum(axis=(2, 3))
    assert np.allclose(D, model.distances(X), rtol=1e-8)
    if not model.learn_filters:
        own = model.powers(model.prototype_patches_)[np.arange(6), slots]
        assert np.allclose(model.prototype_powers_, own)
        assert np.array_equal(model.prototype_patches_.reshape(6, -1), model.prototypes_)


@pytest.mark.parametrize(("shape", "is_complex"), [((6, 5, 3), False), ((5, 4, 2), True)])
@pytest.mark.parametrize("settings", [s for s in VARIANTS if s["structure"] != "full"], ids=name)
def test_color_filters_are_maps_and_filters_as_one_convolution(settings, shape, is_complex):
    X, y = textures(12, shape)
    h, w, _ = shape
    rng = np.random.default_rng(3)
    bank = rng.normal(size=(2, h, w)) + (1j * rng.normal(size=(2, h, w)) if is_complex else 0.0)
    model = fitted(X, y, filters=bank, prototypes_per_class=1, max_iter=3, **settings)
    for slot in range(3):
        kernel = model.color_filters_[slot]
        assert kernel.shape == shape
        out = np.zeros((h, w), complex)
        for i, j in np.ndindex(h, w):
            for a, b in np.ndindex(h, w):
                out[i, j] += kernel[a, b] @ X[0, (i - a + h // 2) % h, (j - b + w // 2) % w]
        amplitudes = np.abs(np.fft.fft2(out, norm="ortho"))
        assert np.allclose(amplitudes**2, model.powers(X[:1])[0, slot])
        if not model.learn_filters:
            r = (model.omegas_[slot] @ spectra(X[:1])[0]) * sum(filter_spectra(bank))
            assert np.allclose(np.fft.fft2(out, norm="ortho").ravel(), r)


def test_color_filters_of_a_full_map_are_its_part_that_does_not_depend_on_the_place(data, models):
    model = models["full-magnitude"]
    S = sum(filter_spectra(gabor_bank((H, W))))
    for omega, kernel in zip(model.omegas_, model.color_filters_):
        diagonal = np.einsum("mmc->mc", omega.reshape(H * W, H * W, C)) * S[:, None]
        expected = np.fft.ifft2(diagonal.reshape(SHAPE), axes=(0, 1))
        assert np.allclose(kernel, np.fft.fftshift(expected.real, axes=(0, 1)))


@pytest.mark.parametrize("settings", VARIANTS, ids=name)
def test_color_weights_are_what_maps_make_of_uniform_patches(settings, models):
    model = models[name(settings)]
    uniform = np.zeros((C, *SHAPE))
    for c in range(C):
        uniform[c, ..., c] = 1.0
    means = model.intensities(uniform).mean(axis=(2, 3))
    assert np.allclose(model.color_weights_, means.T)
    if settings["structure"] != "full":
        assert np.allclose(model.intensities(uniform), means[:, :, None, None])


def test_learned_filters_have_no_prototype_patches(models):
    model = models["color-True"]
    with pytest.raises(AttributeError, match="prototype_powers_"):
        _ = model.prototype_patches_
    assert not hasattr(model, "prototype_patches_")
    assert model.prototype_powers_.shape == (6, H, W)


def test_settings_changed_after_fit_do_not_change_what_was_learned(data, models):
    X, _ = data
    for key, changes in [("diagonal-magnitude", {"distance": "position"}), ("full-True", {"learn_filters": False})]:
        model = pickle.loads(pickle.dumps(models[key]))
        before = model.distances(X), model.prototype_powers_, model.color_filters_
        model.set_params(**changes)
        assert all(map(np.array_equal, (model.distances(X), model.prototype_powers_, model.color_filters_), before))


def test_maps_stay_real_in_long_training(data):
    X, y = data
    for settings in SHIFT_INVARIANT[1:]:
        model = fitted(X[:12], y[:12], max_iter=150, tol=0.0, **settings)
        D = ((model.powers(X)[:, slots_of(model)] - model.prototype_powers_) ** 2).sum(axis=(2, 3))
        assert np.allclose(D, model.distances(X), rtol=1e-11)


# Filters


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_only_the_sum_of_the_bank_counts(settings, data, kernels):
    X, y = data
    model, permuted, summed = (
        fitted(X, y, filters=bank, max_iter=4, **settings)
        for bank in (kernels, kernels[[2, 0, 1]], kernels.sum(axis=0))
    )
    for other in (permuted, summed):
        assert np.allclose(other.distances(X), model.distances(X), rtol=1e-6)
        assert np.array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize(("bank", "maker"), [("gabor", gabor_bank), ("gaussians", difference_of_gaussians_bank)])
def test_banks_by_name_are_the_functions(bank, maker, data):
    X, y = data
    named, given = (fitted(X, y, filters=filters) for filters in (bank, maker((H, W))))
    assert np.array_equal(named.distances(X), given.distances(X))


def test_place_of_the_kernels_does_not_matter_for_powers(data, kernels):
    X, y = data
    model = fitted(X, y, filters=kernels, structure="diagonal")
    moved = fitted(X, y, filters=np.roll(kernels, (1, 2), axis=(1, 2)), structure="diagonal")
    assert np.allclose(model.distances(X), moved.distances(X), rtol=1e-6)


# Stochastic gradient descent in complex numbers, as in the source


def descend(X, y, prototypes, kernels, orders, rates, distance, shared):
    """Learn one prototype for each class; return their spectra and the maps."""
    S = sum(filter_spectra(kernels))
    omegas = [np.kron(np.eye(H * W), np.full(C, 1 / C)).astype(complex) for _ in ([0] if shared else prototypes)]
    w = list(spectra(prototypes))
    x_all = spectra(X)
    for i in np.concatenate(orders):
        x, d, slopes = x_all[i], [], []
        for p in range(len(w)):
            omega = omegas[0 if shared else p]
            r_x, r_w = S * (omega @ x), S * (omega @ w[p])
            if distance == "position":
                e = S.conj() * (r_x - r_w)
                d.append((np.abs(r_x - r_w) ** 2).sum())
                slopes.append((-2 * omega.conj().T @ e, 2 * np.outer(e, (x - w[p]).conj())))
            else:
                delta = np.abs(r_x) ** 2 - np.abs(r_w) ** 2
                d.append((delta**2).sum())
                by_w = -4 * omega.conj().T @ (S.conj() * delta * r_w)
                by_omega = np.outer(delta * r_x * S.conj(), x.conj()) - np.outer(delta * r_w * S.conj(), w[p].conj())
                slopes.append((by_w, 4 * by_omega))
        J = y[i]
        K = min((p for p in range(len(w)) if p != J), key=d.__getitem__)
        total = (d[J] + d[K]) ** 2
        for p, gamma in ((J, 2 * d[K] / total), (K, -2 * d[J] / total)):
            w[p] = w[p] - rates[0] * gamma * slopes[p][0]
            slot = 0 if shared else p
            omegas[slot] = omegas[slot] - rates[1] * gamma * slopes[p][1]
    return np.array(w), np.array(omegas)


@pytest.mark.parametrize("localization", ["class", "global"])
@pytest.mark.parametrize("distance", ["magnitude", "position"])
def test_online_training_takes_the_steps_of_the_source(distance, localization, data, kernels):
    X, y = data[0][:7], data[1][:7]
    start = X[[0, 1, 2]]
    rates = (0.02, 0.01)
    model = CIALVQ(
        1,
        structure="full",
        distance=distance,
        localization=localization,
        filters=kernels,
        squashing="identity",
        init=start,
        solver=SGD(*rates, decay=0.0),
        max_iter=2,
        random_state=0,
    )
    model.fit(X[1:], y[1:])
    rng = np.random.RandomState(0)
    orders = [rng.permutation(6) for _ in range(2)]
    w, omegas = descend(X[1:], y[1:], start, kernels, orders, rates, distance, localization == "global")
    patches = np.fft.ifft2(w.reshape(3, *SHAPE), axes=(1, 2), norm="ortho")
    assert np.abs(patches.imag).max() < 1e-12  # real patches stay real
    assert np.allclose(model.prototype_patches_, patches.real, rtol=1e-8, atol=1e-10)
    assert np.allclose(model.omegas_, omegas, rtol=1e-8, atol=1e-10)
    assert np.abs(omegas - omegas.mean(axis=0)).max() > 1e-4 or localization == "global"
    assert np.abs(patches.real - start).max() > 1e-4


# Invariances


@pytest.mark.parametrize("settings", [s for s in VARIANTS if s["structure"] != "full"], ids=name)
def test_translated_patches_keep_their_class_unless_positions_count(settings, data, models):
    X, _ = data
    model = models[name(settings)]
    for move in [(1, 0), (0, 2), (4, 3)]:
        moved = np.roll(X, move, axis=(1, 2))
        if settings.get("distance") == "position":
            assert not np.allclose(model.distances(moved), model.distances(X), rtol=1e-3)
        else:
            assert np.allclose(model.distances(moved), model.distances(X), rtol=1e-8)
            assert np.array_equal(model.predict(moved), model.predict(X))


def test_training_on_translated_patches_is_the_same(data):
    X, y = data
    rng = np.random.default_rng(1)
    moved = np.stack([np.roll(x, rng.integers(0, 5, 2), axis=(0, 1)) for x in X])
    for settings in SHIFT_INVARIANT:
        plain, other = (fitted(Z, y, max_iter=4, prototypes_per_class=1, **settings) for Z in (X, moved))
        assert np.allclose(other.distances(X), plain.distances(X), rtol=1e-5)


def test_trained_full_maps_see_positions(data, models):
    X, _ = data
    model = models["full-magnitude"]
    assert not np.allclose(model.distances(np.roll(X, (2, 1), axis=(1, 2))), model.distances(X), rtol=1e-3)


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_range_of_the_pixels_does_not_matter(settings, data):
    X, y = data
    bytes_ = np.round(np.clip(X, 0, 1) * 255).astype(np.uint8)
    from_bytes, from_unit = (fitted(Z, y, max_iter=4, **settings) for Z in (bytes_, bytes_ / 255))
    assert np.array_equal(from_bytes.predict(bytes_), from_unit.predict(bytes_ / 255))
    assert np.allclose(from_bytes.prototypes_, 255 * from_unit.prototypes_, rtol=1e-6, atol=1e-4)
    assert np.allclose(from_bytes.omegas_, from_unit.omegas_, rtol=1e-6, atol=1e-8)
    power = 2 if settings.get("distance") == "position" else 4
    assert np.allclose(from_bytes.distances(bytes_), 255.0**power * from_unit.distances(bytes_ / 255), rtol=1e-5)
    assert np.allclose(from_bytes.predict_proba(bytes_), from_unit.predict_proba(bytes_ / 255), atol=1e-5)
    assert np.allclose(from_bytes.confidence(bytes_), from_unit.confidence(bytes_ / 255), atol=1e-5)


@pytest.mark.parametrize("settings", [{}, {"distance": "position"}, {"learn_filters": True}], ids=name)
def test_transposed_patches_and_filters_give_the_same_model(settings, data, kernels):
    X, y = data
    for structure in STRUCTURES:
        plain = fitted(X, y, structure=structure, filters=kernels, max_iter=3, prototypes_per_class=1, **settings)
        turned = clone(plain).set_params(filters=np.swapaxes(kernels, 1, 2)).fit(np.swapaxes(X, 1, 2), y)
        assert np.allclose(turned.distances(np.swapaxes(X, 1, 2)), plain.distances(X), rtol=1e-5)
        assert np.allclose(np.swapaxes(turned.color_filters_, 1, 2), plain.color_filters_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_order_of_channels_samples_and_names_of_classes_do_not_matter(settings, data):
    X, y = data
    settings = settings | {"prototypes_per_class": 1, "max_iter": 4}
    plain = fitted(X, y, **settings)
    channels = [2, 0, 1]
    other = fitted(X[..., channels], y, **settings)
    assert np.allclose(other.distances(X[..., channels]), plain.distances(X), rtol=1e-5)
    assert np.allclose(other.color_weights_, plain.color_weights_[:, channels], rtol=1e-5, atol=1e-7)
    order = np.random.default_rng(0).permutation(len(X))
    assert np.allclose(fitted(X[order], y[order], **settings).distances(X), plain.distances(X), rtol=1e-5)
    words = np.array(["bark", "brick", "tile"])
    named = fitted(X, words[y], **settings)
    assert np.array_equal(named.predict(X), words[plain.predict(X)])
    assert np.array_equal(named.distances(X), plain.distances(X))


def test_prototype_lies_on_itself(models):
    for key in ("color-magnitude", "diagonal-position", "full-magnitude"):
        model = models[key]
        D = model.distances(model.prototype_patches_)
        assert np.diag(D).max() <= 1e-20 * D.max()
        assert np.array_equal(model.predict(model.prototypes_), model.prototype_labels_)


# Where training starts


@pytest.mark.pairwise(structure=STRUCTURES, learn_filters=[False, True], bank=["gabor", "gaussians", None])
def test_one_prototype_starts_with_the_mean_powers_of_its_class(structure, learn_filters, bank, data):
    X, y = data
    model = fitted(
        X,
        y,
        prototypes_per_class=1,
        solver=FROZEN,
        max_iter=1,
        structure=structure,
        learn_filters=learn_filters,
        filters=bank,
    )
    makers = {"gabor": gabor_bank, "gaussians": difference_of_gaussians_bank}
    S = 1.0 if bank is None else sum(filter_spectra(makers[bank]((H, W)))).reshape(H, W)
    powers = np.abs(np.fft.fft2(X.mean(axis=-1), norm="ortho") * S) ** 2  # of the mean of the channels
    means = np.stack([powers[y == label].mean(axis=0) for label in range(3)])
    assert np.allclose(model.prototype_powers_, means, rtol=1e-6, atol=1e-9 * means.max())


@pytest.mark.parametrize("structure", STRUCTURES)
def test_several_prototypes_start_at_centers_of_the_powers(structure, data):
    X, y = data
    weights = np.random.default_rng(2).integers(1, 4, len(X))
    model = CIALVQ(2, structure=structure, solver=FROZEN, max_iter=1, random_state=0, filters=None)
    model.fit(X, y, sample_weight=weights)
    powers = model.powers(X)[:, 0].reshape(len(X), -1)
    found = model.prototype_powers_.reshape(6, -1)
    for label in range(3):
        mine, centers = powers[y == label], found[model.prototype_labels_ == label]
        assert not np.allclose(centers[0], centers[1], rtol=1e-2)
        nearest = ((mine[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for p in range(2):  # neural gas ends as k-means: each center is the mean of its own
            u = weights[y == label][nearest == p]
            assert np.allclose(centers[p], u @ mine[nearest == p] / u.sum(), rtol=0.05, atol=0.02 * centers.max())


def test_positions_start_at_means_of_patches(data):
    X, y = data
    model = fitted(X, y, init="neural_gas", distance="position", solver=FROZEN, max_iter=1)
    samples = Labeled(X.reshape(len(X), -1), y, np.ones(len(X)))
    W0 = first_prototypes(samples, np.repeat(range(3), 2), "neural_gas", np.random.RandomState(0))
    assert np.allclose(model.prototypes_, W0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # fewer patches than prototypes differ
@pytest.mark.parametrize("init", ["neural_gas", "mean"])
@pytest.mark.parametrize("settings", SOME, ids=name)
def test_dark_and_uniform_patches_give_finite_models(settings, init):
    rng = np.random.default_rng(0)
    X = rng.random((18, *SHAPE))
    y = np.arange(18) % 3
    X[y == 0] = 0.0
    X[y == 1] = rng.random((6, 1, 1, 3))  # uniform, each of its own color
    model = fitted(X, y, init=init, max_iter=3, **settings)
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.omegas_).all()
    assert np.isfinite(model.distances(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.abs(model.prototypes_).max() < 1e3
    assert (model.predict(X)[y == 2] == 2).sum() >= 4


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_patches_that_are_all_black_or_all_the_same_do_not_fail(settings):
    y = np.arange(12) % 2
    for value in (0.0, 0.7):
        model = fitted(np.full((12, *SHAPE), value), y, max_iter=3, **settings)
        assert np.isfinite(model.prototypes_).all()
        assert np.isfinite(model.predict_proba(np.full((2, *SHAPE), value))).all()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_colors_the_map_does_not_see_do_not_blow_prototypes_up(structure):
    rng = np.random.default_rng(1)
    pattern = 0.1 * rng.normal(size=(20, H, W))
    X = np.full((20, *SHAPE), 0.3)
    X[..., 0] += pattern
    X[..., 1] -= pattern  # the mean of the channels stays the same
    X[::7] += 0.01 * rng.random((3, H, W, 1))
    settings = {"prototypes_per_class": 1, "filters": None, "solver": FROZEN, "max_iter": 1}
    model = fitted(X, np.arange(20) % 2, structure=structure, **settings)
    assert np.abs(model.prototypes_).max() < 2.0
    powers = np.abs(np.fft.fft2(X.mean(axis=-1), norm="ortho")) ** 2
    means = np.stack([powers[::2].mean(axis=0), powers[1::2].mean(axis=0)])
    assert np.allclose(model.prototype_powers_, means, rtol=1e-6, atol=1e-12 * means.max())


@pytest.mark.parametrize("learn_filters", [False, True])
def test_given_patches_are_the_first_prototypes(learn_filters, data):
    X, y = data
    start = X[[3, 4, 5]]
    frozen = {"solver": FROZEN, "max_iter": 1, "prototypes_per_class": 1, "learn_filters": learn_filters}
    pictures, rows = (fitted(X, y, init=init, **frozen) for init in (start, start.reshape(3, -1)))
    assert np.array_equal(pictures.prototypes_, rows.prototypes_)
    expected = pictures.powers(start)[np.arange(3), np.arange(3)]
    assert np.allclose(pictures.prototype_powers_, expected, rtol=1e-10)
    if not learn_filters:
        assert np.array_equal(pictures.prototype_patches_, start)
    scaled = fitted(X, y, init=start, max_iter=2, prototypes_per_class=1, learn_filters=learn_filters)
    tenfold = fitted(10 * X, y, init=10 * start, max_iter=2, prototypes_per_class=1, learn_filters=learn_filters)
    assert np.allclose(tenfold.prototypes_, 10 * scaled.prototypes_, rtol=1e-6, atol=1e-8)


# Training


@pytest.mark.parametrize("settings", VARIANTS, ids=name)
def test_training_lowers_the_cost_and_tells_textures_apart(settings):
    X, y = textures(90)
    rng = np.random.default_rng(0)
    new = X + 0.02 * rng.normal(size=X.shape)
    model = fitted(X, y, prototypes_per_class=2, max_iter=20, filters=SHORT_WAVES, **settings)
    assert model.cost_history_[-1] < model.cost_history_[0]
    assert model.score(X, y) > 0.9
    assert model.score(new, y) > 0.85


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("settings", SHIFT_INVARIANT[1:], ids=name)
def test_every_solver_lowers_the_cost(settings, solver):
    X, y = textures(18, noise=0.7)
    shared = settings | {"prototypes_per_class": 1, "squashing": "identity", "filters": SHORT_WAVES}
    start = fitted(X, y, solver=FROZEN, **(shared | {"max_iter": 1}))
    model = fitted(X, y, solver=solver, **(shared | {"max_iter": 5}))
    assert model.relative_distance(X, y).mean() < start.relative_distance(X, y).mean()
    again = fitted(X, y, solver=solver, **(shared | {"max_iter": 5}))
    assert np.array_equal(model.distances(X), again.distances(X))


@pytest.mark.parametrize("settings", VARIANTS, ids=name)
def test_cost_is_the_mean_of_the_squashed_relative_distances(settings, models, data):
    X, y = data
    model = models[name(settings)]
    slope = model._slope()[1] if model.squashing != "identity" else 1.0
    mu = model.relative_distance(X, y)
    gate = 1 / (1 + np.exp(-slope * mu))
    values = {"identity": mu, "sigmoid": gate, "swish": mu * gate}[model.squashing]
    assert values.mean() == pytest.approx(model.cost_history_[-1], rel=1e-6)


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_warm_start_goes_on_from_the_last_state(settings, data):
    X, y = data
    model = fitted(X, y, warm_start=True, squashing="identity", **settings)
    before, cost = model.distances(X), model.cost_history_[-1]
    model.set_params(solver=FROZEN, max_iter=1).fit(X, y)
    assert np.allclose(model.distances(X), before, rtol=1e-9)
    model.set_params(solver="lbfgs", max_iter=5).fit(X, y)
    assert model.cost_history_[-1] < cost


@pytest.mark.parametrize(
    "change",
    [
        {"filters": "gaussians"},
        {"structure": "color"},
        {"distance": "position"},
        {"learn_filters": True},
        {"localization": "global"},
        {"prototypes_per_class": 3},
    ],
    ids=name,
)
def test_warm_start_needs_a_model_of_the_same_form(change, data):
    X, y = data
    model = fitted(X, y, structure="diagonal", warm_start=True)
    before = model.distances(X)
    with pytest.raises(ValueError, match=next(iter(change))):
        model.set_params(**change).fit(X, y)
    assert np.array_equal(model.distances(X), before)


def test_warm_start_needs_patches_of_the_same_shape(data):
    X, y = data
    rows = X.reshape(len(X), -1)
    model = fitted(rows, y, warm_start=True, patch_shape=SHAPE)
    with pytest.raises(ValueError, match="patch_shape"):
        model.set_params(patch_shape=(5, 6, 3)).fit(rows, y)
    with pytest.raises(ValueError, match=r"\(5, 6, 3\)"):
        model.set_params(patch_shape=SHAPE).fit(np.swapaxes(X, 1, 2), y)


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_partial_fit_learns_from_batches(settings):
    X, y = textures(90, noise=0.7)
    shared = settings | {"filters": SHORT_WAVES, "init": X[[1, 2, 0]], "random_state": 0}  # of the wrong classes
    start = CIALVQ(1, solver=FROZEN, max_iter=1, **shared).fit(X, y)
    model = CIALVQ(1, **shared)
    for _ in range(8):
        for rows in np.array_split(np.random.default_rng(0).permutation(90), 3):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert model.relative_distance(X, y).mean() < start.relative_distance(X, y).mean() - 0.1
    assert model.score(X, y) > start.score(X, y) + 0.2
    slots = slots_of(model)
    if settings.get("distance") != "position":
        D = ((model.powers(X)[:, slots] - model.prototype_powers_) ** 2).sum(axis=(2, 3))
        assert np.allclose(D, model.distances(X), rtol=1e-7)


@pytest.mark.parametrize(("prototypes", "n_new"), [(1, 10), (2, 1)])
@pytest.mark.parametrize("settings", SOME, ids=name)
def test_partial_fit_welcomes_a_class_with_its_own_powers(settings, prototypes, n_new, data, monkeypatch):
    X, y = data
    model = CIALVQ(prototypes, random_state=0, **settings)
    model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2])
    assert (model.predict(X) == 0).all()
    assert np.isinf(model.distances(X)[:, prototypes:]).all()
    model.partial_fit(X[y < 2], y[y < 2])
    assert set(model.predict(X)) <= {0, 1}
    monkeypatch.setattr("protolearn.lvq._stream.Stream.learn", _learn_nothing)
    late = X[y == 2][:n_new]
    model.partial_fit(late, np.full(len(late), 2))
    assert np.isfinite(model.distances(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    if settings.get("distance") == "position" or settings["structure"] == "full":
        return
    own = model.powers(late)[:, slots_of(model)[-1]]
    found = model.prototype_powers_[-prototypes:]
    if prototypes == 1:
        assert np.allclose(found[0], own.mean(axis=0), rtol=1e-6, atol=1e-8 * own.max())
    else:
        low, high = own.min(axis=0), own.max(axis=0)
        slack = 0.02 * own.max()
        assert ((found > low - slack) & (found < high + slack)).all()


def _learn_nothing(stream, problem, solver):
    return 0.0


def test_partial_fit_goes_on_after_fit(data):
    X, y = data
    model = fitted(X, y, structure="diagonal", filters=SHORT_WAVES, max_iter=15)
    before = model.distances(X)
    model.partial_fit(X, y)
    assert np.isfinite(model.distances(X)).all()
    assert not np.array_equal(model.distances(X), before)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_weight_is_repetition(settings, data):
    X, y = data
    times = np.random.default_rng(0).integers(0, 3, len(X))
    shared = settings | {"prototypes_per_class": 1, "max_iter": 4}
    weighted = CIALVQ(random_state=0, **shared).fit(X, y, sample_weight=times)
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(y, times), **shared)
    assert np.allclose(weighted.distances(X), repeated.distances(X), rtol=1e-5)
    by_class = fitted(X, y, class_weight={0: 1, 1: 3, 2: 1}, **shared)
    by_sample = CIALVQ(random_state=0, **shared).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    assert np.array_equal(by_class.prototypes_, by_sample.prototypes_)


@pytest.mark.parametrize("rule", [True, "train"])
def test_early_stopping_keeps_the_best_state(rule):
    X, y = textures(60)
    model = fitted(X, y, early_stopping=rule, max_iter=30, n_iter_no_change=3, validation_fraction=0.2)
    best = int(np.argmax(model.score_history_))
    assert len(model.score_history_) == model.n_iter_
    assert len(model.score_history_) - 1 - best <= 3
    if rule == "train":
        assert model.score(X, y) == pytest.approx(model.score_history_[best])


class Interrupted(Solver):
    """Two steps, then Ctrl-C."""

    def minimize(self, problem, start, max_iter, tol, rng, watch):
        costs = []

        def stop(flat, cost, stage=0):
            watch(flat, cost, stage)
            costs.append(cost)
            if len(costs) == 2:
                raise KeyboardInterrupt

        LBFGS().minimize(problem, start, max_iter, tol, rng, stop)


@pytest.mark.parametrize("learn_filters", [False, True])
def test_interruption_keeps_the_state_so_far(learn_filters, data):
    X, y = data
    shared = {"squashing": "identity", "learn_filters": learn_filters, "prototypes_per_class": 1, "random_state": 0}
    model = CIALVQ(solver=Interrupted(), max_iter=9, **shared)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == 2
    two_steps = CIALVQ(solver=LBFGS(), max_iter=2, **shared).fit(X, y)
    assert np.array_equal(model.distances(X), two_steps.distances(X))
    assert np.isfinite(model.predict_proba(X)).all()


def test_threads_do_not_change_the_result(data, monkeypatch):
    monkeypatch.setattr("protolearn.lvq.problem.CACHED", 1)
    monkeypatch.setattr("protolearn.lvq.problem.LEAST_NUMBERS", 1)
    X, y = textures(280)
    for settings in ({"structure": "full"}, {"structure": "diagonal", "learn_filters": True}):
        one, two = (fitted(X, y, n_jobs=n, max_iter=2, **settings) for n in (1, 2))
        assert np.array_equal(one.prototypes_, two.prototypes_)
        assert np.array_equal(one.distances(X), two.distances(X))


def test_progress_is_reported(data, capsys):
    X, y = data
    fitted(X, y, verbose=2, max_iter=3, squashing="identity")
    assert "[CIALVQ] iteration 3/3  cost" in capsys.readouterr().out


# Living with scikit-learn


@pytest.mark.parametrize("settings", SOME, ids=name)
def test_copies_are_the_same_model(settings, data, models):
    X, y = data
    model = models[name(settings)]
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(copy.omegas_, model.omegas_)
    assert np.array_equal(clone(model).fit(X, y).distances(X), model.distances(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_search_and_cross_validation_take_patches(data):
    X, y = data
    model = CIALVQ(1, max_iter=2, random_state=0)
    search = GridSearchCV(model, {"structure": ["color", "diagonal"], "filters": ["gabor", None]}, cv=2).fit(X, y)
    assert search.best_estimator_.patch_shape_ == SHAPE
    assert search.predict(X).shape == (len(X),)
    scores = cross_val_score(model, X, y, cv=3)
    rows = cross_val_score(model.set_params(patch_shape=SHAPE), X.reshape(len(X), -1), y, cv=3)
    assert np.array_equal(scores, rows)


def test_rows_lists_and_other_types_are_the_same_patches(data):
    X, y = data
    X = X.astype(np.float32)
    settings = {"structure": "diagonal", "max_iter": 3}
    model = fitted(X, y, **settings)
    assert model.n_features_in_ == H * W * C
    assert model.patch_shape_ == SHAPE
    for other in (X.astype(float), X.astype(object), X.tolist(), list(X), np.asfortranarray(X), X[:, ::-1][:, ::-1]):
        assert np.array_equal(fitted(other, y, **settings).distances(X), model.distances(X))
        assert np.allclose(model.distances(other), model.distances(X), rtol=1e-12)
    for shape in (SHAPE, [6, 5, 3], (6, 5, -1), (-1, 5, 3)):
        rows = fitted(X.reshape(len(X), -1), y, patch_shape=shape, **settings)
        assert rows.patch_shape_ == SHAPE
        assert np.array_equal(rows.distances(X), model.distances(X.reshape(len(X), -1)))


def test_names_of_features_are_kept(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    table = pd.DataFrame(X.reshape(len(X), -1), columns=[f"p{i}" for i in range(H * W * C)])
    model = fitted(table, y, patch_shape=SHAPE, max_iter=2)
    assert list(model.feature_names_in_) == list(table.columns)
    assert np.array_equal(model.predict(table), fitted(X, y, max_iter=2).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[table.columns[::-1]])


@pytest.mark.parametrize("settings", VARIANTS, ids=name)
def test_everything_that_is_said_of_new_patches_follows_from_the_distances(settings, models):
    model = models[name(settings)]
    X, y = textures(20, seed=9)
    D = model.distances(X)
    labels = model.prototype_labels_
    near = np.stack([D[:, labels == label].min(axis=1) for label in range(3)], axis=1)
    assert np.array_equal(model.predict(X), near.argmin(axis=1))
    assert np.allclose(model.decision_function(X), -np.sqrt(near), rtol=1e-10)
    ordered = np.sort(near, axis=1)
    assert np.allclose(model.confidence(X), (ordered[:, 1] - ordered[:, 0]) / (ordered[:, 1] + ordered[:, 0]))
    own = near[np.arange(20), y]
    other = np.where(np.eye(3, dtype=bool)[y], np.inf, near).min(axis=1)
    assert np.allclose(model.relative_distance(X, y), (own - other) / (own + other))
    assert np.allclose(model.margins(X, y), other - own, rtol=1e-8)
    P = model.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1.0)
    logs = np.log(np.maximum(P[:, 1:], 1e-300) / np.maximum(P[:, :1], 1e-300))
    seen = (P.min(axis=1) > 1e-200) & (np.abs(near[:, 1] - near[:, 0]) > 1e-6 * near[:, 0])
    temperatures = (np.sqrt(near[seen, :1]) - np.sqrt(near[seen, 1:])) / logs[seen]
    assert np.allclose(temperatures, np.median(temperatures), rtol=1e-4)


def test_unsure_patches_can_be_rejected(data):
    X, y = data
    model = fitted(X, y, reject_threshold=0.5, reject_label=-1)
    unsure = model.confidence(X) < 0.5
    assert 0 < unsure.sum() < len(X)
    assert np.array_equal(model.predict(X) == -1, unsure)
    assert np.array_equal(model.predict(X)[~unsure], model.set_params(reject_threshold=0.0).predict(X)[~unsure])


def test_any_number_of_channels_and_any_size():
    for shape in [(4, 4, 1), (3, 4, 5), (1, 8, 3), (9, 1, 2), (1, 1, 4)]:
        X, y = textures(12, shape)
        for settings in VARIANTS:
            model = fitted(X, y, max_iter=1, prototypes_per_class=1, **settings)
            assert model.omegas_.shape == (3, shape[0] * shape[1], int(np.prod(shape)))
            assert np.isfinite(model.distances(X)).all()


# Unusual input


def test_patches_of_different_sizes_are_named(data):
    X, y = data
    ragged = [*list(X[:-1]), X[-1][:4]]
    with pytest.raises(ValueError, match=r"differ in shape.*\(4, 5, 3\).*\(6, 5, 3\)"):
        CIALVQ().fit(ragged, y)
    model = fitted(X, y, max_iter=1)
    with pytest.raises(ValueError, match="differ in shape"):
        model.predict(ragged)


def test_gray_patches_need_a_channel(data):
    X, y = data
    with pytest.raises(ValueError, match="channel"):
        CIALVQ().fit(X[..., 0], y)
    with pytest.raises(ValueError, match="channel"):
        fitted(X[..., :1], y, max_iter=1).predict(X[..., 0])
    with pytest.raises(ValueError, match=r"init.*channel"):
        CIALVQ(1, init=X[:3, ..., 0]).fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(value, data):
    X, y = data
    model = fitted(X, y, max_iter=1)
    bad = X.copy()
    bad[3, 1, 2, 0] = value
    for call in (model.predict, model.distances, model.powers, model.intensities):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            call(bad)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        CIALVQ().fit(bad, y)
    with pytest.raises(ValueError, match="init"):
        CIALVQ(1, init=bad[[3, 4, 5]]).fit(X, y)


def test_shapes_that_do_not_fit_are_refused(data):
    X, y = data
    rows = X.reshape(len(X), -1)
    with pytest.raises(ValueError, match="patch_shape"):
        CIALVQ().fit(rows, y)
    for shape in [(6, 5, 4), (6, 5), (90,), 90, "6x5x3", (6, 5, 3.0), (-1, -1, 3), (0, 5, 3), (6, 5, 3, 1)]:
        with pytest.raises(ValueError, match="patch_shape"):
            CIALVQ(patch_shape=shape).fit(rows, y)
    with pytest.raises(ValueError, match="patch_shape"):
        CIALVQ(patch_shape=(5, 6, 3)).fit(X, y)
    model = fitted(X, y, max_iter=1)
    for other in (X[:, :5], np.swapaxes(X, 1, 2), X[..., :2]):
        with pytest.raises(ValueError, match=r"\(6, 5, 3\)"):
            model.predict(other)
        with pytest.raises(ValueError, match=r"\(6, 5, 3\)|features"):
            model.partial_fit(other, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(rows[:, :-1])
    for empty in (X[:0], rows[:0]):
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(empty)
    with pytest.raises(ValueError, match="0 sample"):
        CIALVQ().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="init"):
        CIALVQ(1, init=X[:2]).fit(X, y)


@pytest.mark.parametrize(
    "bad",
    [
        np.ones((2, 5, 6)),
        np.ones((6, 6)),
        np.ones(30),
        np.ones((1, 1, 6, 5)),
        np.full((6, 5), np.nan),
        np.full((2, 6, 5), np.inf),
        np.zeros((2, 6, 5)),
        np.zeros((0, 6, 5)),
        np.array([["a"] * 5] * 6),
        [np.ones((6, 5)), np.ones((3, 3))],
        [],
        7,
        "sobel",
    ],
    ids=range(13),
)
def test_filters_that_do_not_fit_are_refused(bad, data):
    with pytest.raises(ValueError, match="filters"):
        CIALVQ(filters=bad).fit(*data)


def test_filters_that_cancel_are_refused(data, kernels):
    with pytest.raises(ValueError, match="filters"):
        CIALVQ(filters=[kernels[0], -kernels[0]]).fit(*data)
    with pytest.raises(ValueError, match="filters"):
        CIALVQ(filters="gaussians").fit(data[0][:, :1, :1], data[1])


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"structure": "block"}, "structure"),
        ({"structure": None}, "structure"),
        ({"localization": "pixel"}, "localization"),
        ({"distance": "power"}, "distance"),
        ({"learn_filters": True, "distance": "position"}, "learn_filters"),
        ({"learn_filters": "yes"}, "learn_filters"),
        ({"init": "random"}, "init"),
        ({"squashing": "relu"}, "squashing"),
        ({"solver": "newton"}, "solver"),
        ({"prototypes_per_class": 0}, "prototypes_per_class"),
        ({"prototypes_per_class": 11}, "prototypes"),
        ({"max_iter": -1}, "max_iter"),
    ],
)
def test_unknown_options_are_named_and_the_old_model_stays(settings, named, data, models):
    X, y = data
    model = pickle.loads(pickle.dumps(models["diagonal-magnitude"]))
    before = model.distances(X)
    with pytest.raises(ValueError, match=named):
        model.set_params(**settings).fit(X, y)
    assert np.array_equal(model.distances(X), before)


def test_failed_fit_leaves_the_old_model(data, models):
    X, y = data
    model = pickle.loads(pickle.dumps(models["full-magnitude"]))
    before, keys = model.predict_proba(X), set(vars(model))
    with pytest.raises(ValueError, match="class"):
        model.fit(X[:, :4, :4], np.zeros(len(X)))
    with pytest.raises(ValueError, match="patch_shape"):
        model.fit(X.reshape(len(X), -1), y)
    with pytest.raises(ValueError, match="channel"):
        model.fit(X[..., 0], y)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        model.set_params(solver=SGD(1e300, 1e300)).fit(X, y)
    assert model.patch_shape_ == SHAPE
    assert set(vars(model)) == keys
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("factor", [1e100, 1e40, 1e-40, 1e-140])
@pytest.mark.parametrize("settings", SOME, ids=name)
def test_absurd_pixels_are_refused(settings, factor, data, models):
    X, y = data
    with pytest.raises(ValueError, match="pixel"):
        CIALVQ(**settings).fit(factor * X, y)
    if factor > 1:
        for call in (models[name(settings)].predict, models[name(settings)].predict_proba):
            with pytest.raises(ValueError, match="pixel"):
                call(factor * X)


@pytest.mark.parametrize("factor", [1e-25, 1e25])
@pytest.mark.parametrize("settings", SOME, ids=name)
def test_units_of_the_pixels_are_free(settings, factor, data):
    X, y = data
    shared = settings | {"prototypes_per_class": 1, "max_iter": 3}
    plain, other = (fitted(Z, y, **shared) for Z in (X, factor * X))
    assert np.array_equal(other.predict(factor * X), plain.predict(X))
    assert np.allclose(other.predict_proba(factor * X), plain.predict_proba(X), atol=1e-5)
    assert np.allclose(other.confidence(factor * X), plain.confidence(X), atol=1e-5)


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_size_of_the_filters_does_not_matter(factor, data, kernels):
    X, y = data
    for settings in VARIANTS:
        shared = settings | {"prototypes_per_class": 1, "max_iter": 3}
        plain, other = (fitted(X, y, filters=bank, **shared) for bank in (kernels, factor * kernels))
        assert np.array_equal(other.predict(X), plain.predict(X))
        assert np.allclose(other.confidence(X), plain.confidence(X), atol=1e-4)


def test_one_class_is_refused(data):
    X, _ = data
    with pytest.raises(ValueError, match="class"):
        CIALVQ().fit(X, np.ones(len(X)))


def test_fewer_patches_than_prototypes(data):
    X, y = data
    with pytest.raises(ValueError, match="fewer than its 4 prototypes"):
        CIALVQ(4).fit(X[:9], y[:9])
    uneven = fitted(X, y, prototypes_per_class={0: 1, 1: 3, 2: 10})
    assert np.array_equal(np.bincount(uneven.prototype_labels_), [1, 3, 10])
    assert np.isfinite(uneven.prototypes_).all()
