"""Models and what they answer, by themselves and as ONNX graphs, for tests and for the table in the guide.

Run ``python -m tests.deployment.onnx_answers`` for the table: largest differences on 10,000 samples, and times.
"""

from time import perf_counter

import numpy as np
import onnxruntime
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification

import protolearn
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
    NGPCA,
    RSLVQ,
    SOM,
    VQPCA,
    Charting,
    KMeans,
    LLiRaMLVQ,
    MappedEmbedding,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
    PrototypeClassifier,
)
from protolearn.embedding.mappings import LocalLinearMapping, NetworkMapping
from protolearn.lvq import MinkowskiMetric, TangentMetric

METHODS = {  # that say the same as an output
    "label": "predict",
    "winner": "predict",
    "probabilities": "predict_proba",
    "distances": "distances",
    "confidence": "confidence",
    "scores": "score_samples",
    "code": "transform",
    "transformed": "transform",
}
N_TRAINING, N_FEATURES = 400, 8
REJECT = {"reject_threshold": 0.1, "contamination": 0.1, "reject_label": "none"}
CASES = {
    "LVQ1": LVQ1(random_state=0),
    "LVQ21": LVQ21(random_state=0),
    "GLVQ": GLVQ(2, random_state=0),
    "GLVQ, Minkowski": GLVQ(metric=MinkowskiMetric(1.5)),
    "GLVQ, tangents": GLVQ(2, metric=TangentMetric(2), random_state=0),
    "GRLVQ": GRLVQ(),
    "LGRLVQ": LGRLVQ(2, random_state=0),
    "GMLVQ": GMLVQ(prototypes_per_class={"a": 1, "b": 2, "c": 3}, random_state=0),
    "GMLVQ, rank 2, rejects": GMLVQ(n_components=2, **REJECT),
    "GMLVQ, values missing": GMLVQ(2, missing="partial", random_state=0),
    "LGMLVQ": LGMLVQ(2, max_iter=50, random_state=0),
    "LGMLVQ, values missing": LGMLVQ(2, localization="class", missing="partial", max_iter=50, random_state=0),
    "LGRLVQ, values missing": LGRLVQ(missing="partial"),
    "LLiRaMLVQ": LLiRaMLVQ(n_components=2, max_iter=50),
    "RSLVQ": RSLVQ(2, random_state=0),
    "RSLVQ, matrices": RSLVQ(metric="matrix", localization="class", max_iter=50),
    "CIALVQ": CIALVQ(1, patch_shape=(2, 2, 2), max_iter=10, random_state=0),
    "CIALVQ, positions": CIALVQ(2, patch_shape=(2, 2, 2), distance="position", max_iter=10, random_state=0),
    "CIALVQ, filters": CIALVQ(1, patch_shape=(2, 2, 2), learn_filters=True, max_iter=10, random_state=0),
    "KMeans": KMeans(9, random_state=0),
    "KMeans, learned metric": KMeans(9, metric=np.linspace(0.0, 2.0, 3 * N_FEATURES).reshape(3, -1), random_state=0),
    "NeuralGas": NeuralGas(9, random_state=0),
    "SOM": SOM((4, 4), random_state=0),
    "MatrixKMeans": MatrixKMeans(3, random_state=0),
    "MatrixNeuralGas": MatrixNeuralGas(3, normalization="logdet", random_state=0),
    "MatrixNeuralGas, rank 2": MatrixNeuralGas(3, n_components=2, random_state=0),
    "MatrixSOM": MatrixSOM((2, 2), max_iter=20, random_state=0),
    "NGPCA": NGPCA(4, 3, random_state=0),
    "VQPCA": VQPCA(4, 3, random_state=0),
    "MixturePPCA": MixturePPCA(3, random_state=0),
    "PrototypeClassifier": PrototypeClassifier(NeuralGas(9, random_state=0), reject_threshold=0.1, reject_label="none"),
    "PrototypeClassifier, VQPCA": PrototypeClassifier(VQPCA(4, 3, random_state=0), labeling="majority"),
    "PrototypeClassifier, per class": PrototypeClassifier(KMeans(3, random_state=0), per_class=True),
    "PrototypeClassifier, densities": PrototypeClassifier(
        MatrixKMeans(2, normalization="logdet", random_state=0),
        per_class=True,
        reject_threshold=0.1,
        reject_label="none",
    ),
    "OutlierDetector": OutlierDetector(),
    "OutlierDetector, KMeans": OutlierDetector(KMeans(9, random_state=0)),
    "OutlierDetector, GMLVQ": OutlierDetector(GMLVQ(**REJECT)),
    "LMNN": LMNN(3),
    "LFDA": LFDA(3),
    "LPP": LPP(3),
    "MappedEmbedding, linear": MappedEmbedding(mapping="linear", max_iter=20, random_state=0),
    "MappedEmbedding, local": MappedEmbedding(max_iter=20, random_state=0),
    "MappedEmbedding, densities": MappedEmbedding(mapping=MatrixNeuralGas(4), max_iter=20, random_state=0),
    "MappedEmbedding, ranks": MappedEmbedding(
        mapping=LocalLinearMapping(KMeans(9), gating="rank"), max_iter=20, random_state=0
    ),
    "MappedEmbedding, LGMLVQ": MappedEmbedding(mapping=LGMLVQ(n_components=2), max_iter=20, random_state=0),
    "MappedEmbedding, network": MappedEmbedding(mapping=NetworkMapping((50, 50)), max_iter=20, random_state=0),
    "MappedEmbedding, learned metric": MappedEmbedding(
        mapping="linear", metric=np.linspace(0.1, 1.0, N_FEATURES), max_iter=20, random_state=0
    ),
    "Charting": Charting(n_charts=5, n_init=1, random_state=0),
    "Charting, principal components first": Charting(n_charts=4, n_pca=3, n_init=1, random_state=0),
}


