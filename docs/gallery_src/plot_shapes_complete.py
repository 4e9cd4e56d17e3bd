"""
Completing vectors
==================

A map with shapes is a density of whole vectors. It has no fixed inputs and outputs: any missing values are replaced by
the most likely ones, given the others. This works even if there are several solutions, where regression returns their
average, which may not be a solution.
"""

# %%
# A multivalued relation
# ----------------------
# The samples lie on a circle. For most x there are two values of y, above and below. The nearest neighbors include
# both, and their average is neither. A map completes a sample within one prototype, so the result lies on one of the
# two halves of the circle.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from protolearn import NGPCA
from protolearn.plotting import plot_ellipses

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 500)
circle = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.normal(size=(500, 2))
gas = NGPCA(12, random_state=0).fit(circle)

known = np.linspace(-1, 1, 60)
completed = gas.complete(np.column_stack([known, np.full(60, np.nan)]), how="joint")
regression = KNeighborsRegressor(15).fit(circle[:, :1], circle[:, 1]).predict(known[:, None])

figure, ax = plt.subplots(figsize=(7.2, 5), layout="constrained")
plot_ellipses(gas, circle, arrows=False, ax=ax)
ax.plot(known, regression, "s", markersize=4, color="tab:blue", label="nearest neighbors")
ax.plot(*completed.T, "o", markersize=4, color="tab:orange", label="completed")
ax.set(xlabel="x, known", ylabel="y, to be found")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# An arm with two joints
# ----------------------
# Samples consist of the position of a hand and the angles of shoulder and elbow, four numbers. The forward kinematics
# is a formula; the inverse has two solutions, with the elbow to the left or to the right. The map learns the relation
# from samples, and is used in both directions.


def hand(angles):
    shoulder, elbow = angles.T
    return np.column_stack([np.cos(shoulder) + np.cos(shoulder + elbow), np.sin(shoulder) + np.sin(shoulder + elbow)])


def arms(n_samples):
    angles = np.column_stack([rng.uniform(0, np.pi, n_samples), rng.uniform(-2.5, 2.5, n_samples)])
    return hand(angles), angles


places, angles = arms(3000)
places_new, angles_new = arms(500)
unknown = np.full((500, 2), np.nan)

arm = NGPCA(100, 2, algorithm="batch", random_state=0).fit(np.hstack([places, angles]))
forward = arm.complete(np.hstack([unknown, angles_new]), how="joint")[:, :2]
backward = arm.complete(np.hstack([places_new, unknown]), how="joint")[:, 2:]
neighbors = KNeighborsRegressor().fit(places, angles).predict(places_new)

errors = {
    "angles to hand": np.linalg.norm(forward - places_new, axis=1),
    "hand to angles": np.linalg.norm(hand(backward) - places_new, axis=1),
    "hand to angles, nearest neighbors": np.linalg.norm(hand(neighbors) - places_new, axis=1),
}
for name, error in errors.items():
    print(f"{name}: the hand is off by {error.mean():.3f} on average")

# %%
# Both parts of the arm have length 1. Crosses are target positions. On the left are arms with the completed angles, on
# the right those of nearest neighbors, which average an elbow to the left and one to the right.


def draw_arms(ax, angles, color):
    shoulder = angles[:, 0]
    elbows = np.column_stack([np.cos(shoulder), np.sin(shoulder)])
    for elbow, end in zip(elbows, hand(angles)):
        ax.plot([0, elbow[0], end[0]], [0, elbow[1], end[1]], "o-", color=color, markersize=4, alpha=0.8)


shown = [0, 1, 2, 3, 5, 7]
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True, sharey=True)
for ax, title, found, color in (
    (axes[0], "completed", backward, "tab:orange"),
    (axes[1], "nearest neighbors", neighbors, "tab:blue"),
):
    draw_arms(ax, found[shown], color)
    ax.plot(*places_new[shown].T, "x", color="black", markersize=9)
    ax.set(title=title, aspect="equal")

plt.show()
