"""
Unrolling a swiss roll, and back
================================

Charting approximates the data by many small linear models, and aligns them in one view. It can embed new samples, and
every position in the view can be mapped back to a sample.
"""

# %%
# Charts
# ------
# The data are a rolled-up sheet with ten stripes. Prototypes with a shape cover the sheet like tiles: each has a
# center, two directions along the sheet, and a share in the samples around it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from protolearn import Charting
from protolearn.datasets import make_swiss_roll
from protolearn.metrics import nearest_neighbor_error, trustworthiness
from protolearn.plotting import plot_charts, plot_embedding

X, sheet, stripes = make_swiss_roll(2000, random_state=0)
charting = Charting(n_charts=25, random_state=0).fit(X)

figure = plt.figure(figsize=(9, 4.2), layout="constrained")
ax = figure.add_subplot(121, projection="3d")
plot_charts(charting, X, space="data", ax=ax)
ax.view_init(12, -70)
plot_charts(charting, X, ax=figure.add_subplot(122))

# %%
# The view
# --------
# The affine maps of the charts are chosen such that charts agree where they overlap. This is an eigenproblem of 75
# unknowns, for any number of samples. The isometry defect measures how far the charts are from preserving lengths: well
# below 0.3 the sheet is flat, far above there is a fold. The stripes remain separate: there are no more neighbors of
# another stripe than in the data.

plot_embedding(charting, sheet[:, 0])  # colored by the angle on the roll

print(f"isometry defect: {charting.isometry_defect_:.3f}")
print(f"trustworthiness of 12 neighbors: {trustworthiness(X, charting.embedding_, n_neighbors=12):.4f}")
for name, points in {"view": charting.embedding_, "data": X}.items():
    print(f"nearest neighbors of another stripe in the {name}: {nearest_neighbor_error(points, stripes):.1%}")

# %%
# New samples
# -----------
# The mapping embeds them by a few matrix products, without any optimization. The result agrees with a view computed
# from the new samples themselves: both are compared with the sheet, up to a linear transformation.

X_new, sheet_new, _ = make_swiss_roll(2000, random_state=1)
again = clone(charting).fit(X_new)


def along_sheet(places, sheet):
    """Return how much of the variance of the coordinates on the sheet is linear in places."""
    columns = np.column_stack([places, np.ones(len(places))])
    left = sheet - columns @ np.linalg.lstsq(columns, sheet, rcond=None)[0]
    return 1 - left.var(axis=0).sum() / sheet.var(axis=0).sum()


print(f"explained by the places of new samples: {along_sheet(charting.transform(X_new), sheet_new):.3f}")
print(f"explained by a view made of them: {along_sheet(again.embedding_, sheet_new):.3f}")

# %%
# Inverse mapping
# ---------------
# Each affine map can be inverted, so a grid in the view becomes a mesh on the roll.

low, high = np.percentile(charting.embedding_, [1, 99], axis=0)
across, along = np.linspace(low[0], high[0], 600), np.linspace(low[1], high[1], 200)
net = [np.column_stack([np.full(len(along), x), along]) for x in across[::15]]
net += [np.column_stack([across, np.full(len(across), y)]) for y in along[::28]]

figure = plt.figure(figsize=(6, 5), layout="constrained")
ax = figure.add_subplot(projection="3d")
ax.scatter(*X.T, s=2, c="0.75")
for line in net:
    ax.plot(*charting.inverse_transform(line).T, color="tab:blue", linewidth=0.8)
ax.view_init(12, -70)

back = charting.inverse_transform(charting.transform(X_new))
print(f"distance of new samples from the sheet found: {np.linalg.norm(back - X_new, axis=1).mean():.2f}")
print(f"radius of the data: {np.linalg.norm(X_new - X_new.mean(axis=0), axis=1).mean():.1f}")

# %%
# A failure
# ---------
# With ten charts, a chart is wider than the gap between two turns and spans both, so the view is folded. The defect
# shows this without knowledge of the sheet.

few = Charting(n_charts=10, random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_charts(few, X, ax=axes[0])
plot_embedding(few, sheet[:, 0], ax=axes[1])

plt.show()
# sphinx_gallery_thumbnail_number = 1
