"""Base class of all estimators: a failed fit leaves the model unchanged, and stored models record their version."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, Self, TypeVar, cast

import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from protolearn import __version__
from protolearn.core.parameters import Constraint, Part, check_parameters, flag, instance, integer, none, number
from protolearn.core.validation import is_collection

__all__ = ["Estimator", "InconsistentVersionWarning", "keep", "nothing_lost"]

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
        for name, kind in self._grouped.items():
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
        for name, kind in self._grouped.items():
            if getattr(self, name) is None and any(key.startswith(f"{name}__") for key in params):
                setattr(self, name, kind())
        return super().set_params(**params)

    def _group(self, name: str) -> Any:
        """Return grouped parameters, the default ones if none are given."""
        given = getattr(self, name)
        return self._grouped[name]() if given is None else given

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
