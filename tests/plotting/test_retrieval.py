"""Curves of retrieval rates: what is drawn is what was measured."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from protolearn.applications import ImageRetriever, retrieval_rates
from protolearn.datasets import make_lesions
from protolearn.lvq import GMLVQ
from protolearn.plotting import plot_retrieval_rates


@pytest.fixture(scope="module")
def rates():
    X, y = make_lesions((12, 12, 12, 12), random_state=0)
    metrics = {"learned": GMLVQ(n_components=2, metric_init="random", max_iter=5), "plain": "euclidean"}
    given = {"ks": range(1, 9), "n_folds": 3, "n_starts": 3, "random_state": 0}
    return {name: retrieval_rates(ImageRetriever(metric), X, y, **given) for name, metric in metrics.items()}


def band(collection):
    """Return the lower and upper edge of a band over each k."""
    x, y = collection.get_paths()[0].vertices.T
    ks = np.unique(x)
    return ks, np.array([y[x == k].min() for k in ks]), np.array([y[x == k].max() for k in ks])


def test_curves_and_bands_are_what_was_measured(rates):
    ax = plt.figure().add_subplot()
    assert plot_retrieval_rates(rates, ax=ax) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["learned", "plain"]
    bands = iter(ax.collections)
    for line, found in zip(ax.lines, rates.values(), strict=True):
        np.testing.assert_array_equal(line.get_data(), [found.ks, found.rates])
        for error in filter(lambda error: error is not None, (found.eps_data, found.sigma_init)):
            ks, low, high = band(next(bands))
            np.testing.assert_array_equal(ks, found.ks)
            np.testing.assert_allclose([low, high], [found.rates - error, found.rates + error])
    assert next(bands, None) is None
    assert rates["learned"].sigma_init is not None
    assert rates["plain"].sigma_init is None


def test_one_curve_needs_no_legend(rates):
    ax = plot_retrieval_rates(rates["plain"])
    assert ax.get_legend() is None
    assert len(ax.lines) == 1
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(("given", "message"), [({}, "rates is empty"), ({"a": [1.0]}, "rates\\['a'\\] is a list")])
def test_what_is_wrong_is_said(given, message):
    with pytest.raises(ValueError, match=message):
        plot_retrieval_rates(given)
    assert not plt.get_fignums()
