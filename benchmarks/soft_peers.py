"""Who is compared in soft LVQ and supervised neural gas: functions ``fit(X, y, task)``, as for classifiers.

Every library runs with its defaults, apart from the kind of the metric, the number of prototypes, the seed, and the
number of epochs where it has no default.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.map_peers import prosemble_model
from benchmarks.registry import OURS, competitor
from benchmarks.soft import SoftTask

__all__: list[str] = []

SOFT = ("rslvq", "mrslvq")
GAS = ("sng", "smng")
OWN: dict[str, Any] = {"package": "protolearn", "environment": "own"}


@competitor(OURS, *SOFT, **OWN)
def ours(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    from protolearn import RSLVQ

    return RSLVQ(task.per_class, metric=task.metric, random_state=0).fit(X, y)


@competitor(OURS, *GAS, **OWN)
def our_gas(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    return _generalized(X, y, task, neighborhood_range=1.0)


@competitor(f"{OURS} (without neighborhood)", *GAS, **OWN)
def our_lvq(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    return _generalized(X, y, task)


def _generalized(X: np.ndarray, y: np.ndarray, task: SoftTask, **options: Any) -> Any:
    from protolearn import GLVQ, GMLVQ

    kind = {"euclidean": GLVQ, "matrix": GMLVQ}[task.metric]
    return kind(task.per_class, random_state=0, **options).fit(X, y)


@competitor("sklearn-lvq", *SOFT, package="sklearn-lvq", environment="lvq")
def sklearn_lvq(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    from sklearn_lvq import MrslvqModel, RslvqModel

    kind = {"euclidean": RslvqModel, "matrix": MrslvqModel}[task.metric]
    fitted = kind(prototypes_per_class=task.per_class, random_state=0).fit(X, y)
    return SimpleNamespace(predict=fitted.predict)


@competitor("prosemble", *SOFT, *GAS, package="prosemble", environment="prosemble")
def prosemble(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    model = prosemble_model(task.name.upper(), n_prototypes_per_class=task.per_class, random_seed=0)
    model.fit(X, y)
    fitted = SimpleNamespace(predict=lambda X: np.asarray(model.predict(X)), n_iter_=model.n_iter_)
    if task.name in SOFT:
        fitted.predict_proba = lambda X: np.asarray(model.predict_proba(X))
    return fitted


@competitor("prototorch", "rslvq", package="prototorch-models", environment="prototorch")
def prototorch(X: np.ndarray, y: np.ndarray, task: SoftTask) -> Any:
    # It leaves start and batches to the user: samples of each class, and 256 in a batch, as for the other classifiers.
    import torch
    from prototorch import initializers, models
    from pytorch_lightning import Trainer, seed_everything
    from torch.utils.data import DataLoader, TensorDataset

    seed_everything(0)
    samples = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    settings = {"distribution": {"num_classes": len(np.unique(y)), "per_class": task.per_class}}
    model = models.RSLVQ(settings, prototypes_initializer=initializers.SSCI(samples))
    quiet = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    trainer = Trainer(max_epochs=task.epochs, accelerator="cpu", **dict.fromkeys(quiet, False))
    trainer.fit(model, DataLoader(samples, batch_size=256, shuffle=True))
    return SimpleNamespace(
        predict=lambda X: model.predict(torch.tensor(X, dtype=torch.float32)).numpy(), n_iter_=task.epochs
    )
