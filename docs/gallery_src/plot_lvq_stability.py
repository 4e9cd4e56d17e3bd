"""
Relevances with intervals
=========================

A classifier always ranks some features as relevant. Would it rank the same ones first if it had been trained on other
samples? ``relevance_stability`` fits it in every split of a cross-validation and compares the relevances.
"""

# %%
# The splits
# ----------
# The data are 30 measurements of cell nuclei for each of 569 tumors, in two classes. Five folds, repeated five times,
# give 25 fits. The scaler is part of the pipeline, so it is never fitted to held-out samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ, GRLVQ
from protolearn.lvq import relevance_stability
from protolearn.plotting import plot_relevance_matrix, plot_relevance_stability

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target_names[cancer.target]

stability = relevance_stability(make_pipeline(StandardScaler(), GMLVQ()), X, y)
print(stability.table())

# %%
# Bars are means over the splits, and lines cover the middle 95 % of them. They show how much a relevance depends on the
# samples; the splits share most of their samples, so these are not confidence intervals. On the right is the mean ROC
# curve on the held-out samples, with a band computed in the same way. The gray line is an equal share for every
# measurement.

plot_relevance_stability(stability)

# %%
# The matrix
# ----------
# The stability of the off-diagonal entries can be examined as well. Relevance matrices can be averaged entry by entry:

names = stability.feature_names
plot_relevance_matrix(stability.mean_relevance_matrix(), feature_names=names, n_features=12)

# %%
# Comparison of classifiers
# -------------------------
# Many measurements of tumors are redundant, and a metric has to choose among them. Regularization distributes relevance
# over redundant features, so the choice depends less on the samples; and one number per feature is easier to learn than
# a matrix. The rank correlation of two splits, and the agreement of their ten most relevant features (0 if drawn by
# chance, 1 if identical), summarize this in one number each:

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
models = {
    "GRLVQ, not regularized": GRLVQ(regularization=0.0),
    "GRLVQ": GRLVQ(),
    "GMLVQ, not regularized": GMLVQ(regularization=0.0),
    "GMLVQ": GMLVQ(),
}
found = {
    name: relevance_stability(make_pipeline(StandardScaler(), model), X, y, cv=folds) for name, model in models.items()
}
for name, each in found.items():
    print(f"{name:24} {each.rank_correlation:.2f} {each.kuncheva_index:.2f}, accuracy {each.accuracy.mean():.3f}")

figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
rows = np.arange(len(found))
ax.barh(
    rows - 0.18, [each.rank_correlation for each in found.values()], 0.34, color="#0072B2", label="rank correlation"
)
ax.barh(
    rows + 0.18, [each.kuncheva_index for each in found.values()], 0.34, color="#E69F00", label="top ten (Kuncheva)"
)
ax.set_yticks(rows, list(found))
ax.invert_yaxis()
ax.set_xlim(0, 1)
ax.set_xlabel("agreement of two splits")
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Feature selection
# -----------------
# ``feature_importances_`` holds the same relevances under scikit-learn's name, so ``SelectFromModel`` and ``RFE`` can
# select features by them. The ten most relevant features, selected again in each fold:

few = make_pipeline(StandardScaler(), SelectFromModel(GMLVQ(), max_features=10, threshold=-np.inf), GMLVQ())
print(f"10 features: accuracy {cross_val_score(few, X, y, cv=folds).mean():.3f}")
