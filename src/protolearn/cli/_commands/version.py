"""``protolearn version``."""

import typer

from protolearn import __version__

__all__ = ["version"]


def version() -> None:
    """Print the version of the library."""
    typer.echo(__version__)
