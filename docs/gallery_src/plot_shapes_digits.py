"""
Inspecting digits
=================

Each digit has its own map, whose prototypes represent a few directions in which their images vary. The classifier
assigns an image to the class of the prototype that describes it best, and all its parameters are images that can be
inspected.
"""

# %%
# A map for each class
# --------------------
# With ``per_class=True``, ``PrototypeClassifier`` fits a separate map to the samples of each class. Here each digit of
# 8 × 8 pixels has two prototypes with ten directions.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from protolearn import NGPCA, NeuralGas, PrototypeClassifier
from protolearn.plotting import plot_codebook, plot_eigenimages, plot_misclassified, plot_variation

images, digit = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(images, digit, stratify=digit, random_state=0)

shaped = PrototypeClassifier(NGPCA(2, 10, algorithm="batch", random_state=0), per_class=True).fit(X, y)
points = PrototypeClassifier(NeuralGas(2, random_state=0), per_class=True).fit(X, y)
for name, classifier in {"prototypes that are points": points, "prototypes with directions": shaped}.items():
    print(f"{name}: {classifier.score(X_new, y_new):.1%} of new digits are right")

# %%
# The codebook
# ------------
# The prototypes, a row for each digit. Those of one digit are different ways to write it.

figure, ax = plt.subplots(figsize=(2, 7), layout="constrained")
plot_codebook(shaped, shape=(8, 8), ax=ax)

# %%
# Directions are images too
# -------------------------
# The first prototype of the digit 4, and the directions in which its images vary: white where pixels get brighter along
# a direction, black where they get darker. The number above each is the variance.

first = int(np.flatnonzero(shaped.prototype_labels_ == 4)[0])
plot_eigenimages(shaped, first, shape=(8, 8))

# %%
# Moving along a direction shows its meaning: here, whether the gap at the top of the 4 is open or filled.

plot_variation(shaped, first, shape=(8, 8), component=0)

# %%
# Errors
# ------
# The first misclassified new image of each class, above the prototype that it was assigned to.

plot_misclassified(shaped, X_new, y_new, shape=(8, 8))

plt.show()
# sphinx_gallery_thumbnail_number = 2
