"""
Explore a classifier
====================

A prototype classifier is interpretable: it shows what is typical of each class, which features count, and why a sample
was classified as it was. On the page written by `protolearn.explore.explore`, readers can also change a sample and
watch the decision change. The page evaluates the model in the browser.
"""

# %%
# Relevances
# ----------
# Tumors are described by thirty measurements of cell nuclei. The classifier learns the relevance of each of them.

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ
from protolearn.explore import explore
from protolearn.plotting import plot_relevances

cancer = load_breast_cancer(as_frame=True)
y = cancer.target_names[cancer.target]
X, X_new, y, y_new = train_test_split(cancer.data, y, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
print(f"{model.score(X_new, y_new):.1%} of {len(X_new)} tumors that it has not seen are classified rightly.")
plot_relevances(model)

# %%
# Explaining a decision
# ---------------------
# Pick a tumor in the plane or in the table. The bars show which measurements support its class and which do not. Move
# their sliders: distances, confidence and class are updated. *Nearest counterfactual* finds the smallest change that
# leads to the other class. These tumors were not used for training.

page = explore(model, X_new, y_new, title="Benign or malignant?", path=Path(mkdtemp()) / "cancer-classifier.html")

plt.show()
