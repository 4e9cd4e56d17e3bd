"""``protolearn demo``: write a page that demonstrates the library."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from protolearn.cli._console import as_rich, printable, told_what_is_wrong

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the page and its files.")] = Path("demo"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Train maps and classifiers on data sets of scikit-learn, and write a page that explains them."""
    os.environ.setdefault("MPLBACKEND", "Agg")  # pictures go into the page; no window is needed
    console = Console()
    try:
        import protolearn.plotting  # noqa: F401 (without matplotlib it fails at once, before slower imports)
        from protolearn.cli._demo import run_demo
    except ImportError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        console.print(
            "The demo requires the extra cli; install it with: pip install 'protolearn[cli]'",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(1) from error
    with told_what_is_wrong(console), console.status("Training maps ...") as status:
        done = run_demo(output, progress=lambda title: status.update(f"{title} ..."))
    for table in done.tables:
        console.print(as_rich(table))
    console.print(f"Finished in {done.seconds:.0f} s. Open", printable(str(done.report), "bold"), soft_wrap=True)
    if show:
        webbrowser.open(done.report.resolve().as_uri())
