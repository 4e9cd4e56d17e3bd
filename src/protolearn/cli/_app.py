"""The typer application: one module of ``_commands`` for each command, registered here."""

from typing import Annotated

import typer

from protolearn.cli._commands.demo import demo
from protolearn.cli._commands.files import classify, cluster, map_, view
from protolearn.cli._commands.images import compress, decompress, retrieve, texture
from protolearn.cli._commands.models import explain, info, predict
from protolearn.cli._commands.version import version
from protolearn.cli._commands.warmup import warmup

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _tell(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def _options(
    tell: Annotated[
        bool, typer.Option("--version", callback=_tell, is_eager=True, help="Print the version of the library.")
    ] = False,
) -> None:
    """Prototype-based learning: maps of data that show what is typical and what is alike."""


# The order of the help page: models of files, their uses, applications, and the rest.
app.command()(classify)
app.command("map")(map_)
for command in (cluster, view, predict, explain, info, compress, decompress, texture, demo, warmup, version):
    app.command()(command)
app.add_typer(retrieve, name="retrieve", no_args_is_help=True)
