"""
Explore a view
==============

A view (a two-dimensional embedding) shows every sample, but none of them in full. On the page written by
`protolearn.explore.explore`, readers can go from the view to the samples, and see where the view cannot be trusted.
"""

# %%
# Digits
# ------
# Zoom in, pick a point to see the digit, lasso a cluster to see what its digits have in common. Choose *torn* or
# *squeezed* as the color to see which digits have lost their neighbors in the view, and which have false neighbors.

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import TSNE, MappedEmbedding
from protolearn.explore import explore
from protolearn.plotting import plot_embedding

X, y = load_digits(return_X_y=True)
view = TSNE(random_state=0).fit(X)
plot_embedding(view.embedding_, y)

# %%

folder = Path(mkdtemp())
page = explore(view, X, y, images=16 - X.reshape(-1, 8, 8), title="A view of digits", path=folder / "digits-view.html")

# %%
# New samples
# -----------
# With a mapping, the page embeds samples that you enter: change the measurements of a wine and see how its position
# changes.

wine = load_wine(as_frame=True)
mapped = make_pipeline(StandardScaler(), MappedEmbedding(random_state=0)).fit(wine.data)
cultivar = wine.target_names[wine.target]
page = explore(mapped, wine.data, cultivar, title="Wines, and where others would be", path=folder / "wine-view.html")

plt.show()
