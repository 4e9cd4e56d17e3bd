"""
Interpreting a medical model
============================

A matrix LVQ classifier distinguishes tumors by two typical ones and a learned distance. Besides a prediction it gives
reasons: which measurements count, why a single tumor was classified as it was, what would have to change for another
diagnosis, and when to abstain.
"""

# %%
# Training
# --------
# The data are 30 measurements of cell nuclei for each of 569 tumors. A scaler brings them to the same scale and keeps
# their names.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ
from protolearn.lvq import counterfactual, explain
from protolearn.plotting import plot_explanation, plot_margins, plot_relevance_matrix, plot_relevances

cancer = load_breast_cancer(as_frame=True)
diagnosis = cancer.target_names[cancer.target]
X, X_test, y, y_test = train_test_split(cancer.data, diagnosis, stratify=diagnosis, random_state=0)

pipeline = make_pipeline(StandardScaler(), GMLVQ(regularization=0.01)).fit(X, y)
print(f"accuracy on {len(X_test)} new tumors: {pipeline.score(X_test, y_test):.3f}")

# %%
# Relevance of measurements
# -------------------------
# Relevances add up to one; 0.033 would be an equal share. Here the regularization, which makes them more equal, is
# weaker than the default. Many measurements contribute, since many of them are redundant: radius, perimeter and area
# increase together.

plot_relevances(pipeline, n_features=15)

# %%
# The relevance matrix also shows which measurements count *together*. If an entry is positive, differences of the same
# sign in both measurements increase the distance; if it is negative, they decrease it.

plot_relevance_matrix(pipeline, n_features=12)

# %%
# Explaining a decision
# ---------------------
# Take the test sample with the lowest confidence. ``explain`` compares the nearest prototype with the nearest one of
# the other class. The bars are the contributions of each measurement to the difference of the two distances.

confidence = pipeline[-1].confidence(pipeline[:-1].transform(X_test))
doubtful = X_test.iloc[[np.argmin(confidence)]]
explanation = explain(pipeline, doubtful)
print(explanation.table(n_features=4))

plot_explanation(explanation, n_features=12)

# %%
# Counterfactual
# --------------
# ``counterfactual`` finds the smallest change, in the learned metric, that crosses the border. In units of the
# measurements, for the sample with the *highest* confidence among the malignant ones:

malignant = np.flatnonzero(pipeline.predict(X_test) == "malignant")
sure = X_test.iloc[[malignant[np.argmax(confidence[malignant])]]]
print(counterfactual(pipeline, sure).table(n_features=5))

# %%
# All measurements change. :doc:`plot_lvq_counterfactual` shows how to limit the change to few of them, or to bounds.

# %%
# Rejection
# ---------
# The margin of a sample is negative if it is misclassified. Few margins are small, so rejecting the few samples of low
# confidence removes most errors.

plot_margins(pipeline, X, y, X_test, y_test)

right = pipeline.predict(X_test) == y_test
for threshold in (0.0, 0.1, 0.3):
    kept = confidence >= threshold
    print(f"threshold {threshold}: {1 - kept.mean():4.0%} rejected, {(~right[kept]).sum()} errors on the others")

plt.show()
