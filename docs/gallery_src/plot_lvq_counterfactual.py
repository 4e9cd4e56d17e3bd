"""
Counterfactuals
===============

A counterfactual is a changed sample to which the model assigns another class. The smallest change involves all features
a little, which is rarely possible in practice. Specify what may change, how far and in which direction, or ask for few
features.
"""

# %%
# Four ways across a border
# -------------------------
# Two measurements of tumors, and a classifier with a metric for each class: the border is curved. The smallest change
# of a malignant tumor to a benign one is the shortest in the learned metric. It is different if the texture must not
# change, or if the area is bounded; with a margin, the change continues until the model is sure of the new class.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ, LGMLVQ
from protolearn.lvq import counterfactual
from protolearn.plotting import plot_decision_regions

cancer = load_breast_cancer(as_frame=True)
texture, area = "mean texture", "mean area"
tumors = cancer.data[[texture, area]]
diagnosis = cancer.target_names[cancer.target]
model = make_pipeline(StandardScaler(), LGMLVQ(random_state=0)).fit(tumors, diagnosis)

wanted = pd.Series({texture: 19.0, area: 1150.0})
tumor = tumors.iloc[[((tumors - wanted) / tumors.std()).pow(2).sum(axis=1).argmin()]]
least = 1000
ways = {
    "smallest": {},
    "texture fixed": {"fixed": [texture]},
    f"area at least {least}": {"bounds": {area: (least, None)}},
    "margin 0.5": {"margin": 0.5},
}

ax = plot_decision_regions(model, tumors, diagnosis)
ax.set(xlim=(9, 34), ylim=(150, 1500), aspect="auto")
ax.axhline(least, color="0.4", linewidth=0.8, linestyle=":")
start = tumor.to_numpy()[0]
handles = []
for (way, request), color, style in zip(
    ways.items(), ("black", "#D55E00", "#CC79A7", "#009E73"), ("-", "-", "-", "--")
):
    found = counterfactual(model, tumor, "benign", **request)
    end = found.samples.to_numpy()[0]
    arrow = {"arrowstyle": "-|>", "color": color, "linestyle": style, "linewidth": 1.6, "shrinkA": 4, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=arrow, zorder=5)
    handles += ax.plot([], [], color=color, linestyle=style, label=way)
ax.plot(*start, "o", color="white", markeredgecolor="black", markersize=7, zorder=6)
classes = ax.get_legend()
ax.legend(
    [*classes.legend_handles, *handles],
    [text.get_text() for text in classes.get_texts()] + list(ways),
    loc="upper left",
    bbox_to_anchor=(1.0, 1.0),
    frameon=False,
)

# %%
# All features, or few
# --------------------
# With thirteen measurements of wines, the smallest change consists of thirteen small ones. ``sparse=True`` minimizes
# the number of changed features instead. Without bounds, a large change of a single feature may be sufficient; here no
# measurement may change by more than one standard deviation.

wine = load_wine(as_frame=True)
X, y = wine.data, "cultivar " + wine.target.astype(str)
pipeline = make_pipeline(StandardScaler(), GMLVQ()).fit(X, y)


def one_deviation(sample):
    """Return bounds one standard deviation away from a sample."""
    return {name: (value - X[name].std(), value + X[name].std()) for name, value in sample.iloc[0].items()}


sample = X[60:61]
requests = {
    "smallest": {},
    "fewest": {"sparse": True},
    "fewest, within bounds": {"sparse": True, "bounds": one_deviation(sample)},
}

figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharex=True, sharey=True, layout="constrained")
rows = np.arange(X.shape[1])
before = ((sample - X.mean()) / X.std()).to_numpy()[0]
axes[2].barh(rows, 2.0, left=before - 1.0, color="0.92", height=0.7)
for ax, (title, request) in zip(axes, requests.items()):
    found = counterfactual(pipeline, sample, "cultivar 0", **request)
    after = ((found.samples - X.mean()) / X.std()).to_numpy()[0]
    moved = found.changes[0] != 0
    ax.hlines(rows, before, after, color="#D55E00", linewidth=2)
    ax.plot(before, rows, "o", color="white", markeredgecolor="0.3", markersize=5)
    ax.plot(after[moved], rows[moved], "o", color="#D55E00", markersize=5)
    ax.set_title(f"{title}: {moved.sum()} of {len(rows)}", fontsize=10)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(left=False)
axes[0].set_yticks(rows, [name.replace("_", " ") for name in X])
axes[0].invert_yaxis()
axes[1].set_xlabel("standard deviations from the mean; gray: the bounds")

# %%
# In numbers, with an additional constraint: the alcohol must not change.

request = {"sparse": True, "bounds": one_deviation(sample), "fixed": ["alcohol"]}
print(counterfactual(pipeline, sample, "cultivar 0", **request).table())

# %%
# Number of changed features
# --------------------------
# The same for a third of the wines. Every result is verified with ``predict``. With a global matrix, as here, it is the
# smallest possible change, and ``proven`` is true.

each = [X[row : row + 1] for row in range(0, len(X), 3)]
found = [counterfactual(pipeline, wine, sparse=True, bounds=one_deviation(wine)) for wine in each]
counts = np.bincount([np.count_nonzero(one.changes) for one in found if one.found[0]])
print(f"found for {np.mean([one.found[0] for one in found]):.0%} of {len(each)} wines, ", end="")
print(f"proven for {np.mean([one.proven[0] for one in found]):.0%}")

figure, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
ax.bar(np.arange(1, len(counts)), counts[1:], color="#0072B2", width=0.6)
ax.set(xlabel="features that must change, by one deviation at most", ylabel="wines", xticks=np.arange(1, len(counts)))
ax.spines[["top", "right"]].set_visible(False)

plt.show()
# sphinx_gallery_thumbnail_number = 1
