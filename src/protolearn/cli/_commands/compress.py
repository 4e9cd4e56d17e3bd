"""``protolearn compress`` and ``protolearn decompress``: image compression."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, told_what_is_wrong

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["compress", "decompress"]


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
