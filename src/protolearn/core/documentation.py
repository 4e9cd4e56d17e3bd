"""Docstrings of estimators that share most of their parameters, each written once."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import TypeVar

__all__ = ["filled"]

T = TypeVar("T", bound=type)


def filled(parts: dict[str, str]) -> Callable[[T], T]:
    """Fill shared parts, ``%(name)s`` on lines of their own, into the docstring of a class, in this order.

    Parameters
    ----------
    parts : dict of str
        Text of each part, by its name.

    Returns
    -------
    callable
        A decorator of classes.

    Examples
    --------
    >>> from protolearn.core.documentation import filled
    >>> @filled({"size": "size : int"})
    ... class Model:
    ...     '''%(size)s'''
    >>> Model.__doc__
    'size : int'
    """

    def decorate(estimator: T) -> T:
        text = cleandoc(estimator.__doc__ or "")  # as Python has it from 3.13 on
        for name, part in parts.items():
            text = text.replace(f"%({name})s", part.strip("\n"))
        estimator.__doc__ = text
        return estimator

    return decorate
