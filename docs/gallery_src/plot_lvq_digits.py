"""
Digits in two dimensions
========================

With a matrix of two rows, LVQ learns the plane in which the prototypes best separate the classes. The classifier uses
only this plane, so the plot shows its decisions completely.
"""

# %%
# A view learned for classification
# ---------------------------------
# Ten digits of 8 × 8 pixels, one prototype for each. Regions show the predictions of the model; diamonds are the
# prototypes.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GMLVQ, LLiRaMLVQ
from protolearn.lvq import prototypes_in_units
from protolearn.plotting import plot_eigenvalues, plot_relevances, plot_view

images, digit = load_digits(return_X_y=True)
train, test, y, y_test = train_test_split(images, digit, stratify=digit, random_state=0)
scaler = StandardScaler().fit(train)
X, X_test = scaler.transform(train), scaler.transform(test)

flat = GMLVQ(n_components=2).fit(X, y)
figure, ax = plt.subplots(figsize=(8.5, 4.6), layout="constrained")
plot_view(flat, X_test, y_test, ax=ax)
ax.set_title(f"matrix of rank 2: {flat.score(X_test, y_test):.0%} of new digits are right")

# %%
# Curved borders
# --------------
# ``LLiRaMLVQ`` gives each class its own small matrix within the view: classes may be wide or narrow there, and borders
# are curved.

curved = LLiRaMLVQ().fit(X, y)
figure, ax = plt.subplots(figsize=(6.5, 6), layout="constrained")
plot_view(curved, X_test, y_test, ax=ax)
ax.set_title(f"rank 2, a matrix for each class in the view: {curved.score(X_test, y_test):.0%}")

# %%
# For comparison, the nearest class mean in the plane of linear discriminant analysis, which is the initialization of
# the matrix:

lda = make_pipeline(LinearDiscriminantAnalysis(n_components=2), NearestCentroid()).fit(X, y)
print(f"LDA, two dimensions: {lda.score(X_test, y_test):.0%}")

# %%
# All directions
# --------------
# Two dimensions are few for ten classes. The full matrix uses more of them, and the eigenvalues of the relevance matrix
# show how many. The other eigenvalues are small and equal, because of the regularization.

full = GMLVQ().fit(X, y)
print(f"all directions: {full.score(X_test, y_test):.0%}")
plot_eigenvalues(full)

# %%
# Prototypes and relevances as images
# -----------------------------------
# Prototypes are points in the space of the images, so they can be displayed as images, and so can the relevances of the
# pixels.

pipeline = make_pipeline(scaler, full)
figure, axes = plt.subplots(2, 5, figsize=(7.5, 3.3), layout="constrained")
for ax, prototype, label in zip(axes.flat, prototypes_in_units(pipeline), full.prototype_labels_):
    ax.imshow(prototype.reshape(8, 8), cmap="Grays")
    ax.set(title=label, xticks=[], yticks=[])

plot_relevances(full, shape=(8, 8))

plt.show()
