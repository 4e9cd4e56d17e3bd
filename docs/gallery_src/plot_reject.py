"""
Classification with a reject option
===================================

A map whose prototypes have class labels is a classifier. It can reject uncertain samples: those that are about as far
from the nearest prototype of another class as from their winner.
"""

# %%
# Two overlapping classes
# -----------------------
# No classifier can be right on more than 91 % of these samples.

import matplotlib.pyplot as plt
import numpy as np

from protolearn import NeuralGas, PrototypeClassifier
from protolearn.datasets import make_ripley
from protolearn.plotting import plot_prototypes

X, y = make_ripley(250, random_state=0)
X_test, y_test = make_ripley(1000, random_state=1)

classifier = PrototypeClassifier(NeuralGas(12, label_weight=0.5, random_state=0)).fit(X, y)
print(f"accuracy on new samples: {classifier.score(X_test, y_test):.3f}")

plot_prototypes(classifier, X, y)

# %%
# With ``label_weight=0.5`` labels are half of the distance in training, so receptive fields cross the border between
# the classes as little as possible. A map without labels works as well: its prototypes are labeled by the samples they
# win.
#
# Confidence
# ----------
# ``confidence`` is 1 on a prototype and 0 half-way between prototypes of different classes. Below a threshold,
# ``predict`` returns ``reject_label``.

careful = PrototypeClassifier(NeuralGas(12, label_weight=0.5, random_state=0), reject_threshold=0.5).fit(X, y)
predicted = careful.predict(X_test)
rejected = predicted == -1
print(f"rejected {rejected.mean():.1%}, accuracy on the others {(predicted == y_test)[~rejected].mean():.3f}")

low, high = X_test.min(axis=0) - 0.1, X_test.max(axis=0) + 0.1
across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
confidence = careful.confidence(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)

figure, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
shades = ax.contourf(across, up, confidence, levels=np.linspace(0, 1, 11), cmap="Grays_r", alpha=0.6)
for value, color in {0: "#0072B2", 1: "#E69F00"}.items():
    ax.scatter(*X_test[y_test == value].T, s=6, color=color, linewidths=0, label=f"class {value}")
ax.scatter(*careful.estimator_.prototypes_.T, s=40, color="black", edgecolors="white", label="prototypes")
ax.contour(across, up, confidence, levels=[0.5], colors="black", linewidths=0.8)
ax.set(aspect="equal", title="confidence; outside the lines, samples are rejected")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
figure.colorbar(shades, ax=ax)

# %%
# Accuracy and rejection
# ----------------------
# Reject the least confident samples first: the accuracy on the others increases. On the far right, few samples are left
# and the curve is noisy, because single samples of one class lie on a prototype of the other.

confidence = careful.confidence(X_test)
right = classifier.predict(X_test) == y_test
most_confident_first = np.argsort(-confidence)
kept = np.arange(1, len(X_test) + 1)
accuracy = np.cumsum(right[most_confident_first]) / kept

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(100 * (1 - kept / len(kept))[100:], accuracy[100:], color="#0072B2")
ax.set(xlabel="rejected samples, %", ylabel="accuracy on the others")
ax.spines[["top", "right"]].set_visible(False)

plt.show()
# sphinx_gallery_thumbnail_number = 2
