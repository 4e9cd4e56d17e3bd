"""
A metric of your own
====================

The metric of an LVQ classifier is one small object, which you can replace by your own. In this example, features come
in groups, the readings of sensors over time, and each sensor has one relevance.
"""

# %%
# Twelve sensors
# --------------
# Every sample consists of 25 readings of each of twelve sensors. Only two of the sensors are informative about the
# three classes: one responds with a wave, another with a drift. The others are noise, and there are few samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GLVQ, GMLVQ, GRLVQ
from protolearn.lvq import Relevance

SENSORS, READINGS = 12, 25
rng = np.random.default_rng(0)
time = np.linspace(0, 1, READINGS)


def measure_samples(n):
    """Draw readings (n, 300) and classes 0, 1, 2."""
    y = np.arange(n) % 3
    level, swing = rng.normal(size=(2, n, SENSORS, 1))
    X = level + swing * np.sin(np.pi * time) + 1.5 * rng.normal(size=(n, SENSORS, READINGS))
    X[:, 2] += 1.2 * (y == 1)[:, None] * np.sin(2 * np.pi * time)
    X[:, 7] += 1.6 * (y == 2)[:, None] * time
    return X.reshape(n, -1), y


X, y = measure_samples(90)
X_test, y_test = measure_samples(3000)

# %%
# One relevance for each group
# ----------------------------
# The distance is :math:`\lVert A (x - w) \rVert^2` with a diagonal matrix whose entries repeat within a group. A
# ``Relevance`` defines its initial parameters, how ``A`` depends on them, and the chain rule from derivatives with
# respect to ``A`` to derivatives with respect to the parameters. Everything else is inherited.


class Grouped(Relevance):
    """One relevance for each group of features; ``groups`` holds the number of the group of each feature."""

    def __init__(self, groups):
        self.groups = groups

    def start(self, n_features, classes, rng):
        return (np.ones((1, np.max(self.groups) + 1)),)

    def matrices(self, theta):
        return theta[0][:, self.groups]

    def pull(self, theta, dA):
        return (np.bincount(self.groups, dA[0])[None],)


sensor = np.repeat(np.arange(SENSORS), READINGS)
models = {
    "GLVQ, fixed metric": GLVQ(),
    "GRLVQ, 300 relevances": GRLVQ(),
    "GMLVQ, a full matrix": GMLVQ(),
    "12 relevances, ours": GLVQ(metric=Grouped(sensor)),
}
accuracy = {}
for name, model in models.items():
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    accuracy[name] = pipeline.score(X, y), pipeline.score(X_test, y_test)

# %%
# All models fit the 90 training samples. With 300 relevances or a full matrix they overfit, with twelve much less so.

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
rows = np.arange(len(models))
for shift, part, color in ((-0.2, "training", "#56B4E9"), (0.2, "new samples", "#0072B2")):
    values = [each[part == "new samples"] for each in accuracy.values()]
    ax.barh(rows + shift, values, height=0.38, color=color, label=part)
    for row, value in zip(rows, values):
        ax.text(value + 0.01, row + shift, f"{value:.2f}", va="center", fontsize="small")
ax.set_yticks(rows, models)
ax.invert_yaxis()
ax.set(xlabel="accuracy", xlim=(0, 1.1))
figure.legend(loc="outside lower center", ncols=2, frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Interpretation
# --------------
# Explanations, counterfactuals and missing values work with every ``Relevance``. The mean contributions of the sensors
# to the decisions on new samples are largest for the two informative sensors, 2 and 7. With so few samples, some of the
# others contribute as well.

contributions = model.explain(pipeline[0].transform(X_test)).contributions
by_sensor = contributions.reshape(-1, SENSORS, READINGS).sum(axis=2).mean(axis=0)

figure, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
ax.bar(np.arange(SENSORS), by_sensor, color="#0072B2")
ax.set(xlabel="sensor", ylabel="mean contribution", xticks=np.arange(SENSORS))
ax.spines[["top", "right"]].set_visible(False)

plt.show()