def table(n):
    """Return samples of three classes, in features of different widths and offsets: some to train on, and n others."""
    X, y = make_classification(
        N_TRAINING + n, N_FEATURES, n_informative=6, n_redundant=0, n_classes=3, class_sep=1.5, random_state=0
    )
    X = X * np.geomspace(0.3, 3.0, N_FEATURES) + np.linspace(-5.0, 5.0, N_FEATURES)
    return X[:N_TRAINING], np.array(["a", "b", "c"])[y[:N_TRAINING]], X[N_TRAINING:]


def samples_for(model, X):
    """Return samples as a model takes them: with values missing, if it can, or as pixels from 0 to 1 or so."""
    if isinstance(model, CIALVQ):
        return X / 20.0 + 0.5
    if getattr(model, "missing", "error") == "error":
        return X
    return np.where(np.random.RandomState(0).rand(*X.shape) < 0.2, np.nan, X)


def fitted(case, X, y):
    return clone(CASES[case]).fit(samples_for(CASES[case], X), y)


def session_of(converted):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(converted.SerializeToString(), options, providers=["CPUExecutionProvider"])


def answers_of(converted, X):
    """Return the outputs of a graph by their names, for samples in an array or in a table."""
    session = session_of(converted)
    if hasattr(X, "columns"):
        values = [X[[name]].to_numpy() for name in X.columns]
        types = [np.float32 if one.type == "tensor(float)" else np.float64 for one in session.get_inputs()]
        fed = [v.astype(t) if v.dtype.kind in "biuf" else v.astype(object) for v, t in zip(values, types)]
        feeds = dict(zip([one.name for one in session.get_inputs()], fed))
    else:
        feeds = {"X": X}
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds)))


def pairs_of_answers(model, converted, X):
    """Yield name, answer of the model and answer of its graph; the model is given what single precision left."""
    exact = X.astype(np.float64)
    for name, found in answers_of(converted, X).items():
        yield name, getattr(model, METHODS[name])(exact), found


def print_table(n=10_000):
    """Print for each model the size of its graph, and the largest differences of labels and of numbers."""
    X, y, new = table(n)
    print("| model | bytes | labels that differ | largest difference | relative, float32 |\n|---|---|---|---|---|")
    for case in CASES:
        model = fitted(case, X, y)
        new_samples = samples_for(model, new)
        labels, numbers, relative = 0, 0.0, 0.0
        for dtype in (np.float64, np.float32):
            converted = protolearn.to_onnx(model, dtype=dtype)
            for name, ours, theirs in pairs_of_answers(model, converted, new_samples.astype(dtype)):
                if name in ("label", "winner"):
                    labels += int((ours != theirs).sum())
                elif dtype == np.float64:
                    numbers = max(numbers, np.abs(ours - theirs).max())
                else:
                    relative = max(relative, np.abs(ours - theirs).max() / np.abs(ours).max())
        size = len(protolearn.to_onnx(model).SerializeToString())
        print(f"| {case} | {size:,} | {labels} | {numbers:.0e} | {relative:.0e} |")


def print_times(n=10_000):
    """Print how long models of the digits and their graphs take on one thread, for many samples and for one."""
    X, y = load_digits(return_X_y=True)
    new = X[np.random.RandomState(0).randint(len(X), size=n)]
    for model in (GMLVQ(2, max_iter=50), LGMLVQ(n_components=5, max_iter=20), KMeans(100)):
        model.set_params(n_jobs=1, random_state=0).fit(X, y)
        converted = protolearn.to_onnx(model)
        session = session_of(converted)
        print(f"{model}: {len(converted.SerializeToString()):,} bytes")
        output = session.get_outputs()[0].name
        for samples, repeats in ((new, 100), (new[:1], 1000)):
            ours = shortest(repeats, model.predict, samples)
            theirs = shortest(repeats, session.run, [output], {"X": samples})
            print(f"  {len(samples)} samples: {1e3 * ours:.3f} ms, {1e3 * theirs:.3f} ms by onnxruntime")


def shortest(repeats, function, *arguments):
    """Return the shortest of some times that a call took, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function(*arguments)
        times.append(perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    print_table()
    print_times()
