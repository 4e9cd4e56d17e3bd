"""Whether rows are the same, up to the rounding of the products that made them."""

import numpy as np
import pytest

from protolearn import TSNE
from protolearn.core.metric import as_metric
from protolearn.core.numerics import alike

LAST_BIT = np.array([1.0, 1.0 + np.finfo(np.float64).eps])


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_differ_by_rounding_are_alike_if_computed(scale, dtype):
    rows = np.ones((10, 4), dtype)
    rows[8:, 1] += np.finfo(dtype).eps
    rows *= dtype(scale if dtype is np.float64 else np.sqrt(np.sqrt(np.sqrt(scale))))
    assert alike(rows, computed=True)
    assert not alike(rows)
    assert alike(rows[:8])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_differ_by_more_are_not(dtype):
    rows = np.ones((10, 4), dtype)
    rows[9, 3] += 1e5 * np.finfo(dtype).eps
    assert not alike(rows, computed=True)


def test_a_metric_that_sees_one_point_is_refused(monkeypatch):
    metric = as_metric(np.eye(2), "TSNE")
    made = type(metric).project
    monkeypatch.setattr(type(metric), "project", lambda self, X: made(self, X) * np.resize(LAST_BIT, (len(X), 1)))
    with pytest.raises(ValueError, match="All samples are the same"):
        TSNE(metric=np.eye(2)).fit(np.full((10, 2), 3.0))
