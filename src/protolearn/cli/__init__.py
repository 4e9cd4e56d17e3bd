"""The command-line interface ``protolearn``, for using the library without writing code.

It requires the extra ``cli``; without it, the command explains how to install it.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["app"]

EXTRA = ("typer", "rich")

app: Callable[..., Any]

try:
    from protolearn.cli._app import app
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in EXTRA:
        raise

    def app() -> None:
        """Report the missing packages."""
        raise SystemExit("The command line requires typer and rich; install them with: pip install 'protolearn[cli]'")
