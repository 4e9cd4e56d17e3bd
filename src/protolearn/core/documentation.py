"""Signatures and docstrings of estimators that share most of their parameters, each written once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, TypeVar

__all__ = ["extends", "filled"]

T = TypeVar("T", bound=type)


def filled(parts: dict[str, str]) -> Callable[[T], T]:
    """Fill shared parts, ``%(name)s`` on lines of their own, into the docstring of a class, in this order."""

    def decorate(estimator: T) -> T:
        text = cleandoc(estimator.__doc__ or "")  # as Python has it from 3.13 on
        for name, part in parts.items():
            text = text.replace(f"%({name})s", part.strip("\n"))
        estimator.__doc__ = text
        return estimator

    return decorate


def extends(parent: type, *without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put the parameters of a parent, without some, in place of the ``**common`` of an ``__init__``."""

    def decorate(init: Callable[..., None]) -> Callable[..., None]:
        own = [part for part in signature(init).parameters.values() if part.kind is not Parameter.VAR_KEYWORD]
        known = {part.name for part in own} | set(without)
        full = Signature(own + [part for name, part in signature(parent).parameters.items() if name not in known])

        @wraps(init)
        def checked(*args: Any, **kwargs: Any) -> None:
            try:
                bound = full.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{init.__qualname__}() {error}") from None
            init(*bound.args, **bound.kwargs)

        checked.__signature__ = full  # type: ignore[attr-defined]
        return checked

    return decorate
