"""Pictures of fitted maps, drawn with matplotlib: the lattice, the prototypes among the data, the course of training.

Every function takes a fitted estimator first, draws into ``ax`` or a new figure, and returns the Axes; nothing is shown
or saved, and matplotlib's settings stay as they are. Colour bars and legends stand to the right of a picture: give
figures of your own the option ``layout="constrained"``, and they find room for them.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "protolearn.plotting draws with matplotlib, which could not be imported; install it with: "
        "pip install protolearn[plot]"
    ) from error

from protolearn.plotting._curves import plot_history, plot_topographic_function
from protolearn.plotting._features import plot_graph, plot_prototypes
from protolearn.plotting._maps import plot_class_map, plot_component_planes, plot_hits, plot_u_matrix

__all__ = [
    "plot_class_map",
    "plot_component_planes",
    "plot_graph",
    "plot_history",
    "plot_hits",
    "plot_prototypes",
    "plot_topographic_function",
    "plot_u_matrix",
]
