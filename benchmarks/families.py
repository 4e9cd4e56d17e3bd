"""The families of models that are compared: each has its tasks, its competitors and a file of results."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import (  # noqa: F401 (the peers register themselves)
    classifier_peers,
    classifiers,
    embedding,
    embedding_peers,
    image_peers,
    images,
    map_peers,
    mapping,
    mapping_peers,
    maps,
    relational,
    relational_peers,
    shape_peers,
    shapes,
    soft,
    soft_peers,
)
from benchmarks.tasks import Task

__all__ = ["FAMILIES", "MAIN_TASKS", "TASKS", "Family"]


@dataclass(frozen=True)
class Family:
    """Tasks whose results belong together."""

    name: str
    title: str
    tasks: dict[str, Task]


FAMILIES = (
    Family("maps", "Topographic maps", maps.TASKS),
    Family("shapes", "Maps of prototypes with a shape", shapes.TASKS),
    Family("relational", "Maps of dissimilarities", relational.TASKS),
    Family("embedding", "Views of data", embedding.TASKS),
    Family("large", "Views of many samples", embedding.LARGE_TASKS),
    Family("mapping", "New samples in a view", mapping.TASKS),
    Family("lvq", "Classifiers", classifiers.TASKS),
    Family("soft", "Soft and cooperative classifiers", soft.TASKS),
    Family("images", "Images", images.TASKS),
)
TASKS = {name: task for family in FAMILIES for name, task in family.tasks.items()}
MAIN_TASKS = (  # one for each method that is compared, for a single table
    *("som", "ng", "ng-annealing", "kmeans", "kmeans-clusters", "matrix", "ngpca"),
    *("relational-ng", "relational-peers", "median-ng", "medoids", "edit", "dtw"),
    *("view-digits", "view-mnist", "view-mnist-all", "view-quality", "placing"),
    *("segmentation", "digits", "letter", "usps", "digits-local", "rslvq", "retrieval"),
)
