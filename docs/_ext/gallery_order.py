"""The order of the gallery: pages to explore; maps, with shapes, of dissimilarities; views; classifiers; images."""

ORDER = (
    *("explore_map", "explore_classifier", "explore_view"),
    *("wine_map", "lattices", "gas_graph", "magnification", "stream", "reject", "customize"),
    *("shapes_ellipses", "shapes_digits", "shapes_complete", "shapes_outliers", "shapes_compression"),
    *("dissimilarity_words", "dissimilarity_strings", "dissimilarity_classes", "dissimilarity_texts"),
    *("views_digits", "views_strings", "views_divergences"),
    *("maps_roll", "maps_digits", "maps_supervised", "maps_texture"),
    *("lvq_cancer", "lvq_digits", "lvq_local", "lvq_rank", "lvq_stability", "lvq_rare", "lvq_missing", "lvq_metric"),
    *("lvq_mixed_table", "lvq_counterfactual"),
    *("image_retrieval", "color_textures"),
)


def in_order(filename: str) -> int:
    """Return the place of a program."""
    return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))
