"""``protolearn compress`` and ``protolearn decompress``: image compression."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, printable, told_what_is_wrong

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from protolearn.applications import ImageRetriever, RetrievalHits
    from protolearn.cli._report import Table


__all__ = [
    "compress",
    "decompress",
    "retrieve",
    "texture",
]


def compress(
    source: Annotated[Path, typer.Argument(help="Image to compress: BMP, GIF, JPEG, PNG, PPM, TIFF or WebP.")],
    target: Annotated[Path, typer.Argument(help="Compressed file to write, such as image.plc.")],
    bpp: Annotated[float, typer.Option(help="Maximum size of the file in bits per pixel.")] = 1.25,
    method: Annotated[
        str, typer.Option(help="Method that learns the codebook: matrix, ngpca, vqpca, ppca, pca or vq.")
    ] = "matrix",
    entropy: Annotated[
        bool, typer.Option(help="Use an arithmetic coder, which improves the image quality at the same size.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed for reproducible results.")] = 0,
) -> None:
    """Compress an image with prototypes and local principal components, learned from the image itself."""
    console = Console()
    with told_what_is_wrong(console):
        from protolearn.applications import ImageCompressor
        from protolearn.applications.image_files import SUFFIXES
        from protolearn.cli._report import Table
        from protolearn.core.files import check_output, replacing
        from protolearn.metrics import psnr

        check_output(target, [source])
        if target.suffix.lower() in SUFFIXES:  # such as the second of *.png
            raise ValueError(f"{target} is the name of an image; choose a compressed file to write, such as image.plc.")
        image = _read(source, console)
        start = perf_counter()
        with console.status("Learning a codebook ..."):
            compressor = ImageCompressor(method, bpp=bpp, entropy=entropy, random_state=seed).fit(image)
            stream = compressor.encode(image)
        seconds = perf_counter() - start
        with replacing(target) as new:
            new.write_bytes(stream)
        n_pixels = image.shape[0] * image.shape[1]
        cells = [
            f"{image.shape[1]} x {image.shape[0]}",
            f"{len(stream):,}",
            f"{8 * len(stream) / n_pixels:.3f}",
            f"{image.size / len(stream):.1f}",
            f"{psnr(image, compressor.decode(stream)):.2f}",
            f"{seconds:.1f}",
        ]
        columns = ["size", "bytes", "bits per pixel", "ratio", "PSNR in dB", "seconds"]
        console.print(as_rich(Table(str(target), columns, [cells])))


def decompress(
    source: Annotated[Path, typer.Argument(help="Compressed file, written by protolearn compress.")],
    target: Annotated[Path, typer.Argument(help="Image to write; its suffix determines the format.")],
) -> None:
    """Decompress a file to an image."""
    console = Console()
    with told_what_is_wrong(console):
        from PIL import Image

        from protolearn.applications import decode_image
        from protolearn.core.files import check_output, file_size, replacing

        check_output(target, [source])
        file_size(source)  # of an ordinary file, which has an end
        image = decode_image(source.read_bytes())
        with replacing(target) as new:
            Image.fromarray(image).save(new)


def _read(source: Path, console: Console) -> NDArray[np.uint8]:
    """Return a picture as an array, gray or in color."""
    import numpy as np

    from protolearn.applications.image_files import open_image

    picture = open_image(source)
    if picture.mode.startswith(("I", "F")):
        raise ValueError(f"{source} has more than 8 bits per value; convert it to 8 bits first.")
    if picture.has_transparency_data:
        console.print("Transparency is ignored.")
    return np.asarray(picture.convert("L" if picture.mode in ("1", "L", "LA") else "RGB"))


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


COLUMNS = 6  # moments that the contact sheet shows


def texture(
    video: Annotated[Path, typer.Argument(help="Video to learn from: AVI, MP4, GIF, ...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Video to write: .mp4, .mkv, .avi or .gif.")] = Path(
        "texture.mp4"
    ),
    frames: Annotated[int, typer.Option(help="Number of new frames.")] = 200,
    charts: Annotated[
        int | None, typer.Option(help="Number of charts; by default chosen by the number of frames.")
    ] = None,
    components: Annotated[int, typer.Option(help="Dimension of the embedding in which the video is a curve.")] = 40,
    size: Annotated[
        tuple[int, int] | None, typer.Option(help="Height and width to which the video is scaled first.")
    ] = None,
    max_frames: Annotated[int | None, typer.Option(help="Maximum number of training frames.")] = None,
    fps: Annotated[float, typer.Option(help="Frames per second of the new video.")] = 25,
    seed: Annotated[int, typer.Option(help="Seed for reproducible results.")] = 0,
) -> None:
    """Learn a dynamic texture from a video, and synthesize new frames that continue its first two frames.

    The command also writes a contact sheet of original and new frames at several times, NAME-frames.png, and compares
    the frames with those of a linear model. Errors are mean absolute pixel differences, from 0 to 255: from the
    original frame at the same time, and from the most similar original frame.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")  # the picture goes into a file; no window is needed
    console = Console()
    with told_what_is_wrong(console):
        from protolearn.applications import DynamicTexture, LinearDynamicTexture, read_video, write_video
        from protolearn.applications.video import video_kind
        from protolearn.core.files import check_output, replacing_together

        video_kind(output)  # before the learning, which takes a while
        sheet = output.with_name(f"{output.stem}-frames.png")
        for file in (output, sheet):
            check_output(file, [video])
        originals = read_video(video, size, max_frames)
        models: dict[str, Any] = {
            "charts": DynamicTexture(components, n_charts="auto" if charts is None else charts, random_state=seed),
            "linear": LinearDynamicTexture(components),
        }
        made, seconds = {}, {}
        for name, model in models.items():
            start = perf_counter()
            with console.status(f"Learning the texture ({name}) ..."):
                made[name] = model.fit(originals).sample(frames, random_state=seed)
            seconds[name] = perf_counter() - start
        with replacing_together() as writing:
            with writing(output) as new:
                write_video(new, made["charts"], fps)
            with writing(sheet) as new:
                new.write_bytes(contact_sheet({"original": originals[2 : 2 + frames], **made}))
        console.print(as_rich(_errors(f"{output}, {sheet}", models, made, originals, seconds)))


