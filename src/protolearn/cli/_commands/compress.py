"""``protolearn compress`` and ``protolearn decompress``: pictures as small files, and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["compress", "decompress", "told_what_is_wrong"]


def compress(
    source: Annotated[Path, typer.Argument(help="Picture: PNG, JPEG, TIFF, ...")],
    target: Annotated[Path, typer.Argument(help="Compressed file to write, such as picture.plc.")],
    bpp: Annotated[float, typer.Option(help="Bits for each pixel that the file may take.")] = 1.25,
    method: Annotated[str, typer.Option(help="matrix, ngpca, vqpca, ppca, pca or vq.")] = "matrix",
    entropy: Annotated[bool, typer.Option("--entropy", help="Use an arithmetic coder: a better picture.")] = False,
    seed: Annotated[int, typer.Option(help="Makes the result repeatable.")] = 0,
) -> None:
    """Compress a picture with prototypes and local principal components, learned from the picture itself."""
    console = Console()
    with told_what_is_wrong(console):
        from protolearn.applications import ImageCompressor
        from protolearn.cli._commands.demo import as_rich
        from protolearn.cli._report import Table
        from protolearn.metrics import psnr

        image = _read(source, console)
        start = perf_counter()
        with console.status("Learning a codebook ..."):
            compressor = ImageCompressor(method, bpp=bpp, entropy=entropy, random_state=seed).fit(image)
            stream = compressor.encode(image)
        seconds = perf_counter() - start
        target.write_bytes(stream)
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
    source: Annotated[Path, typer.Argument(help="File that protolearn compress wrote.")],
    target: Annotated[Path, typer.Argument(help="Picture to write; its name says in which format.")],
) -> None:
    """Turn a compressed file into a picture again."""
    console = Console()
    with told_what_is_wrong(console):
        from PIL import Image

        from protolearn.applications import decode

        Image.fromarray(decode(source.read_bytes())).save(target)


def _read(source: Path, console: Console) -> NDArray[np.uint8]:
    """Return a picture as an array, grey or in colour."""
    import numpy as np
    from PIL import Image

    with Image.open(source) as picture:
        if picture.mode.startswith(("I", "F")):
            raise ValueError(f"{source} has more than 8 bits for each value; convert it to 8 bits first.")
        if picture.has_transparency_data:
            console.print("Transparency is left out.")
        return np.asarray(picture.convert("L" if picture.mode in ("1", "L", "LA") else "RGB"))


@contextmanager
def told_what_is_wrong(console: Console) -> Iterator[None]:
    """Print what is wrong with a file or an option, in place of a traceback."""
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1) from error
