"""Constraints on parameters; messages name the parameter, its value and the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["Constraint", "Part", "anything", "array", "check_parameters", "constrained", "declared", "flag", "fraction",
           "function", "grouped", "instance", "integer", "none", "number", "option", "part", "positive"]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Constraint:
    """Constraint on a parameter; constraints joined by ``|`` allow the values of either.

    Parameters
    ----------
    allows : callable
        Function that returns whether a value is allowed.
    texts : tuple of str
        Description of the allowed values.
    error : type, default=ValueError
        Type of the error; for joined constraints, that of the first.

    Examples
    --------
    >>> size = integer(1) | option("auto")
    >>> size.check("n_prototypes", 0)
    Traceback (most recent call last):
    ...
    ValueError: n_prototypes=0 must be an integer in [1, inf) or 'auto'.
    """

    allows: Callable[[Any], bool]
    texts: tuple[str, ...]
    error: type[Exception] = ValueError

    def __or__(self, other: Constraint) -> Constraint:
        return Constraint(lambda value: self.allows(value) or other.allows(value), self.texts + other.texts, self.error)

    def __str__(self) -> str:
        *others, last = self.texts
        return f"{', '.join(others)} or {last}" if others else last

    def check(self, name: str, value: Any, hint: str = "") -> None:
        """Raise an error for a value that is not allowed; a hint is appended to the message."""
        if not self.allows(value):
            verb = "is not" if self.error is TypeError else "must be"
            raise self.error(f"{name}={value!r} {verb} {self}{hint}.")

    def check_each(self, name: str, values: Iterable[Any], hint: str = "") -> None:
        """Raise an error if one of several values is not allowed."""
        for value in values:
            self.check(name, value, hint)


def number(
    low: float = -np.inf, high: float = np.inf, *, open_low: bool = False, open_high: bool = False
) -> Constraint:
    """Allow finite numbers between two bounds.

    Examples
    --------
    >>> number(0, 1, open_low=True).check("decay", 1.5)
    Traceback (most recent call last):
    ...
    ValueError: decay=1.5 must be a number in (0, 1].
    """
    return _between(Real, "a number", low, high, open_low, open_high)


def integer(low: float = -np.inf, high: float = np.inf) -> Constraint:
    """Allow integers between two bounds.

    Examples
    --------
    >>> from protolearn.core.parameters import integer
    >>> integer(1).check("n_prototypes", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: n_prototypes=2.5 must be an integer in [1, inf).
    """
    return _between(Integral, "an integer", low, high, False, False)


def option(*options: str) -> Constraint:
    """Allow one of a few strings.

    Examples
    --------
    >>> option("heskes", "nearest").check("winner", "best")
    Traceback (most recent call last):
    ...
    ValueError: winner='best' must be one of 'heskes', 'nearest'.
    """
    text = ", ".join(map(repr, options))
    return Constraint(
        lambda value: isinstance(value, str) and value in options, (f"one of {text}" if len(options) > 1 else text,)
    )


def array(text: str) -> Constraint:
    """Allow anything that can be converted to an array, except strings and numbers; the text describes the shape.

    Examples
    --------
    >>> from protolearn.core.parameters import array, option
    >>> init = option("random") | array("an array of shape (n_prototypes, n_features)")
    >>> init.check("init", [[0.0, 1.0]])
    >>> init.check("init", 3)
    Traceback (most recent call last):
    ...
    ValueError: init=3 must be 'random' or an array of shape (n_prototypes, n_features).
    """
    return Constraint(lambda value: not (value is None or callable(value) or isinstance(value, str | Real)), (text,))


def part(method: str = "fit", text: str = "") -> Constraint:
    """Allow objects, not classes, that have a method.

    Examples
    --------
    >>> part().check("estimator", "gas")
    Traceback (most recent call last):
    ...
    TypeError: estimator='gas' is not an estimator with fit.
    """
    text = text or f"an estimator with {method}"
    return Constraint(lambda value: not isinstance(value, type) and hasattr(value, method), (text,), TypeError)


def instance(kind: type, text: str = "") -> Constraint:
    """Allow instances of a class.

    Examples
    --------
    >>> from protolearn.core.parameters import instance
    >>> instance(dict, "a dict of integers").check("prototypes_per_class", [1, 2])
    Traceback (most recent call last):
    ...
    ValueError: prototypes_per_class=[1, 2] must be a dict of integers.
    """
    return Constraint(lambda value: isinstance(value, kind), (text or f"a {kind.__name__}",))


def function(text: str = "a callable") -> Constraint:
    """Allow callables.

    Examples
    --------
    >>> from protolearn.core.parameters import function
    >>> function().check("callback", print)
    >>> function().check("callback", "print")
    Traceback (most recent call last):
    ...
    ValueError: callback='print' must be a callable.
    """
    return Constraint(callable, (text,))


def anything(text: str) -> Constraint:
    """Allow everything except strings; further validation is left to other code.

    Examples
    --------
    >>> from protolearn.core.parameters import anything
    >>> anything("a tuple (rows, columns)").check("lattice", (3, 4))
    >>> anything("a tuple (rows, columns)").check("lattice", "square")
    Traceback (most recent call last):
    ...
    ValueError: lattice='square' must be a tuple (rows, columns).
    """
    return Constraint(lambda value: not isinstance(value, str), (text,))


def _between(kind: Any, what: str, low: float, high: float, open_low: bool, open_high: bool) -> Constraint:
    def allows(value: Any) -> bool:
        if not isinstance(value, kind) or isinstance(value, bool) or not np.isfinite(value):
            return False
        return (low < value if open_low else low <= value) and (value < high if open_high else value <= high)

    opening = "(" if open_low or not np.isfinite(low) else "["
    closing = ")" if open_high or not np.isfinite(high) else "]"
    return Constraint(allows, (f"{what} in {opening}{low:g}, {high:g}{closing}",))


#: A positive number.
positive = number(0, open_low=True)
#: A number above zero and at most one.
fraction = number(0, 1, open_low=True)
#: None.
none = Constraint(lambda value: value is None, ("None",))
#: True or False.
flag = Constraint(lambda value: isinstance(value, bool | np.bool_), ("True", "False"))


class Part(BaseEstimator):
    """Base class of parameters that belong together: an object with parameters of its own.

    Parts declare constraints as estimators do. An estimator that names its parts in ``_grouped`` makes one when one of
    its parameters is set (``set_params(patches__size=500)``); until then, None stands for the default one.

    Examples
    --------
    >>> class Steps(Part):
    ...     _constraints = {"rate": positive}
    ...
    ...     def __init__(self, rate=0.5):
    ...         self.rate = rate
    >>> Steps(rate=0.1)
    Steps(rate=0.1)
    >>> Steps(rate=-1).check("steps")
    Traceback (most recent call last):
    ...
    ValueError: steps__rate=-1 must be a number in (0, inf).
    """

    _constraints: ClassVar[dict[str, Constraint]] = {}

    def check(self, name: str = "") -> None:
        """Raise an error if a parameter is out of range; the name is that of the part in an estimator."""
        for own, constraint in declared(type(self)).items():
            constraint.check(f"{name}__{own}" if name else own, getattr(self, own))


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator against the ``_constraints`` of its class and base classes.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> from protolearn.core.parameters import check_parameters
    >>> check_parameters(KMeans(max_iter=0))
    Traceback (most recent call last):
    ...
    ValueError: max_iter=0 must be an integer in [1, inf).
    """
    for name, constraint in declared(type(estimator)).items():
        constraint.check(name, getattr(estimator, name))


def declared(kind: type) -> Mapping[str, Constraint]:
    """Return the constraints on the parameters of a class, which override those of its base classes.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> from protolearn.core.parameters import declared
    >>> str(declared(KMeans)["max_iter"])
    'an integer in [1, inf)'
    """
    found: dict[str, Constraint] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("_constraints", {})
    names = signature(kind).parameters
    return {name: found[name] for name in names if name in found}


def grouped(kind: type) -> Mapping[str, type[Part]]:
    """Return the classes of the grouped parameters of a class, which override those of its base classes.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> grouped(KMeans)["patches"].__name__
    'Patches'
    """
    found: dict[str, type[Part]] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("_grouped", {})
    names = signature(kind).parameters
    return {name: found[name] for name in names if name in found}


def constrained(**constraints: Constraint) -> Callable[[Function], Function]:
    """Check the arguments of a function before a call, or of a class before an instance is created.

    Examples
    --------
    >>> @constrained(n=integer(1))
    ... def first(n=1):
    ...     return list(range(n))
    >>> first(0)
    Traceback (most recent call last):
    ...
    ValueError: n=0 must be an integer in [1, inf).
    """

    def decorate(function: Function) -> Function:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function
        described = signature(function)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = described.bind(*args, **kwargs).arguments
            for name, constraint in constraints.items():
                if name in given:
                    constraint.check(name, given[name])
            return function(*args, **kwargs)

        return cast(Function, checked)

    return decorate
