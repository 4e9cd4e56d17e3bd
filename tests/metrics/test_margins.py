import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.metrics import (
    MarginBound,
    classification_margins,
    margin_bound,
    margin_error,
    posterior_margin_bound,
    ramp_loss,
)

MARGINS = st.lists(st.floats(-10, 10), min_size=1, max_size=30)
WIDTHS = st.floats(1e-3, 20)
SIZE = {"n_prototypes": 2, "radius": 0.8, "constant": 0.01}


def loss(t, rho):
    if t <= 0:
        return 1.0
    return 1 - t / rho if t <= rho else 0.0


def a_bound(*, margins=None, **changes):
    margins = np.linspace(-1, 4, 1000) if margins is None else margins
    return margin_bound(margins, **({"n_prototypes": 4, "radius": 1.5, "rho": 0.5, "delta": 0.05} | changes))


class TestClassificationMargins:
    @given(st.integers(0, 1000))
    def test_by_definition(self, seed):
        rng = np.random.default_rng(seed)
        n_classes = rng.integers(2, 5)
        labels = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 4)]))
        distances, y = rng.random((12, len(labels))), rng.integers(0, n_classes, 12)
        expected = [
            min(d for d, label in zip(row, labels) if label != target)
            - min(d for d, label in zip(row, labels) if label == target)
            for row, target in zip(distances, y)
        ]
        margins = classification_margins(distances, labels, y)
        np.testing.assert_array_equal(margins, expected)
        np.testing.assert_array_equal(margins > 0, labels[distances.argmin(axis=1)] == y)

    def test_names_and_order_of_the_classes_do_not_matter(self):
        rng = np.random.default_rng(0)
        distances, labels, y = rng.random((20, 5)), np.array([0, 1, 2, 0, 1]), rng.integers(0, 3, 20)
        names, order = np.array(["pine", "aspen", "water"]), rng.permutation(5)
        renamed = classification_margins(distances[:, order], names[labels][order], names[y])
        np.testing.assert_array_equal(renamed, classification_margins(distances, labels, y))

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match=r"distances.shape == \(2, 3\), expected \(2, 2\)"):
            classification_margins(np.ones((2, 3)), [0, 1], [0, 1])
        with pytest.raises(ValueError, match="Samples of class 2 have no correct prototype"):
            classification_margins(np.ones((2, 2)), [0, 1], [0, 2])
        with pytest.raises(ValueError, match="Samples of class water have no wrong prototype"):
            classification_margins(np.ones((1, 2)), ["water", "water"], ["water"])


class TestRampLoss:
    @pytest.mark.parametrize("rho", [1e-6, 0.3, 2.0])
    def test_at_its_corners(self, rho):
        np.testing.assert_allclose(ramp_loss([-1.0, 0.0, rho / 2, rho, 2 * rho], rho), [1, 1, 0.5, 0, 0], atol=1e-15)

    @given(MARGINS, WIDTHS)
    def test_by_definition(self, margins, rho):
        np.testing.assert_allclose(ramp_loss(margins, rho), [loss(t, rho) for t in margins], atol=1e-12)

    def test_keeps_the_shape_and_takes_any_width(self):
        assert ramp_loss(0.5, 2.0) == 0.75
        np.testing.assert_array_equal(ramp_loss([[-1e300, 1e300], [5.0, 0.0]], 5e-324), [[1, 0], [0, 1]])

    @pytest.mark.parametrize("rho", [0.0, -1.0, np.inf, np.nan])
    def test_width_must_be_positive(self, rho):
        with pytest.raises(ValueError, match=r"rho=.* must be a number in \(0, inf\)"):
            ramp_loss([1.0], rho)


