"""Relational gas ends where the gas of vectors does."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from protolearn import NeuralGas, RelationalNeuralGas


@pytest.mark.xfail(strict=True, reason="relational gas ends at worse optima (1.14 to 1.32 of the error): issue 41")
def test_relational_gas_is_as_good_as_the_gas_of_vectors():
    X, _ = make_blobs(200, centers=10, random_state=0)

    def error(prototypes):
        return np.square(cdist(X, prototypes).min(axis=1)).mean()

    ratios = [
        error(RelationalNeuralGas(10, random_state=seed).fit(cdist(X, X)).coefficients_ @ X)
        / error(NeuralGas(10, random_state=seed).fit(X).prototypes_)
        for seed in range(3)
    ]
    assert np.mean(ratios) < 1.02
