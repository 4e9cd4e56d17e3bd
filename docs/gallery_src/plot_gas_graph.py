"""
Neural gas and the graph of the data
====================================

Neural gas distributes prototypes over the data like k-means, and is less sensitive to a poor initialization. It has no
lattice; instead it learns the graph of prototypes that are neighbors *in the data*: it has an edge for every pair that
is nearest and second nearest to some sample, weighted by the number of these samples.
"""

# %%
# Two moons
# ---------
# With enough prototypes, hardly any sample has its two nearest prototypes on different moons, so the graph has two
# connected components that follow the shapes of the clusters.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_moons

from protolearn import KMeans, NeuralGas
from protolearn.datasets import make_checkerboard
from protolearn.metrics import quantization_error
from protolearn.plotting import plot_graph, plot_history

X, moon = make_moons(1500, noise=0.06, random_state=0)
gas = NeuralGas(n_prototypes=40, random_state=0).fit(X)
plot_graph(gas, X)

# %%
# ``graph_`` is a sparse matrix, which SciPy's graph routines accept directly. A few samples in between can connect two
# clusters, and in some draws of these moons they do; without the edges of small weight the components are more stable.
# With half as many prototypes the gap can be too narrow for the graph to resolve.

strong = gas.graph_.multiply(gas.graph_ > 2)
n_parts, part = connected_components(strong, directed=False)
print(n_parts, "parts; samples of each moon in each part:")
print(np.array([np.bincount(part[gas.labels_][moon == m], minlength=n_parts) for m in (0, 1)]))

# %%
# A poor initialization
# ---------------------
# With ``init="center"``, all prototypes start close to the mean. The initial range is then so wide that every sample
# attracts all prototypes. It decreases to zero, where only the winner is updated and the cost is that of k-means. The
# cost decreases with the range, because fewer and fewer prototypes count.

plot_history(NeuralGas(n_prototypes=40, init="center", random_state=0).fit(X))

# %%
# A hundred clusters
# ------------------
# Small clusters on a grid, with one prototype for each. k-means from random samples leaves many clusters without a
# prototype and others with two, and cannot correct this, because prototypes do not cross the gaps. With k-means++
# initialization most runs miss a few clusters. Each dot below is one run with another seed. Neural gas finds all
# clusters in every run, with both initializations: after the last epoch it *settles*, that is, prototypes that are
# hardly needed move to positions where they lower the cost most.

board, _ = make_checkerboard(random_state=0)
runs = {
    "k-means, random samples": lambda seed: KMeans(100, init="random", random_state=seed),
    "k-means++": lambda seed: KMeans(100, random_state=seed),
    "neural gas, all from the center": lambda seed: NeuralGas(100, init="center", max_iter=60, random_state=seed),
    "neural gas, k-means++ (default)": lambda seed: NeuralGas(100, max_iter=60, random_state=seed),
}
figure, ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
for row, make in enumerate(runs.values()):
    errors = [quantization_error(board, make(seed).fit(board)) for seed in range(8)]
    ax.plot(errors, np.full(8, row), "o", alpha=0.6, clip_on=False)
ax.set(yticks=range(len(runs)), yticklabels=runs, xlabel="quantization error", ylim=(len(runs) - 0.5, -0.5))
ax.spines[["top", "right"]].set_visible(False)

plt.show()
