"""B6: test accuracy of the library's defaults on three public data sets.

No table of the document: it uses these data for views only (Bunte 2011, sec. 6.6 and 7.3.4), so there is nothing to
compare with. The LVQ classifiers, from one metric for all to a matrix for each prototype, with one and with five
prototypes per class and otherwise default settings, beside linear discriminant analysis and the nearest neighbor.

Satimage (36 features, 6 classes) and USPS (256 pixels, 10 digits) in their published split; letter recognition (16
features, 26 classes) with its first 16000 samples for training, as usual. Features are z-transformed by the training
set; pixels of USPS, which share a scale, are left as they are (z-transformed pixels were tried as well: about the same
for LVQ, worse for the nearest neighbor). One run; how much results vary with the seed is not shown here.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from experiments._lvq import METHODS, Samples, accuracy
from experiments._protocol import canvas, load, z_transform
from experiments._report import NO_NUMBER, SKIPPED, Result, report, row

TITLE = "accuracy of the defaults"
FILES = {"satimage": "landsat_satimage", "letter": "letter", "USPS": "usps"}
N_LETTERS = 16_000
COUNTS = (1, 5)
TOO_LONG = ("USPS", "LGMLVQ", 5)  # fifty matrices of 256 x 256
BLUE, LIGHT = "#1b6ca8", "#8fb8de"


def run(quick: bool = False) -> Result:
    rows, scores = [], {}
    for name in FILES:
        parts = split(name, 1000 if quick else None)
        if parts is None:
            rows.append(row(f"{name}, accuracy", None, None, SKIPPED))
            continue
        scores[name] = accuracies(name, *parts, quick)
        for method, (train, test) in scores[name].items():
            rows.append(row(f"{name}, {method}, train, %", None, train, NO_NUMBER))
            rows.append(row(f"{name}, {method}, test, %", None, test, NO_NUMBER))
    settings = {
        "scaling": "z-transform by the training set; USPS as it is",
        "model": "prototypes_per_class 1 or 5, random_state 0, otherwise defaults",
        "left out": "LGMLVQ with five prototypes per class on USPS, which takes some minutes",
    }
    return report(settings, rows, scores)


def split(name: str, n_train: int | None) -> tuple[Samples, Samples] | None:
    """Return the training and the test set; None if the data are not there."""
    files = load(FILES[name])
    if files is None:
        print(
            f"The data file {FILES[name]}.npz is not there: skipped. Set PROTOLEARN_DATA to the folder that holds it."
        )
        return None
    if "X" in files:
        cut = slice(None, N_LETTERS), slice(N_LETTERS, None)
        train, test = ((files["X"][part], files["y"][part]) for part in cut)
    else:
        train, test = ((files[f"X_{part}"], files[f"y_{part}"]) for part in ("train", "test"))
    X, X_test = train[0].astype(float), test[0].astype(float)
    if name != "USPS":
        X, X_test = z_transform(X, X_test)
    return (X[:n_train], train[1][:n_train]), (X_test, test[1])


def accuracies(name: str, train: Samples, test: Samples, quick: bool) -> dict[str, list[float]]:
    """Return train and test accuracy of every method."""
    models = {"LDA": LinearDiscriminantAnalysis(), "1-NN": KNeighborsClassifier(1)}
    for count in COUNTS[:1] if quick else COUNTS:
        for method, kind in METHODS.items():
            if (name, method, count) != TOO_LONG:
                models[f"{method}, {count} per class"] = kind(count, random_state=0)
    for model in models.values():
        model.fit(*train)
    return {method: [accuracy(model, part) for part in (train, test)] for method, model in models.items()}


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, len(result["data"]), (4.8, 3.8))
    for ax, (name, scores) in zip(axes[0], result["data"].items()):
        test = [values[1] for values in scores.values()]
        colors = ["0.6" if "per class" not in method else LIGHT if " 1 " in method else BLUE for method in scores]
        places = np.arange(len(test))[::-1]
        ax.barh(places, test, color=colors)
        for place, value in zip(places, test):
            ax.text(value + 0.3, place, f"{value:.1f}", va="center", fontsize=8)
        ax.set_yticks(places, scores)
        ax.set(title=name, xlabel="test accuracy, %", xlim=(65, 103))
    return figure
