"""Matplotlib plots of fitted maps, classifiers and embeddings: lattices, prototypes, relevances, views.

The first argument of every function is the object to show, usually a fitted estimator. Functions draw into ``ax`` or a
new figure and return the Axes; they do not show or save anything, nor change Matplotlib's settings. Color bars and
legends are placed to the right of a plot; create your own figures with ``layout="constrained"`` to leave room for them.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "protolearn.plotting needs matplotlib, which could not be imported; install it with: "
        "pip install 'protolearn[plot]'"
    ) from error

from protolearn.plotting._charts import plot_charts, plot_image_grid, plot_trajectory
from protolearn.plotting._classes import plot_decision_regions, plot_view
from protolearn.plotting._color_filters import plot_color_filters
from protolearn.plotting._curves import plot_history, plot_topographic_function
from protolearn.plotting._divergences import plot_divergence_octant, plot_divergence_simplex
from protolearn.plotting._eigenimages import plot_codebook, plot_eigenimages, plot_misclassified, plot_variation
from protolearn.plotting._embedding import plot_coranking, plot_embedding, plot_images, plot_quality
from protolearn.plotting._features import plot_graph, plot_prototypes
from protolearn.plotting._maps import plot_class_map, plot_component_planes, plot_hits, plot_u_matrix
from protolearn.plotting._model import plot_model, sketch
from protolearn.plotting._objects import (
    plot_examples,
    plot_profiles,
    plot_prototype_view,
    plot_spectrum,
)
from protolearn.plotting._relevances import (
    plot_eigenvalues,
    plot_explanation,
    plot_relevance_matrix,
    plot_relevances,
)
from protolearn.plotting._retrieval import plot_retrieval_rates
from protolearn.plotting._shapes import plot_ellipses, plot_training
from protolearn.plotting._stability import plot_relevance_stability
from protolearn.plotting._training import plot_learning_curve, plot_margins

__all__ = [
    "plot_charts",
    "plot_class_map",
    "plot_codebook",
    "plot_color_filters",
    "plot_component_planes",
    "plot_coranking",
    "plot_decision_regions",
    "plot_divergence_octant",
    "plot_divergence_simplex",
    "plot_eigenimages",
    "plot_eigenvalues",
    "plot_ellipses",
    "plot_embedding",
    "plot_examples",
    "plot_explanation",
    "plot_graph",
    "plot_history",
    "plot_hits",
    "plot_image_grid",
    "plot_images",
    "plot_learning_curve",
    "plot_margins",
    "plot_misclassified",
    "plot_model",
    "plot_profiles",
    "plot_prototype_view",
    "plot_prototypes",
    "plot_quality",
    "plot_relevance_matrix",
    "plot_relevance_stability",
    "plot_relevances",
    "plot_retrieval_rates",
    "plot_spectrum",
    "plot_topographic_function",
    "plot_training",
    "plot_trajectory",
    "plot_u_matrix",
    "plot_variation",
    "plot_view",
    "sketch",
]
