"""
A map of wines
==============

A self-organizing map arranges samples with many features on a lattice, with similar samples next to each other. Here
178 wines with 13 chemical measurements each are shown on one map, which can be colored by any quantity.
"""

# %%
# The fit
# -------
# Distances add up over the features, so features are brought to the same scale first. All pictures take the whole
# pipeline, and show features by their names and in their own units.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import SOM
from protolearn.core.lattices import hexagonal
from protolearn.plotting import (
    plot_class_map,
    plot_component_planes,
    plot_hits,
    plot_profiles,
    plot_topographic_function,
    plot_u_matrix,
)

wine = load_wine(as_frame=True)
X = wine.data
cultivar = wine.target_names[wine.target]

som = make_pipeline(StandardScaler(), SOM(lattice=hexagonal(7, 10))).fit(X)

# %%
# Which wines lie where
# ---------------------
# The map has not seen the three cultivars, yet they form three regions. The area of a disc is the number of wines in
# the cell; a pie would show a cell with wines of several cultivars.

plot_class_map(som, X, cultivar)

# %%
# Where the borders are
# ---------------------
# The U-matrix shows how far each prototype is from its neighbors on the map. Bright ridges separate groups of wines
# that differ much; dark valleys are groups of alike wines.

plot_u_matrix(som)

# %%
# Why they lie there
# ------------------
# One picture per feature tells what the regions mean. Flavanoids and total phenols have nearly the same picture: they
# vary together. Proline is high where class 0 lies, color intensity where class 2 does.

plot_component_planes(som, ["alcohol", "flavanoids", "total_phenols", "color_intensity", "hue", "proline"])

# %%
# A profile of each cell shows all features at once: from left to right the 13 measurements of its wines, in standard
# deviations, and their mean as a thick line.

plot_profiles(som, som[0].transform(X), X, cultivar)

# %%
# How far the map can be trusted
# ------------------------------
# Cells without wines lie between the groups. Below, the topographic function counts neighborhoods that are broken: to
# the left neighbors on the map that are far apart among the wines, as they are across such cells; to the right
# neighbors among the wines that are apart on the map, of which there are hardly any.

plot_hits(som)

# %%

plot_topographic_function(som)

# %%
# New wines
# ---------
# ``predict`` gives the cell of a new wine, ``lattice_.coordinates`` its place on the map.

cell = som.predict(X.iloc[[0]])[0]
print(f"cell {cell} at {som[-1].lattice_.coordinates[cell].round(2)}")

plt.show()
