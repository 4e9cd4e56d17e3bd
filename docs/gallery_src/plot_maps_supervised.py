"""
Supervised views
================

A view shows neighbors in the data, and much of that structure may be noise. A classifier has learned which differences
matter. With its distances, the same embedding methods show the classes.
"""

# %%
# A star in noise
# ---------------
# Two features form a star with three tips, with two classes side by side in each. Eight more features are noise, and
# vary more than the star does. A view of the distances in all ten features shows the tips at best. The classifier, with
# three prototypes per class and a matrix for each of them, finds the classes as well.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import Isomap
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from protolearn import LGMLVQ, TSNE, DiscriminativeEmbedding
from protolearn.datasets import make_three_tip_star
from protolearn.metrics import nearest_neighbor_error
from protolearn.plotting import plot_embedding

X, y = make_three_tip_star(200, random_state=0)
classifier = LGMLVQ(prototypes_per_class=3, n_components=2, random_state=0)
views = {
    "the two features of the star": X[:, :2],
    "t-SNE of all features": TSNE(random_state=0).fit_transform(X),
    "t-SNE of learned distances": DiscriminativeEmbedding(classifier, TSNE(random_state=0)).fit_transform(X, y),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for ax, (name, view) in zip(axes, views.items()):
    plot_embedding(view, y, labels="legend" if ax is axes[-1] else None, ax=ax)
    ax.set_title(f"{name}: {nearest_neighbor_error(view, y):.0%}")

# %%
# The numbers are the fractions of samples whose nearest neighbor is of the other class. In the plane of the star this
# is 11%, because the classes overlap; smaller values are too good to be true.
#
# Wine
# ----
# 178 wines of three cultivars. Any method that accepts distances can use these; here t-SNE and scikit-learn's Isomap.

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
metric = LGMLVQ(random_state=0)
methods = {"t-SNE": TSNE(random_state=0), "Isomap": Isomap(n_neighbors=35)}

figure, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained")
for row, (name, method) in zip(axes, methods.items()):
    plain = method.fit_transform(X)
    learned = DiscriminativeEmbedding(metric, method).fit_transform(X, y)
    for ax, view, title in zip(row, (plain, learned), (name, f"{name}, learned distances")):
        plot_embedding(view, y, ax=ax)
        ax.set_title(f"{title}: {nearest_neighbor_error(view, y):.1%}")

# %%
# An unbiased view
# ----------------
# These views use the labels of the samples they show, and would separate even classes that do not differ. For an
# unbiased view, fit the classifier to other samples, and freeze it.

star, tip = make_three_tip_star(200, random_state=0)
star_new, tip_new = make_three_tip_star(200, random_state=1)
wine, wine_new, cultivar, cultivar_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
fitted = classifier.fit(star, tip), metric.fit(wine, cultivar)
for ax, model, new, classes in zip(axes, fitted, (star_new, wine_new), (tip_new, cultivar_new)):
    honest = DiscriminativeEmbedding(FrozenEstimator(model), TSNE(perplexity=25, random_state=0))
    view = honest.fit_transform(new, classes)
    plot_embedding(view, classes, labels="legend", ax=ax)
    ax.set_title(f"{len(new)} new samples: {nearest_neighbor_error(view, classes):.0%}")

plt.show()
# sphinx_gallery_thumbnail_number = 1
