"""
A map of wines
==============

A self-organizing map arranges samples with many features on a lattice, with similar samples next to each other. Here
178 wines with 13 chemical measurements each are shown on one map, which can be colored by any quantity.
"""

# %%
# Training
# --------
# Distances add up over the features, so features are scaled first. All plots accept the whole pipeline, and show
# features by their names and in their own units.

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
# Classes on the map
# ------------------
# The map was trained without the three cultivars, yet they form three regions. The area of a disc is the number of
# wines in the cell; a cell with wines of several cultivars is shown as a pie.

plot_class_map(som, X, cultivar)

# %%
# Borders between groups
# ----------------------
# The U-matrix shows how far each prototype is from its neighbors on the map. Bright ridges separate groups of different
# wines; dark valleys are groups of similar wines.

plot_u_matrix(som)

# %%
# Features on the map
# -------------------
# One plot per feature shows the meaning of the regions. Flavanoids and total phenols have nearly the same plot: they
# vary together. Proline is high in the region of class 0, color intensity in that of class 2.

plot_component_planes(som, ["alcohol", "flavanoids", "total_phenols", "color_intensity", "hue", "proline"])

# %%
# A profile of each cell shows all features at once: from left to right the 13 measurements of its wines, in standard
# deviations, and their mean as a thick line.

plot_profiles(som, som[0].transform(X), X, cultivar)

# %%
# Trustworthiness of the map
# --------------------------
# Cells without wines lie between the groups. Below, the topographic function counts violated neighborhoods: on the
# left, neighbors on the map that are far apart in the data, as across such empty cells; on the right, neighbors in the
# data that are far apart on the map, of which there are hardly any.

plot_hits(som)

# %%

plot_topographic_function(som)

# %%
# New wines
# ---------
# ``predict`` returns the cell of a new wine, ``lattice_.coordinates`` its position on the map.

cell = som.predict(X.iloc[[0]])[0]
print(f"cell {cell} at {som[-1].lattice_.coordinates[cell].round(2)}")

plt.show()
