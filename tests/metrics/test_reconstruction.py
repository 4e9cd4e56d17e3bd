import numpy as np
import pytest
from sklearn.decomposition import PCA

from protolearn.metrics import reconstruction_bound, reconstruction_error


def _there_and_back(X, k):
    pca = PCA(k).fit(X)
    return pca.inverse_transform(pca.transform(X))


def test_error_of_principal_components_is_the_sum_of_discarded_variances():
    X = np.random.default_rng(0).normal(size=(300, 5)) * [5, 4, 3, 2, 1]
    values = np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))
    for k in (1, 3, 5):
        assert reconstruction_error(X, _there_and_back(X, k)) == pytest.approx(values[: 5 - k].sum(), abs=1e-10)
    assert reconstruction_error(X, np.tile(X.mean(axis=0), (300, 1)), relative=True) == pytest.approx(1.0)


def test_error_is_a_mean_over_samples_and_does_not_see_a_common_shift():
    rng = np.random.default_rng(1)
    X, back = rng.normal(size=(2, 50, 3))
    slow = sum(sum((a - b) ** 2 for a, b in zip(x, z)) for x, z in zip(X, back)) / 50
    assert reconstruction_error(X, back) == pytest.approx(slow)
    assert reconstruction_error(X + 7, back + 7, relative=True) == pytest.approx(
        reconstruction_error(X, back, relative=True)
    )


def test_bound_holds_on_new_samples_and_falls_with_their_number():
    rng = np.random.default_rng(2)
    values = []
    for n in (500, 8000):
        X, new = (rng.uniform(-1, 1, size=(size, 4)) * [4, 3, 1, 1] for size in (n, 20_000))
        pca = PCA(2).fit(X)
        bound = reconstruction_bound(X, pca.inverse_transform(pca.transform(X)), 2, random_state=0)
        assert reconstruction_error(new, pca.inverse_transform(pca.transform(new))) < bound.in_units
        assert bound.value == pytest.approx(bound.error + bound.complexity + bound.confidence)
        values.append(bound)
    few, many = values
    assert many.complexity < few.complexity / 2
    assert many.confidence == pytest.approx(few.confidence / 4)


def test_complexity_is_the_largest_signed_error_of_any_plane():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    X -= X.mean(axis=0)
    bound = reconstruction_bound(X, X, 1, n_draws=1, random_state=5)
    signs = np.random.RandomState(5).choice([-1.0, 1.0], size=40)
    angles = np.linspace(0, np.pi, 20_001)
    normals = np.stack([-np.sin(angles), np.cos(angles)])
    largest = np.abs(signs @ np.square(X @ normals)).max() / bound.diameter**2
    assert bound.complexity == pytest.approx(2 / 40 * largest, rel=1e-6)


def test_more_cells_are_more_complex_and_the_scale_does_not_matter():
    X = np.random.default_rng(4).normal(size=(400, 3))
    cells = np.arange(400) % 8
    one, many = (reconstruction_bound(X, X, 1, labels=c, random_state=0).complexity for c in (None, cells))
    assert many > one
    large = reconstruction_bound(1e6 * X, 1e6 * X, 1, labels=cells, random_state=0)
    assert large.complexity == pytest.approx(many)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_hat": np.zeros((3, 2))}, "must be equal"),
        ({"n_components": 4}, "n_components"),
        ({"delta": 0.0}, "delta"),
        ({"labels": [0, 1]}, "labels has 2"),
        ({"X": np.zeros((3, 3)), "X_hat": np.zeros((3, 3))}, "All samples are equal"),
    ],
    ids=["shapes", "dimension", "delta", "labels", "same"],
)
def test_bad_input_is_named(change, message):
    arguments = {"X": np.eye(3), "X_hat": np.eye(3), "n_components": 1} | change
    with pytest.raises(ValueError, match=message):
        reconstruction_bound(**arguments)
    with pytest.raises(ValueError, match="relative"):
        reconstruction_error(np.ones((3, 2)), np.ones((3, 2)), relative=True)
