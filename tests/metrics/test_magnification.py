import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.metrics import magnification_exponent, map_entropy


class TestEntropy:
    @given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
    def test_by_definition(self, winners):
        shares = [winners.count(i) / len(winners) for i in set(winners)]
        expected = -sum(p * math.log(p) for p in shares)
        assert map_entropy(winners) == pytest.approx(expected, abs=1e-12)
        assert map_entropy(winners, n_prototypes=7, base=2) == pytest.approx(expected / math.log(2), abs=1e-12)
        assert 0.0 <= map_entropy(winners) <= math.log(7) + 1e-12

    def test_is_largest_when_all_win_equally_often(self):
        assert map_entropy(np.repeat(np.arange(50), 3)) == pytest.approx(math.log(50))
        assert map_entropy(np.repeat(np.arange(50), 3), base=50) == pytest.approx(1.0)
        assert map_entropy([3, 3, 3]) == 0.0

    def test_estimator_and_its_winners_agree(self):
        winners = np.random.default_rng(0).integers(0, 5, 30)
        estimator = SimpleNamespace(multiplicities_=np.bincount(winners, minlength=8))
        assert map_entropy(estimator) == pytest.approx(map_entropy(winners))
        weighted = SimpleNamespace(multiplicities_=0.1 * np.bincount(winners))
        assert map_entropy(weighted) == pytest.approx(map_entropy(winners))

    def test_says_what_is_wrong(self):
        for source in ([0.5, 1.0], [-1, 0], [], [[0, 1]]):
            with pytest.raises(ValueError, match="map_entropy needs"):
                map_entropy(source)
        with pytest.raises(ValueError, match="n_prototypes=3, but prototype 4 occurs"):
            map_entropy([0, 4], n_prototypes=3)
        with pytest.raises(ValueError, match="base=1"):
            map_entropy([0, 1], base=1.0)


class TestMagnificationExponent:
    """Data on a line with density p(x) ~ exp(s x), 0 < x < 1, and prototypes with the density p^alpha exactly."""

    def placed(self, alpha, k, s=3.0):
        quantiles = (np.arange(k) + 0.5) / k
        x = np.log1p(quantiles * np.expm1(alpha * s)) / (alpha * s)
        return x[:, None], s * x

    @pytest.mark.parametrize("alpha", [1 / 3, 0.6, 1.0, 1.5])
    @pytest.mark.parametrize(("k", "tolerance"), [(50, 0.02), (400, 0.005)])
    def test_recovers_the_exponent(self, alpha, k, tolerance):
        prototypes, log_density = self.placed(alpha, k)
        assert magnification_exponent(prototypes, log_density, 1) == pytest.approx(alpha, abs=tolerance)

    def test_a_curve_in_space_has_one_dimension(self):
        prototypes, log_density = self.placed(1.0, 400)
        angle = prototypes[:, 0]
        helix = np.column_stack([np.cos(angle), np.sin(angle), angle])
        assert magnification_exponent(helix, log_density, 1) == pytest.approx(1.0, abs=0.005)

    def test_a_plane(self):
        # in polar coordinates p ~ r^-2/3 on the unit disc; with the density p^alpha, sunflower seeds have r ~ u^(1/b)
        alpha, k = 0.75, 3000
        seeds = np.arange(k) + 0.5
        radius = (seeds / k) ** (1 / (2 - 2 * alpha / 3))
        angle = seeds * np.pi * (3 - np.sqrt(5))
        prototypes = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        found = magnification_exponent(prototypes, -2 / 3 * np.log(radius), 2)
        assert found == pytest.approx(alpha, abs=0.05)

    def test_order_place_scale_and_the_constant_do_not_matter(self):
        rng = np.random.default_rng(0)
        prototypes, log_density = rng.random((40, 3)), rng.standard_normal(40)
        plain = magnification_exponent(prototypes, log_density, 2.5)
        order, rotation = rng.permutation(40), np.linalg.qr(rng.standard_normal((3, 3)))[0]
        moved = magnification_exponent(5 * prototypes[order] @ rotation - 3, log_density[order] + 7, 2.5)
        assert moved == pytest.approx(plain)
        assert magnification_exponent(prototypes, 2 * log_density, 2.5) == pytest.approx(plain / 2)

    def test_by_definition(self):
        rng = np.random.default_rng(0)
        prototypes, log_density = rng.random((20, 2)), rng.standard_normal(20)
        local = []
        for w in prototypes:
            distances = sorted(math.dist(w, v) for v in prototypes)
            local.append(-2 * math.log(sum(distances[1:4]) / 3))
        covariance = np.cov(log_density, local)
        found = magnification_exponent(SimpleNamespace(prototypes_=prototypes), log_density, 2, n_neighbors=3)
        assert found == pytest.approx(covariance[0, 1] / covariance[0, 0])

    def test_says_what_is_wrong(self):
        prototypes, log_density = self.placed(1.0, 10)
        with pytest.raises(ValueError, match="one finite number for each of the 10 prototypes"):
            magnification_exponent(prototypes, log_density[:-1], 1)
        with pytest.raises(ValueError, match="one finite number"):
            magnification_exponent(prototypes, np.full(10, np.nan), 1)
        with pytest.raises(ValueError, match="not the same at all"):
            magnification_exponent(prototypes, np.zeros(10), 1)
        with pytest.raises(ValueError, match="coincide"):
            magnification_exponent(np.repeat(prototypes, 3, axis=0), np.repeat(log_density, 3), 1)
        with pytest.raises(ValueError, match="dim=0"):
            magnification_exponent(prototypes, log_density, 0)
        with pytest.raises(ValueError, match="n_neighbors=10"):
            magnification_exponent(prototypes, log_density, 1, n_neighbors=10)