class TestMarginError:
    @given(MARGINS, WIDTHS, st.data())
    def test_weights_count_samples(self, margins, rho, data):
        counts = data.draw(st.lists(st.integers(0, 3), min_size=len(margins), max_size=len(margins)).filter(any))
        repeated = np.repeat(margins, counts)
        expected = sum(loss(t, rho) for t in repeated) / len(repeated)
        assert margin_error(margins, rho, sample_weight=counts) == pytest.approx(expected, abs=1e-12)

    @given(MARGINS, WIDTHS, WIDTHS)
    def test_grows_with_the_width_and_is_no_less_than_the_training_error(self, margins, rho, other):
        training_error = np.mean(np.array(margins) <= 0)
        low, high = (margin_error(margins, width) for width in sorted((rho, other)))
        assert training_error - 1e-12 <= low <= high + 1e-12
        assert high <= 1 + 1e-12

    @given(MARGINS)
    def test_narrow_widths_leave_the_training_error(self, margins):
        positive = [t for t in margins if t > 0]
        rho = min(positive, default=1.0)
        assert margin_error(margins, rho) == pytest.approx(np.mean(np.array(margins) <= 0), abs=1e-12)

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match="NaN"):
            margin_error([1.0, np.nan], 1.0)
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            margin_error([], 1.0)


