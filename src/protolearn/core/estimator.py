"""Docstrings of estimators that share most of their parameters, each written once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from inspect import cleandoc
from typing import Any, ClassVar, Self, TypeVar, cast

import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from protolearn import __version__
from protolearn.core.parameters import (
    Constraint,
    Part,
    check_parameters,
    flag,
    grouped,
    instance,
    integer,
    none,
    number,
)
from protolearn.core.validation import is_collection

__all__ = [
    "Estimator",
    "InconsistentVersionWarning",
    "filled",
    "keep",
    "nothing_lost",
    "unfinished",
    "warn_unconverged",
]

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
    >>> from protolearn.core.estimator import filled
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


LIBRARIES = ("protolearn", "sklearn")  # through which a fit is called


def warn_unconverged(estimator: Any, max_iter: int, state: str = "", advice: str = "") -> None:
    """Warn that training stopped at ``max_iter``; the warning points to the user's line of code.

    Parameters
    ----------
    estimator : object
        The fitted estimator.
    max_iter : int
        Maximum number of iterations.
    state : str, default=""
        Description of the remaining distance from convergence.
    advice : str, default=""
        Advice to the user, in place of raising ``max_iter`` or, if the estimator has it, ``tol``.

    Examples
    --------
    >>> import warnings
    >>> from protolearn import KMeans
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_unconverged(KMeans(), 3)
    >>> print(caught[0].message)
    KMeans stopped after max_iter=3 iterations, before it converged. Raise max_iter; or raise tol, if the result is good
    enough.
    """
    where = f": {state}" if state else ""
    usual = (
        "Raise max_iter; or raise tol, if the result is good enough."
        if hasattr(estimator, "tol")
        else "Raise max_iter."
    )
    warnings.warn(
        f"{type(estimator).__name__} stopped after max_iter={max_iter} iterations, before it converged{where}. "
        f"{advice or usual}",
        ConvergenceWarning,
        stacklevel=_user_level(),
    )


@contextmanager
def unfinished() -> Iterator[None]:
    """Suppress convergence warnings of fits inside the context.

    Examples
    --------
    >>> with unfinished():
    ...     warn_unconverged(object(), 3)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _user_level() -> int:
    """Return the stack level, seen from the function that calls this, of the first line of somebody else."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        frame, level = frame.f_back, level + 1
    return level


Method = TypeVar("Method", bound=Callable[..., Any])


SAFE, VERSION = "_safe_state", "_protolearn_version"


DOCUMENTATION = "https://protolearn.readthedocs.io"


def nothing_lost(method: Method) -> Method:
    """Restore the state of an estimator, or the state marked by `keep`, if the decorated method fails.

    Attributes are reset to their old values, so a method must not modify these values in place. This applies to every
    exception, including keyboard interrupts.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Model(BaseEstimator):
    ...     @nothing_lost
    ...     def fit(self, classes):
    ...         self.classes_ = classes
    ...         if len(classes) < 2:
    ...             raise ValueError
    ...         return self
    >>> model = Model().fit("ab")
    >>> try:
    ...     model.fit("c")
    ... except ValueError:
    ...     print(model.classes_)
    ab
    """

    @wraps(method)
    def protected(self: Any, *args: Any, **kwargs: Any) -> Any:
        if SAFE in vars(self):  # called by another such method, which looks after the estimator
            return method(self, *args, **kwargs)
        keep(self)
        try:
            result = method(self, *args, **kwargs)
            del vars(self)[SAFE]
            return result
        except BaseException:
            self.__dict__ = vars(self).get(SAFE, vars(self))
            raise

    return cast(Method, protected)


def keep(estimator: Any) -> None:
    """Mark the current state of an estimator as the state to restore after a failure.

    A fit calls this function when it has stored its result, before it re-raises an interrupt.

    Examples
    --------
    >>> from protolearn.core.estimator import Estimator, keep, nothing_lost
    >>> class Model(Estimator):
    ...     @nothing_lost
    ...     def fit(self):
    ...         for self.n_iter_ in (1, 2):
    ...             if self.n_iter_ == 2:
    ...                 raise KeyboardInterrupt
    ...             keep(self)
    >>> model = Model()
    >>> try:
    ...     model.fit()
    ... except KeyboardInterrupt:
    ...     print(model.n_iter_)
    1
    """
    state = {name: value for name, value in vars(estimator).items() if name != SAFE}
    vars(estimator)[SAFE] = state


class InconsistentVersionWarning(sklearn.exceptions.InconsistentVersionWarning):
    """Warning that a model was stored by another version of protolearn.

    Parameters
    ----------
    estimator_name : str
        Class of the model.
    current_version : str
        The version that loads it.
    original_version : str
        The version that stored it.

    Examples
    --------
    >>> from protolearn.core.estimator import InconsistentVersionWarning
    >>> print(InconsistentVersionWarning(estimator_name="SOM", current_version="0.2", original_version="0.1"))
    SOM was stored by protolearn (version 0.1) and is loaded by version 0.2; it may fail, or give other results. Load it
    with the version that stored it, or fit it anew.
    """

    def __init__(self, *, estimator_name: str, current_version: str, original_version: str) -> None:
        self.estimator_name = estimator_name
        self.current_version = current_version
        self.original_version = original_version

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was stored by protolearn (version {self.original_version}) and is loaded by "
            f"version {self.current_version}; it may fail, or give other results. Load it with the version that stored "
            "it, or fit it anew."
        )


class Estimator(BaseEstimator):
    """Base class of all estimators: validation of parameters, and version checks of stored models.

    A class declares constraints on its parameters in ``_constraints``; inherited constraints need not be repeated.

    Examples
    --------
    >>> from protolearn.core.estimator import Estimator
    >>> from protolearn.core.parameters import check_parameters, integer
    >>> class Model(Estimator):
    ...     _constraints = {"size": integer(1)}
    ...
    ...     def __init__(self, size=1):
    ...         self.size = size
    >>> check_parameters(Model(size=0))
    Traceback (most recent call last):
    ...
    ValueError: size=0 must be an integer in [1, inf).
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"n_jobs": integer() | none, "verbose": number(0) | flag}

    _grouped: ClassVar[dict[str, type[Part]]] = {}  # classes of grouped parameters, by name

    _doc_link_module = "protolearn"
    _doc_link_template = f"{DOCUMENTATION}/en/latest/api/generated/{{home}}.{{name}}.html"

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be; classes add what concerns several of them at once."""
        check_parameters(self)
        for name, kind in grouped(type(self)).items():
            given = getattr(self, name, None)
            (instance(kind, f"an instance of {kind.__name__}") | none).check(name, given)
            if given is not None:
                given.check(name)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts, such as ``patches__size``.

        Parameters
        ----------
        **params : object
            New values by name.

        Returns
        -------
        self : object
            The estimator.
        """
        for name, kind in grouped(type(self)).items():
            if getattr(self, name) is None and any(key.startswith(f"{name}__") for key in params):
                setattr(self, name, kind())
        return super().set_params(**params)

    def _group(self, name: str) -> Any:
        """Return grouped parameters, the default ones if none are given, or if the estimator has no such parameter."""
        given = getattr(self, name, None)
        kinds = (vars(base).get("_grouped", {}).get(name) for base in type(self).__mro__)
        return next(kind for kind in kinds if kind is not None)() if given is None else given

    # In notebooks, by methods of scikit-learn

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._sketch()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._sketch()
        return bundle

    def _sketch(self) -> str:
        """Return a small picture of a fitted estimator, or nothing if it cannot be drawn, for whatever reason."""
        try:
            check_is_fitted(self)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Plots stand above all estimators, and are looked up only when one is shown.
                return import_module("protolearn.plotting").sketch(self)
        except Exception:
            return ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return where the page of the class is: at `protolearn` if that offers it, or else at its package."""
        name, module = type(self).__name__, type(self).__module__
        offered = name in import_module("protolearn").__all__
        return {"name": name, "home": "protolearn" if offered else ".".join(module.split(".")[:2])}

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, without lazy ones, which would bring the data they are of along, and the version."""
        attributes = super().__getstate__().items()
        state = {name: value for name, value in attributes if name != SAFE and not is_collection(value)}
        return state | {VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take attributes over, and warn if another version stored them."""
        state = dict(state)
        version = state.pop(VERSION, "unknown")
        if version != __version__:
            name = type(self).__name__
            warnings.warn(
                InconsistentVersionWarning(estimator_name=name, current_version=__version__, original_version=version),
                stacklevel=2,
            )
        super().__setstate__(state)
