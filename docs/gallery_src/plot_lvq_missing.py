"""
Missing values
==============

A sample with missing values can still be compared with a prototype, by its observed values. With ``missing="partial"``
LVQ learns and predicts in this way, and no imputation is needed.
"""

# %%
# Partial distances
# -----------------
# A third of the measurements of 178 wines is missing at random, in training and in the samples to be predicted. The
# scaler of scikit-learn ignores missing values.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ
from protolearn.plotting import plot_explanation

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target_names[wine.target]
rng = np.random.default_rng(0)
holes = X.mask(rng.random(X.shape) < 1 / 3)

scaler = StandardScaler().set_output(transform="pandas")
model = make_pipeline(scaler, GMLVQ(missing="partial")).fit(holes, y)[-1]
print(f"accuracy on the training samples: {model.score(scaler.transform(holes), y):.2f}")

# %%
# The explanation of a sample uses its observed values; missing values contribute nothing.

poorest = holes.iloc[[holes.isna().sum(axis=1).argmax()]]
print(f"known: {', '.join(poorest.columns[poorest.notna().to_numpy()[0]])}")
plot_explanation(model.explain(scaler.transform(poorest)), n_features=13)

# %%
# Comparison with imputation
# --------------------------
# The alternatives are to impute the mean of the feature, or the mean of the nearest samples that have it. Partial
# distances assume only that values are missing at random. Where a value can be predicted well from others, as a pixel
# from its neighbors, imputation is better, as long as enough values are observed.

ways = {
    "partial distances": [GMLVQ(missing="partial")],
    "filled in: mean": [SimpleImputer(keep_empty_features=True), GMLVQ()],
    "filled in: neighbors": [KNNImputer(keep_empty_features=True), GMLVQ()],
}
shares = [0.0, 0.25, 0.5]
pixels, digit = load_digits(return_X_y=True)
data = {"wine": (X.to_numpy(), y), "digits, 300 of them": (pixels[:300], digit[:300])}

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, (title, (samples, labels)) in zip(axes, data.items()):
    gaps = [np.where(rng.random(samples.shape) < share, np.nan, samples) for share in shares]
    for (way, steps), color in zip(ways.items(), ("#0072B2", "#E69F00", "#009E73")):
        pipeline = make_pipeline(StandardScaler(), *steps)
        scores = [cross_val_score(pipeline, each, labels, cv=3).mean() for each in gaps]
        ax.plot(shares, scores, "o-", color=color, markersize=4, label=way)
    ax.set(title=title, xlabel="share of values that are missing", ylabel="accuracy, cross-validated")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)

plt.show()
# sphinx_gallery_thumbnail_number = 2
