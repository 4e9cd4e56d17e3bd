"""The gallery by task: which programs serve which, and in what order."""

from pathlib import Path
from typing import Any

TASKS = {
    "Explore a data set": (*("wine_map", "lattices"), *("explore_map", "explore_view", "explore_classifier")),
    "Cluster and quantize": ("gas_graph", "shapes_ellipses", "magnification", "stream"),
    "Classify, and read the decision": (
        *("lvq_cancer", "lvq_digits", "lvq_mixed_table", "lvq_counterfactual", "lvq_stability", "reject"),
        *("lvq_rank", "lvq_local", "lvq_rare", "lvq_missing", "shapes_digits"),
    ),
    "Strings, texts and other objects": (
        *("dissimilarity_words", "dissimilarity_strings", "dissimilarity_classes", "dissimilarity_texts"),
    ),
    "Reduce dimensions": (
        *("views_digits", "views_strings", "views_divergences"),
        *("maps_digits", "maps_supervised", "maps_roll"),
    ),
    "Images and videos": ("image_retrieval", "color_textures", "shapes_compression", "maps_texture"),
    "Outliers and incomplete vectors": ("shapes_outliers", "shapes_complete"),
    "A method of your own": ("lvq_metric", "customize"),
}
ORDER = tuple(name for names in TASKS.values() for name in names)
START = """Gallery
=======

Short programs with the pictures they draw. Each runs within a few seconds; the button at the end of a page downloads
it.
"""


def in_order(filename: str) -> int:
    """Return the place of a program."""
    return ORDER.index(Path(filename).stem.removeprefix("plot_"))


def write_index(app: Any) -> None:
    """Write the page that shows the programs of each task, which Sphinx-Gallery takes in place of its own."""
    sections = [START]
    for task, names in TASKS.items():
        shown = "\n".join(f"   gallery_src/plot_{name}.py" for name in names)
        pages = "\n".join(f"   plot_{name}" for name in names)
        sections.append(f"{task}\n{'-' * len(task)}\n\n.. minigallery::\n\n{shown}\n")
        sections.append(f".. toctree::\n   :hidden:\n   :caption: {task}\n\n{pages}\n")
    (Path(app.srcdir) / "gallery_src" / "index.rst").write_text("\n".join(sections), encoding="utf-8")
