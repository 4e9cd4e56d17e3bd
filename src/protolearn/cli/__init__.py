"""The command line, ``protolearn``: try the library and see what it does without writing code.

It needs the extra ``cli``; without it, the command says how to get it.
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
        """Say what is missing."""
        raise SystemExit("The command line needs typer and rich; install them with: pip install 'protolearn[cli]'")
