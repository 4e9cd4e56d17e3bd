"""
Outliers
========

A map describes normal samples. A sample that none of its prototypes represents is an outlier. ``OutlierDetector`` turns
any map into a detector: with shapes, by the density of the mixture of ellipsoids; otherwise by the distance to the
nearest prototype.
"""

# %%
# A density that follows the samples
# ----------------------------------
# A broad spiral, and 150 uniformly distributed samples. Lines are drawn at the density below which five percent of the
# training samples lie. With the same number of prototypes, points cannot follow the arm.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from protolearn import NGPCA, NeuralGas, OutlierDetector
from protolearn.datasets import make_vortex

X, _ = make_vortex(random_state=0)
strange = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (150, 2))
grid = np.stack(np.meshgrid(*(np.linspace(-140, 140, 200),) * 2), axis=-1)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained", sharey=True)
for ax, model in zip(axes, (NeuralGas(20, random_state=0), NGPCA(20, random_state=0))):
    detector = OutlierDetector(model, contamination=0.05).fit(X)
    heights = detector.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
    found = detector.predict(strange) == -1
    ax.plot(*X.T, ".", color="0.75", markersize=3)
    ax.contour(*np.moveaxis(grid, 2, 0), heights, levels=[0], colors="black", linewidths=0.8)
    ax.plot(*strange[found].T, "o", color="tab:orange", markersize=4, label="outlier")
    ax.plot(*strange[~found].T, "o", color="tab:blue", markersize=4, label="normal")
    ax.set(title=f"{type(model).__name__}, 20 prototypes", aspect="equal")
axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# Tumors
# ------
# The detector is trained on benign tumors only, and applied to others, benign and malignant. By default the map is
# matrix neural gas, with a size chosen by the number of samples.

tumors, benign = load_breast_cancer(return_X_y=True)
train, rest = train_test_split(tumors[benign == 1], random_state=0)
scaler = StandardScaler().fit(train)
train, test = scaler.transform(train), scaler.transform(np.vstack([rest, tumors[benign == 0]]))
is_benign = np.repeat([1, 0], [len(rest), (benign == 0).sum()])

for name, detector in {
    "prototypes with shapes": OutlierDetector(),
    "prototypes without": OutlierDetector(NeuralGas(8, random_state=0)),
    "isolation forest": IsolationForest(contamination=0.05, random_state=0),
}.items():
    detector.fit(train)
    area = roc_auc_score(is_benign, detector.decision_function(test))
    called = detector.predict(test) == -1
    alarms, hits = called[is_benign == 1].mean(), called[is_benign == 0].mean()
    print(f"{name:22s}  area under the curve {area:.2f}, false alarms {alarms:.2f}, malignant found {hits:.2f}")

plt.show()