def contact_sheet(rows: Mapping[str, NDArray[np.uint8]]) -> bytes:
    """Return a PNG image of videos, one in each row, at several times; a video may end before the others."""
    from io import BytesIO

    import numpy as np
    from matplotlib.figure import Figure

    longest = max(map(len, rows.values()))
    moments = np.unique(np.linspace(0, longest - 1, COLUMNS).round().astype(int))
    height, width = next(iter(rows.values())).shape[1:3]
    inches = 2.0
    figure = Figure(
        (inches * len(moments) + 0.5, (inches * height / width + 0.1) * len(rows) + 0.3), layout="constrained"
    )
    grid = figure.subplots(len(rows), len(moments), squeeze=False)
    for axes, (name, frames) in zip(grid, rows.items()):
        for ax, moment in zip(axes, moments):
            ax.set(xticks=[], yticks=[], frame_on=False)
            if moment < len(frames):
                ax.imshow(frames[moment], cmap="gray", vmin=0, vmax=255)
        axes[0].set_ylabel(name)
    for ax, moment in zip(grid[0], moments):
        ax.set_title(f"frame {moment + 1}")
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=max(100, int(np.ceil(width / inches))))
    return stream.getvalue()


def _errors(
    caption: str,
    models: Mapping[str, Any],
    made: Mapping[str, NDArray[np.uint8]],
    originals: NDArray[np.uint8],
    seconds: Mapping[str, float],
) -> Table:
    """Return what the models keep of the video, and how far new frames are from it."""
    from protolearn.applications import frame_errors
    from protolearn.cli._report import Table

    columns = ["model", "training frames", "same time", "most similar", "largest", "numbers stored", "seconds"]
    cells = []
    for name, frames in made.items():
        n = min(len(frames), len(originals) - 2)
        alike = frame_errors(frames, originals, nearest=True)
        figures = [
            models[name].reconstruction_errors_.mean(),
            frame_errors(frames[:n], originals[2 : 2 + n]).mean(),
            alike.mean(),
            alike.max(),
        ]
        stored = f"{100 * models[name].compression_ratio_:.0f} %"
        cells.append([name, *(f"{figure:.2f}" for figure in figures), stored, f"{seconds[name]:.1f}"])
    return Table(caption, columns, cells)
