"""``protolearn warmup``: compile the loops of all estimators in advance."""

from __future__ import annotations

from time import perf_counter

import typer

__all__ = ["warmup"]


def warmup() -> None:
    """Compile the loops of all estimators in advance, so that their first use does not have to wait.

    The compiled code is cached on disk, so later calls are fast.
    """
    from protolearn.cli._first_fits import estimator_names, first_fits, use
    from protolearn.core.compiling import cache_place

    start = perf_counter()
    for name in estimator_names():
        began = perf_counter()
        for estimator in first_fits(name):
            for dtype in ("float64", "float32"):
                use(estimator, dtype)
        typer.echo(f"{name:24}{perf_counter() - began:7.1f} s")
    typer.echo(f"Done in {perf_counter() - start:.0f} s. The compiled code is cached in {cache_place()}.")
