"""``protolearn texture``: synthesis of new frames of a dynamic texture, such as water, flames or leaves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, told_what_is_wrong

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from protolearn.cli._report import Table

__all__ = ["texture"]

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
