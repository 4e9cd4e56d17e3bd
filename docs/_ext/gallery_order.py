"""The order of the gallery: from a first map to composing one's own."""

ORDER = ("wine_map", "lattices", "gas_graph", "magnification", "stream", "reject", "customise")


def in_order(filename: str) -> int:
    """Return the place of a program."""
    return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))