class TestMarginBound:
    def test_by_hand(self):
        # B = 2, m = 100, P = 3, K = 1/2
        bound = margin_bound(
            np.tile([-1.0, 0.5, 2.0, 2.0], 25), n_prototypes=3, radius=2.0, rho=1.0, delta=1.0, constant=0.5
        )
        log_odds = math.log(4)
        terms = {
            "error": (1 + 0.5) / 4,
            "linear": 4 * 2 * 3 * 4 / 10,
            "quadratic": 4 * 4 / 10,
            "fluctuation": math.sqrt(8 * log_odds / 100),
            "confidence": math.sqrt(log_odds / 200),
        }
        for name, value in terms.items():
            assert getattr(bound, name) == pytest.approx(value, rel=1e-12), name
        pair = terms["linear"] + terms["quadratic"] + terms["fluctuation"]
        assert bound.complexity == pytest.approx(2 * 0.5 / 1.0 * 3 * 2 * pair, rel=1e-12)
        assert bound.value == pytest.approx(bound.error + bound.complexity + bound.confidence, rel=1e-12)

    @pytest.mark.parametrize(
        ("smaller", "larger"),
        [
            ({"n_prototypes": 2}, {"n_prototypes": 3}),
            ({"radius": 1.0}, {"radius": 1.1}),
            ({"delta": 0.1}, {"delta": 0.01}),
            ({"rho": 1.0}, {"rho": 0.9}),
            ({"constant": 0.5}, {"constant": 1.0}),
            ({"margins": np.linspace(-1, 4, 2000)}, {"margins": np.linspace(-1, 4, 1000)}),
        ],
    )
    def test_what_it_grows_with(self, smaller, larger):
        assert a_bound(**smaller).value < a_bound(**larger).value

    def test_falls_like_the_root_of_the_number_of_samples(self):
        margins = np.linspace(-1, 4, 500)
        one, four = a_bound(margins=margins), a_bound(margins=np.tile(margins, 4))
        assert four.error == pytest.approx(one.error)
        assert four.value - four.error == pytest.approx((one.value - one.error) / 2)

    @pytest.mark.parametrize("radius", [0.7, 2.0])
    @pytest.mark.parametrize("n_features", [2, 60])
    def test_complexities_hold_for_random_noise_in_any_dimension(self, n_features, radius):
        # Empirical Gaussian complexity, E sup |2/m sum g f(x)|, of all linear functions of (x, 1) with weights of
        # length 4 B + 2 B^2 at most, and of all quadratic forms with a matrix of length 2 at most. The supremum is
        # that length times the length of the sum of g times the inputs.
        rng, m = np.random.default_rng(0), 100
        x = rng.standard_normal((m, n_features))
        x *= radius / np.linalg.norm(x, axis=1, keepdims=True)
        linear = np.column_stack([x, np.ones(m)])
        quadratic = np.einsum("ni,nj->nij", x, x).reshape(m, -1)
        g = rng.standard_normal((2000, m))

        def complexity(inputs, length):
            return 2 / m * length * np.linalg.norm(g @ inputs, axis=1).mean()

        bound = a_bound(margins=np.ones(m), radius=radius)
        assert complexity(linear, 4 * radius + 2 * radius**2) < bound.linear
        # All inputs have the length B^2, so this bound is tight, and B instead of B^2 would be too small for B > 1.
        assert 0.85 * bound.quadratic < complexity(quadratic, 2) < bound.quadratic

    def test_weights_of_the_linear_and_the_quadratic_part_are_as_short_as_assumed(self):
        rng, radius = np.random.default_rng(0), 1.3
        for _ in range(200):
            factors = rng.standard_normal((2, 3, 3)) * rng.random((2, 3, 1)) ** 4
            metrics = np.einsum("kij,kil->kjl", factors, factors)
            metrics /= np.trace(metrics, axis1=1, axis2=2)[:, None, None]
            w = rng.standard_normal((2, 3))
            w *= radius / np.linalg.norm(w, axis=1, keepdims=True)
            pulls = np.einsum("kij,kj->ki", metrics, w)
            linear = np.append(-2 * (pulls[0] - pulls[1]), w[0] @ pulls[0] - w[1] @ pulls[1])
            x = rng.standard_normal(3)
            difference = (x - w[0]) @ metrics[0] @ (x - w[0]) - (x - w[1]) @ metrics[1] @ (x - w[1])
            assert x @ (metrics[0] - metrics[1]) @ x + linear @ np.append(x, 1) == pytest.approx(difference)
            assert np.linalg.norm(linear) <= 4 * radius + 2 * radius**2
            assert np.linalg.norm(metrics[0] - metrics[1]) <= 2

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"n_prototypes": 1}, r"n_prototypes=1 must be an integer in \[2"),
            ({"radius": 0.0}, r"radius=0.0 must be a number in \(0"),
            ({"rho": 0.0}, r"rho=0.0 must be a number in \(0"),
            ({"delta": 1.5}, r"delta=1.5 must be a number in \(0, 1\]"),
            ({"constant": 0}, r"constant=0 must be a number in \(0"),
            ({"margins": [[1.0, 2.0]]}, "1d array"),
        ],
    )
    def test_says_what_is_wrong(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            a_bound(**wrong)


class TestPosteriorMarginBound:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
    def test_is_the_best_of_all(self, seed, scale):
        rng = np.random.default_rng(seed)
        margins = rng.normal(rng.uniform(0, 1), rng.uniform(0.05, 0.5), 400)
        found = posterior_margin_bound(margins, scale=scale, **SIZE)
        every = [margin_bound(margins, rho=scale / i, delta=0.05 / (i * (i + 1)), **SIZE).value for i in range(1, 100)]
        assert found.value == min(every)
        i = 1 + int(np.argmin(every))
        assert (found.rho, found.delta) == (pytest.approx(scale / i), pytest.approx(0.05 / (i * (i + 1))))

    @given(st.integers(0, 200))
    def test_priors_in_any_order(self, seed):
        rng = np.random.default_rng(seed)
        margins = rng.normal(0.5, 0.3, 400)
        priors = rng.dirichlet(np.full(12, 0.1)).round(3) * rng.integers(0, 2, 12)
        priors[rng.integers(12)] += 1e-6
        priors /= max(1.0, priors.sum())
        every = [margin_bound(margins, rho=2 / i, delta=0.05 * p, **SIZE).value for i, p in enumerate(priors, 1) if p]
        assert posterior_margin_bound(margins, scale=2.0, priors=priors, **SIZE).value == min(every)

    def test_the_smaller_the_margins_the_smaller_the_width(self):
        margins = np.random.default_rng(0).normal(1.0, 0.3, 1000)
        wide, narrow = (posterior_margin_bound(shrink * margins, **SIZE) for shrink in (1.0, 0.3))
        assert narrow.rho < wide.rho
        assert narrow.value > wide.value

    def test_one_certain_prior_is_the_plain_bound(self):
        margins = np.linspace(-1, 1, 50)
        found = posterior_margin_bound(margins, scale=3.0, priors=[0, 0, 1.0], **SIZE)
        assert found == margin_bound(margins, rho=1.0, **SIZE)

    def test_no_squared_distance_is_larger_than_the_default_scale(self):
        found = posterior_margin_bound([0.1, 0.2], priors=[1.0], **SIZE)
        assert isinstance(found, MarginBound)
        assert found.rho == pytest.approx((2 * 0.8) ** 2)  # opposite ends of the ball

    @pytest.mark.parametrize("priors", [[], [0.0], [0.6, 0.6], [-0.1, 0.5], [np.nan], [[0.5]]])
    def test_priors_must_be_probabilities(self, priors):
        with pytest.raises(ValueError, match="priors must be nonnegative numbers"):
            posterior_margin_bound([1.0], priors=priors, **SIZE)
