"""Fit estimators in a process whose matrix products are watched, and print the denormal numbers that entered them.

One line for each: how many there were, the number of all entries, and a name.
"""

import ctypes
import os
import warnings

import numpy as np

from protolearn import (
    CIALVQ,
    GLVQ,
    GMLVQ,
    GRLVQ,
    LFDA,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    LPP,
    LVQ1,
    LVQ21,
    MVU,
    NGPCA,
    RSLVQ,
    SNE,
    SOM,
    SONE,
    TSNE,
    VQPCA,
    XOM,
    Charting,
    ClassicalMDS,
    DiscriminativeEmbedding,
    KMeans,
    LLiRaMLVQ,
    MappedEmbedding,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MedianGLVQ,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
    OutOfSample,
    PairwiseAnnealing,
    PrototypeClassifier,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.embedding.costs import tsne
from protolearn.maps import OnLattice, Patches

K, N = 120, 600  # ranks of so many prototypes fall below the smallest number of single precision
MODELS = [
    KMeans(K),
    NeuralGas(K),
    NeuralGas(K, magnification=2.0),
    NeuralGas(K, patches=Patches(150)),
    SOM((10, 12)),
    SOM((10, 12), neighborhood=OnLattice(kernel="exponential", winner="nearest")),
    SOM((24, 24), max_iter=5),
    MatrixKMeans(10),
    MatrixNeuralGas(K, max_iter=20),
    MatrixSOM((10, 12), max_iter=20),
    VQPCA(5, 2),
    NGPCA(K, 2, algorithm="batch", max_iter=20),
    MixturePPCA(10, max_iter=10),
    MedianKMeans(20, metric="euclidean"),
    MedianNeuralGas(K, metric="euclidean"),
    MedianSOM((10, 12), metric="euclidean"),
    RelationalKMeans(20, metric="euclidean"),
    RelationalNeuralGas(K, metric="euclidean"),
    RelationalSOM((10, 12), metric="euclidean"),
    PairwiseAnnealing(10, metric="euclidean", max_iter=50),
    PrototypeClassifier(NeuralGas(K)),
    RelationalGLVQ(40, metric="euclidean", max_iter=5),
    GLVQ(40, slope=200.0, max_iter=5),
    GLVQ(40, neighborhood_range=1.0, max_iter=10),
    GRLVQ(3, slope=200.0, max_iter=5),
    GMLVQ(3, slope=200.0, max_iter=5),
    GMLVQ(3, solver="adam", max_iter=3),
    LGMLVQ(3, slope=200.0, max_iter=5),
    LGRLVQ(3, max_iter=5),
    LLiRaMLVQ(3, max_iter=5),
    LVQ1(3, max_iter=2),
    LVQ21(3, max_iter=2),
    MedianGLVQ(3, metric="euclidean", max_iter=2),
    OutlierDetector(),
    RSLVQ(10, width=0.05, max_iter=5),
    CIALVQ(1, patch_shape=(1, -1, 1), max_iter=5),
    LMNN(max_iter=5),
    LFDA(2),
    LPP(2),
    SNE(perplexity=5.0, max_iter=30, method="exact"),
    TSNE(perplexity=5.0, max_iter=30),
    TSNE(perplexity=5.0, max_iter=30, method="exact"),
    SONE(max_iter=3),
    XOM(max_iter=3),
    Charting(2, n_charts=12, n_init=1),
    MappedEmbedding(cost=tsne(5.0), max_iter=5),
    MVU(),
    ClassicalMDS(),
    OutOfSample(TSNE(perplexity=5.0, max_iter=30)),
    DiscriminativeEmbedding(embedding=TSNE(perplexity=5.0, max_iter=30)),
]


def main() -> None:
    """Print a line for each, and one for a product that has such numbers."""
    watch = ctypes.CDLL(os.environ["LD_PRELOAD"])
    watch.watched_denormals.restype = watch.watched_entries.restype = ctypes.c_int64

    def report(name: str) -> None:
        print(watch.watched_denormals(), watch.watched_entries(), name, flush=True)
        watch.watch_anew()

    watch.watch_anew()
    np.full((50, 40), 1e-40, np.float32) @ np.ones((40, 30), np.float32)
    report("product")
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=9.0, size=(6, 8))  # clusters far apart, so that shares of the others vanish
    y = rng.integers(6, size=N)
    X = (centers[y] + rng.normal(size=(N, 8)) * rng.choice([0.05, 1.0], size=(N, 1))).astype(np.float32)
    warnings.simplefilter("ignore")
    for model in MODELS:
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        for dtype in (np.float32, np.float64):
            some = slice(0, 80 if isinstance(model, MVU) else N)
            model.fit(X[some].astype(dtype), y[some])
            for method in ("predict", "predict_proba", "transform", "score_samples"):
                if hasattr(model, method):
                    getattr(model, method)(X[:50].astype(dtype))
            report(f"{np.dtype(dtype)} {model}".replace("\n", " "))


if __name__ == "__main__":
    main()
