"""
A rare class
============

Faults, diseases and frauds are rare, and detecting them is the goal. A classifier that never predicts the rare class
can still be right on 95 of 100 samples. This page shows when this happens in LVQ, how to notice it, and what helps.
"""

# %%
# A majority and a rare class
# ---------------------------
# One sample in twenty belongs to the rare class. It lies at the edge of the common class and overlaps with it.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, recall_score

from protolearn import GMLVQ, LGMLVQ
from protolearn.plotting import plot_decision_regions


def make_samples(n_samples, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_samples) < 0.05, "rare", "usual")
    usual = rng.normal(size=(n_samples, 2)) * [2.0, 1.0]
    rare = [2.2, 1.6] + rng.normal(size=(n_samples, 2)) * [0.9, 0.5]
    return np.where((y == "rare")[:, None], rare, usual), y


X, y = make_samples(1500, 0)
X_test, y_test = make_samples(20_000, 1)

# %%
# A flat sigmoid ignores the rare class
# -------------------------------------
# The cost of LVQ is a mean over samples. With a flat sigmoid every sample counts about the same, regardless of its
# position, so the cost is lowest if the prototype of the rare class moves far away; a steeper slope later does not
# bring it back. A warning reports this, and ``n_wins_`` holds the number of training samples won by each prototype.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    given_up = GMLVQ(slope=(1, 10)).fit(X, y)
print(caught[-1].message)
print(dict(zip(given_up.prototype_labels_.tolist(), given_up.n_wins_.tolist())))

# %%
# By default the slope is 10 from the start. Samples far from any border, of which the common class has many, then have
# little influence, and here the rare class is found more often than by logistic regression. The rest is a matter of
# choice: as long as all errors cost the same, most of the overlap belongs to the common class.
# ``class_weight="balanced"`` gives both classes the same weight, at the price of more false alarms. A matrix for each
# prototype bends the border around the rare class, so the price is lower.

models = {
    "GMLVQ, flat slope first": given_up,
    "GMLVQ": GMLVQ().fit(X, y),
    "GMLVQ, balanced": GMLVQ(class_weight="balanced").fit(X, y),
    "LGMLVQ, balanced": LGMLVQ(class_weight="balanced").fit(X, y),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items()):
    found = recall_score(y_test, model.predict(X_test), pos_label="rare")
    plot_decision_regions(model, X, y, ax=ax)
    ax.get_legend().remove()
    ax.set(title=f"{name}\n{model.score(X_test, y_test):.1%} right, {found:.0%} of the rare class found")
    ax.set(xlabel="", ylabel="")

# %%
# In numbers
# ----------
# Accuracy hides the errors on the rare class. Balanced accuracy, the mean of the recalls of both classes, does not: it
# is one half for a classifier that always predicts the common class.

models["logistic regression"] = LogisticRegression().fit(X, y)
models["logistic regression, balanced"] = LogisticRegression(class_weight="balanced").fit(X, y)
print(f"{'':30} accuracy  balanced accuracy")
for name, model in models.items():
    predicted = model.predict(X_test)
    print(f"{name:30} {np.mean(predicted == y_test):8.3f}  {balanced_accuracy_score(y_test, predicted):17.3f}")

plt.show()
