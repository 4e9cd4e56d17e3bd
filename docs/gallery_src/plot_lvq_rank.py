"""
Number of directions and regularization
=======================================

Two parameters of matrix LVQ are worth tuning: the number of rows of the matrix, ``n_components``, and the weight of the
penalty that keeps its directions from vanishing, ``regularization``. scikit-learn's ``validation_curve`` shows their
effect.
"""

# %%
# Number of directions
# --------------------
# The matrix has at most as many rows as there are features, 64 for the digits. With one prototype for each of ten
# classes, nine directions are enough to place the prototypes anywhere relative to each other, and accuracy hardly
# increases beyond.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedKFold, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ
from protolearn.datasets import make_oblique_classes

pipeline = make_pipeline(StandardScaler(), GMLVQ())


def draw_curve(ax, X, y, name, values, n_splits):
    """Draw the accuracy in training and on held-out samples over the values of a parameter."""
    cv = StratifiedKFold(n_splits, shuffle=True, random_state=0)
    scores = validation_curve(pipeline, X, y, param_name=f"gmlvq__{name}", param_range=values, cv=cv)
    places = np.arange(len(values))
    for part, score, color in zip(("training", "held out"), scores, ("#0072B2", "#D55E00")):
        ax.plot(places, score.mean(axis=1), "o-", color=color, label=part, markersize=4)
    ax.set_xticks(places, [f"{value:g}" for value in values])
    ax.set(xlabel=name, ylabel="accuracy")
    ax.spines[["top", "right"]].set_visible(False)
    best = scores[1].mean(axis=1).argmax()
    print(f"best on held-out samples: {name}={values[best]:g} with {scores[1].mean(axis=1)[best]:.3f}")


X, y = load_digits(return_X_y=True)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
draw_curve(ax, X[:1000], y[:1000], "n_components", [1, 2, 3, 5, 9, 64], n_splits=3)
ax.set_title("digits, 1000 of them")
ax.legend(frameon=False)

# %%
# Regularization
# --------------
# Without the penalty, the relevance matrix tends to few directions, those that fit the training samples best. For the
# tumors, many measurements are redundant, and it is better to keep all of them with strong regularization. The oblique
# classes need specific directions: a little regularization helps to find them, and more hides them.

weights = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0]
data = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "oblique classes": make_oblique_classes(30, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, (title, (X, y)) in zip(axes, data.items()):
    draw_curve(ax, X, y, "regularization", weights, n_splits=5)
    ax.set_title(title)
axes[0].legend(frameon=False)

# %%
# Effect on the matrix
# --------------------
# The eigenvalues of the relevance matrix add up to one. Regularization makes them more equal.

X, y = data["breast cancer"]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for weight, color in zip((0.0, 0.01, 0.1, 1.0), ("#0072B2", "#56B4E9", "#E69F00", "#D55E00")):
    model = pipeline.set_params(gmlvq__regularization=weight).fit(X, y)[-1]
    ax.semilogy(np.arange(1, 31), model.eigenvalues_, "o-", markersize=3, color=color, label=f"{weight:g}")
ax.set(xlabel="direction", ylabel="eigenvalue", ylim=(1e-6, 1.5), title="breast cancer")
ax.legend(title="regularization", frameon=False)
ax.spines[["top", "right"]].set_visible(False)

plt.show()
# sphinx_gallery_thumbnail_number = 2
