"""Who is compared as a classifier: functions ``fit(X, y, task)`` that return an object with ``predict``.

Every library runs with its defaults, apart from the kind and rank of the matrix, the seed, and the number of epochs
where it has no default.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.classifiers import ClassifierTask
from benchmarks.map_peers import prosemble_model
from benchmarks.maps import chunks
from benchmarks.registry import FLOOR, FLOOR_IN_CHUNKS, OURS, competitor

__all__: list[str] = []

REAL = ("digits", "segmentation", "letter", "usps")
MATRIX = (*REAL, "mnist", "synthetic", "digits-local", "digits-rank2")


@competitor(OURS, *MATRIX, "predict", package="protolearn", environment="own", threads=(1, 2))
def ours(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from protolearn import GMLVQ, LGMLVQ

    return (LGMLVQ if task.local else GMLVQ)(n_components=task.n_components, random_state=0).fit(X, y)


@competitor(f"{OURS} (20 iterations)", "usps", "mnist", package="protolearn", environment="own")
def our_few_iterations(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from protolearn import GMLVQ

    return GMLVQ(n_components=task.n_components, max_iter=task.epochs, random_state=0).fit(X, y)


@competitor(f"{OURS} (LGMLVQ)", *REAL[1:], package="protolearn", environment="own")
def our_local_matrices(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from protolearn import LGMLVQ

    return LGMLVQ(random_state=0).fit(X, y)


@competitor(OURS, "lmnn", package="protolearn", environment="own")
def our_neighbors(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from protolearn import LMNN

    return _neighbors(LMNN(), X, y)


@competitor("metric-learn", "lmnn", package="metric-learn", environment="metric")
def metric_learn_neighbors(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from metric_learn import LMNN

    return _neighbors(LMNN(random_state=0), X, y)


@competitor("pylmnn", "lmnn", package="pylmnn", environment="metric")
def pylmnn_neighbors(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from pylmnn import LargeMarginNearestNeighbor

    return _neighbors(LargeMarginNearestNeighbor(random_state=0), X, y)


def _neighbors(metric: Any, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(metric, KNeighborsClassifier(3)).fit(X, y)


@competitor(OURS, "scaling", package="protolearn", environment="own")
def our_epochs(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    # An epoch of waypoint averaging is two passes over the samples; L-BFGS takes as many as its line search needs.
    from protolearn import GMLVQ

    model = GMLVQ(n_components=task.n_components, solver="waypoint", max_iter=task.epochs, tol=0, random_state=0)
    return model.fit(X, y)


@dataclass
class Projection:
    """The matrix product inside a prediction, alone."""

    omega: np.ndarray
    chunk: int | None = None

    def predict(self, X: np.ndarray) -> None:
        for rows in chunks(len(X), self.chunk or len(X)):
            X[rows] @ self.omega.T


@competitor(FLOOR, "predict", package="numpy", environment="own", threads=(1, 2))
def product(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Projection:
    return Projection(np.eye(X.shape[1], dtype=X.dtype))


@competitor(FLOOR_IN_CHUNKS, "predict", package="numpy", environment="own", threads=(1, 2))
def product_in_chunks(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Projection:
    return Projection(np.eye(X.shape[1], dtype=X.dtype), chunk=2048)


@competitor("sklearn-lvq", *MATRIX, package="sklearn-lvq", environment="lvq")
def sklearn_lvq(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn_lvq import GmlvqModel, LgmlvqModel

    if task.local:
        return LgmlvqModel(random_state=0).fit(X, y)
    return GmlvqModel(initialdim=task.n_components, random_state=0).fit(X, y)


@competitor("sklvq", *MATRIX, package="sklvq", environment="lvq")
def sklvq_default(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    return _sklvq(X, y, task)


@competitor("sklvq (L-BFGS)", *MATRIX, package="sklvq", environment="lvq")
def sklvq_lbfgs(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    return _sklvq(X, y, task, solver_type="lbfgs")


def _sklvq(X: np.ndarray, y: np.ndarray, task: ClassifierTask, **options: Any) -> Any:
    from sklvq import GMLVQ, LGMLVQ

    model = LGMLVQ if task.local else GMLVQ
    return model(relevance_n_components=task.n_components or "all", random_state=0, **options).fit(X, y)


@competitor("prosemble", *MATRIX, package="prosemble", environment="prosemble")
def prosemble(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    model = prosemble_model("LGMLVQ" if task.local else "GMLVQ", latent_dim=task.n_components, random_seed=0)
    model.fit(X, y)
    return SimpleNamespace(predict=lambda X: np.asarray(model.predict(X)), n_iter_=model.n_iter_)


@competitor("prototorch", *MATRIX, package="prototorch-models", environment="prototorch")
def prototorch(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    # It leaves start and batches to the user: class means as for the others, and 256 samples, the fastest of 64 to 256.
    import torch
    from prototorch import initializers, models
    from pytorch_lightning import Trainer, seed_everything
    from torch.utils.data import DataLoader, TensorDataset

    seed_everything(0)
    samples = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    settings = {
        "distribution": {"num_classes": len(np.unique(y)), "per_class": 1},
        "input_dim": X.shape[1],
        "latent_dim": task.n_components or X.shape[1],
    }
    kind = models.LGMLVQ if task.local else models.GMLVQ
    model = kind(settings, prototypes_initializer=initializers.SMCI(samples))
    quiet = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    trainer = Trainer(max_epochs=task.epochs, accelerator="cpu", **dict.fromkeys(quiet, False))
    trainer.fit(model, DataLoader(samples, batch_size=256, shuffle=True))
    return SimpleNamespace(
        predict=lambda X: model.predict(torch.tensor(X, dtype=torch.float32)).numpy(), n_iter_=task.epochs
    )


@competitor("scikit-learn (NCA + 1-NN)", *REAL, "digits-rank2", package="scikit-learn", environment="own", alike=False)
def sklearn_nca(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
    from sklearn.pipeline import make_pipeline

    nca = NeighborhoodComponentsAnalysis(n_components=task.n_components, random_state=0)
    return make_pipeline(nca, KNeighborsClassifier(1)).fit(X, y)


@competitor("scikit-learn (LDA + nearest mean)", "digits-rank2", package="scikit-learn", environment="own", alike=False)
def sklearn_lda_means(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import NearestCentroid
    from sklearn.pipeline import make_pipeline

    lda = LinearDiscriminantAnalysis(n_components=task.n_components)
    return make_pipeline(lda, NearestCentroid()).fit(X, y)


@competitor("scikit-learn (LDA)", *REAL, "synthetic", package="scikit-learn", environment="own", alike=False)
def sklearn_lda(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis().fit(X, y)


@competitor(
    "scikit-learn (logistic regression)", *REAL, "synthetic", package="scikit-learn", environment="own", alike=False
)
def sklearn_logistic_regression(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(X, y)


@competitor("scikit-learn (linear SVM)", *REAL, "synthetic", package="scikit-learn", environment="own", alike=False)
def sklearn_linear_svm(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0).fit(X, y)


@competitor("scikit-learn (RBF SVM)", *REAL, "synthetic", package="scikit-learn", environment="own", alike=False)
def sklearn_rbf_svm(X: np.ndarray, y: np.ndarray, task: ClassifierTask) -> Any:
    from sklearn.svm import SVC

    return SVC().fit(X, y)
