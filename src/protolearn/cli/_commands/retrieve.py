"""``protolearn retrieve``: an index of labeled images, and a search for similar images."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, printable, told_what_is_wrong

if TYPE_CHECKING:
    from protolearn.applications import ImageRetriever, RetrievalHits
    from protolearn.cli._report import Table

__all__ = ["retrieve"]

INDEX = Path("images.npz")
MOST_RESULTS = 11  # of a query, unless a number is given

retrieve = typer.Typer(help="Find similar images with a metric that is learned from labeled images.")


@retrieve.command()
def index(
    folder: Annotated[Path, typer.Argument(help="Folder with a sub-folder of images for each class.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Index file to write.")] = INDEX,
    space: Annotated[str, typer.Option(help="Color space: rgb, nrgb, tsl, xyz, lab, luv, lch or ycrcb.")] = "lab",
    metric: Annotated[str, typer.Option(help="Metric: liram, local, lmnn or euclidean.")] = "liram",
    components: Annotated[int, typer.Option(help="Rank of the metric.")] = 3,
    difference: Annotated[
        bool, typer.Option("--difference", help="Use the color differences inside minus outside the mask.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Use means and standard deviations of colors over whole images.")
    ] = False,
    skip: Annotated[bool, typer.Option("--skip", help="Skip files that cannot be used.")] = False,
    rates: Annotated[bool, typer.Option("--rates", help="Estimate the retrieval rates by cross-validation.")] = False,
    seed: Annotated[int, typer.Option(help="Seed for reproducible results.")] = 0,
) -> None:
    """Learn a metric of colors from labeled images, and write an index of the images.

    Colors are averaged inside and outside a mask; the mask of the image NAME.jpg is NAME_mask.png. Without a mask, the
    central part of the image is the inside.
    """
    console = Console()
    with told_what_is_wrong(console):
        from protolearn.applications import ImageRetriever, RegionColors
        from protolearn.applications.image_files import image_candidates
        from protolearn.applications.index_file import write_index
        from protolearn.core.files import check_output

        check_output(output, image_candidates(folder))
        features = RegionColors(space, regions="whole" if whole else "center", difference=difference)
        retriever = ImageRetriever(
            metric,
            features=features,
            n_components=components,
            on_error="skip" if skip else "raise",
            random_state=seed,
        )
        with console.status("Learning from the images ..."), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what was skipped is printed below
            retriever.fit(folder)
            write_index(output, retriever)
        if retriever.skipped_:
            n_files = len(retriever.skipped_) + len(retriever.vectors_)
            console.print(f"Skipped {len(retriever.skipped_)} of {n_files} files:", style="yellow")
            for _, reason in retriever.skipped_:
                console.print(printable(f"  {reason}"), soft_wrap=True)
        console.print(as_rich(_classes(str(output), retriever)))
        if metric != "euclidean":
            console.print(
                "\nRelevance of the colors:", retriever.recommendation(), sep="\n", markup=False, highlight=False
            )
        if rates:
            console.print()
            console.print(as_rich(_rates(retriever, seed)))


@retrieve.command()
def query(
    image: Annotated[Path, typer.Argument(help="Query image.")],
    mask: Annotated[Path | None, typer.Option(help="Mask of the query image; white is inside.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Number of results; by default 11, or all if there are fewer.")
    ] = None,
    index: Annotated[Path, typer.Option(help="Index file, written by protolearn retrieve index.")] = INDEX,
    output: Annotated[Path, typer.Option("--output", "-o", help="Contact sheet of the results to write.")] = Path(
        "hits.png"
    ),
    label: Annotated[
        str | None, typer.Option(help="Class of the query image, to mark results of the same class.")
    ] = None,
) -> None:
    """Find the images of an index that are most similar to a query image.

    The command prints a table and writes a contact sheet with the query and its results, most similar first. An image
    of the index is excluded from its own results.
    """
    console = Console()
    with told_what_is_wrong(console):
        import numpy as np

        from protolearn.applications import contact_sheet
        from protolearn.applications.image_files import mask_beside, read_pair
        from protolearn.applications.index_file import read_index
        from protolearn.cli._samples import listed
        from protolearn.core.files import check_output, replacing

        if not index.exists():
            raise ValueError(f"There is no index {index}; create one with: protolearn retrieve index FOLDER")
        retriever = read_index(index)
        names = sorted({str(name) for name in np.asarray(retriever.labels_)})
        if label is not None and label not in names:
            raise ValueError(f"The index has no class {label!r}; its classes are {listed(names)}.")
        check_output(output, filter(None, [image, mask or mask_beside(image), index, *(retriever.paths_ or [])]))
        pixels, region = read_pair(image, mask)
        hits, known = _search(retriever, image, (pixels, region), mask is not None, k)
        wanted = known if label is None else label
        console.print(as_rich(_hits(str(image), hits)))
        moved = [path for path in (hits.paths or [[]])[0] if not path.exists()]
        if moved:
            raise ValueError(
                f"There is no contact sheet, because images of the index are no longer there, such as {moved[0]}; "
                "create the index again with: protolearn retrieve index FOLDER"
            )
        with replacing(output) as new:
            new.write_bytes(contact_sheet([pixels], hits, labels=None if wanted is None else [wanted]))
        console.print("\nContact sheet of the results:", printable(str(output)), highlight=False, soft_wrap=True)


def _search(
    retriever: ImageRetriever, image: Path, pair: Any, masked: bool, k: int | None
) -> tuple[RetrievalHits, str | None]:
    """Return what was found; for an image of the index, without itself, and its label."""
    import numpy as np

    own = np.flatnonzero([path == image.resolve() for path in retriever.paths_ or []])
    labels = retriever.labels_ if len(own) and not masked else None
    if k is None:
        k = min(MOST_RESULTS, len(retriever.vectors_) - (labels is not None))
    if labels is not None:
        return retriever.similar(own, k), str(labels[own[0]])
    return retriever.retrieve([pair], k), None


def _classes(caption: str, retriever: ImageRetriever) -> Table:
    """Return how many images of each class are in the index."""
    import numpy as np

    from protolearn.cli._report import Table

    names, counts = np.unique(np.asarray(retriever.labels_), return_counts=True)
    return Table(caption, ["class", "images"], [[str(name), f"{count:,}"] for name, count in zip(names, counts)])


def _rates(retriever: ImageRetriever, seed: int) -> Table:
    """Return how many of the first results are of the class of a query that was not learned from."""
    import numpy as np
    from sklearn.base import clone

    from protolearn.applications import retrieval_rates
    from protolearn.cli._report import Table

    smallest = int(np.unique(np.asarray(retriever.labels_), return_counts=True)[1].min())
    sizes = [k for k in (1, 5, 11, 25) if k < len(retriever.vectors_)]
    rows = []
    for name in dict.fromkeys([retriever.metric, "euclidean"]):
        judged = clone(retriever).set_params(metric=name)
        found = retrieval_rates(
            judged,
            retriever.vectors_,
            retriever.labels_,
            ks=sizes,
            n_folds=max(2, min(10, smallest)),
            n_starts=1,
            random_state=seed,
        )
        rows.append([name, *(f"{100 * rate:.1f} %" for rate in found.rates)])
    return Table("Correct among the first results", ["metric", *map(str, sizes)], rows)


def _hits(caption: str, hits: RetrievalHits) -> Table:
    """Return what was found, in a row for each image."""
    from protolearn.cli._report import Table

    assert hits.labels is not None
    assert hits.paths is not None
    cells = [
        [str(rank), str(label), f"{distance:.3f}", str(path)]
        for rank, (label, distance, path) in enumerate(zip(hits.labels[0], hits.distances[0], hits.paths[0]), 1)
    ]
    return Table(caption, ["rank", "class", "distance", "file"], cells)
