"""Requests for counterfactuals in the names and units of a table, and results in the same terms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import number, option
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq._counterfactual import Borders, Room, smallest_change
from protolearn.lvq.reading import Counterfactuals

__all__ = ["Category", "InputTable", "Mixing", "Number", "Unused"]

LENGTH = option("metric", "euclidean")
MARGIN = number(0, 1, open_high=True)


@dataclass(frozen=True)
class Number:
    """Numerical feature of a table, with the column into which a pipeline transforms it.

    Attributes
    ----------
    columns : ndarray of shape (1,)
        Index of the column.
    forward, back : callable
        Functions from values (n,) of the feature to values of the column, and back.

    Examples
    --------
    >>> from protolearn.lvq import Number
    >>> Number(np.array([2]), lambda values: values / 100).bounds(170.0, 150.0, 190.0)
    (1.5, 1.9)
    """

    columns: Indices
    forward: Callable[[Floats], Floats] = np.asarray
    back: Callable[[Floats], Floats] = np.asarray

    def bounds(self, value: float, low: float, high: float) -> tuple[float, float]:
        """Return the bounds of the column that correspond to bounds of the feature, given its present value."""
        ends = np.where(np.isfinite([low, high]), [low, high], value)
        here, next_, *made = self.forward(np.array([value, value + 1.0, *ends])).tolist()
        return ends_of_column(low, high, here, next_, *made)

    def around(self, value: float) -> tuple[float, float]:
        """Return the values of the column for the integers below and above one of its values."""
        exact = float(self.back(np.array([value]))[0])
        whole = abs(exact - np.round(exact)) <= 1e-7 * max(1.0, abs(exact))
        ends = (np.round(exact), np.round(exact)) if whole else (np.floor(exact), np.ceil(exact))
        below, above = np.sort(self.forward(np.array(ends)))
        return float(below), float(above)


@dataclass(frozen=True)
class Category:
    """Categorical feature of a table, with the columns into which a pipeline encodes it.

    Attributes
    ----------
    columns : ndarray of shape (m,)
        Indices of the columns.
    categories : ndarray of shape (n_categories,)
        The categories.
    rows : ndarray of shape (n_categories, m)
        Values of the columns for each category.

    Examples
    --------
    >>> from protolearn.lvq import Category
    >>> smoker = Category(np.array([1, 2]), np.array(["no", "yes"]), np.eye(2))
    >>> smoker.rows[smoker.categories == "yes"]
    array([[0., 1.]])
    """

    columns: Indices
    categories: Array
    rows: Floats


@dataclass(frozen=True)
class Unused:
    """Feature of a table that the classifier does not use.

    Attributes
    ----------
    columns : ndarray of shape (0,)
        Empty array: no column depends on the feature.

    Examples
    --------
    >>> from protolearn.lvq import Unused
    >>> len(Unused(np.array([], int)).columns)
    0
    """

    columns: Indices


Feature = Number | Category | Unused


@dataclass(frozen=True)
class Mixing:
    """Affine transformation of the columns R of a table into the input Z of the classifier, by steps such as PCA.

    Attributes
    ----------
    slopes : ndarray of shape (N, n_columns)
    offsets : ndarray of shape (N,)
        Forward transformation, ``Z = R @ slopes.T + offsets``.
    back_slopes : ndarray of shape (n_columns, N)
    back_offsets : ndarray of shape (n_columns,)
        Inverse transformation, ``R = Z @ back_slopes.T + back_offsets``; applying the forward transformation to it
        restores Z.

    Examples
    --------
    >>> from protolearn.lvq import Mixing
    >>> mean = Mixing(np.array([[0.5, 0.5]]), np.zeros(1), np.ones((2, 1)), np.zeros(2))
    >>> mean.forward(np.array([[1.0, 3.0]])), mean.back(np.array([[2.0]]))
    (array([[2.]]), array([[2., 2.]]))
    """

    slopes: Floats
    offsets: Floats
    back_slopes: Floats
    back_offsets: Floats

    @classmethod
    def identity(cls, n_columns: int) -> Mixing:
        """Return the transformation that leaves columns unchanged."""
        return cls(np.eye(n_columns), np.zeros(n_columns), np.eye(n_columns), np.zeros(n_columns))

    def forward(self, R: Floats) -> Floats:
        """Return the input Z of the classifier for columns R."""
        return R @ self.slopes.T + self.offsets

    def back(self, Z: Floats) -> Floats:
        """Return the columns R that the inverse of the steps assigns to an input Z of the classifier."""
        return Z @ self.back_slopes.T + self.back_offsets

    def then(self, other: Mixing) -> Mixing:
        """Return the composition of this transformation with a subsequent one."""
        return Mixing(
            other.slopes @ self.slopes,
            other.slopes @ self.offsets + other.offsets,
            self.back_slopes @ other.back_slopes,
            self.back_slopes @ other.back_offsets + self.back_offsets,
        )

    def folded(self, A: Floats) -> Floats:
        """Return the matrices (s, M, n_columns) for columns R that correspond to matrices (s, M, N) or (s, N) for Z."""
        return A @ self.slopes if A.ndim == 3 else A[:, :, None] * self.slopes


@dataclass(frozen=True)
class InputTable:
    """Features of the input of a classifier or pipeline, and the columns into which they are transformed.

    Attributes
    ----------
    names : ndarray of shape (n_features,)
        Names of the features.
    features : sequence of Number, Category or Unused
        Role of each feature, with the columns that it becomes.
    mixing : Mixing or None
        Transformation that mixes the columns before they reach the classifier; None if the classifier uses the columns
        themselves.
    prepare : callable
        Function from samples in the form of the input to the columns of the features.
    convert : callable or None
        Function from values (m, n_features) of all numerical features to those of their columns or, if its second
        argument is true, back; by default, each feature converts its own.

    Examples
    --------
    >>> from protolearn.lvq import Number, InputTable
    >>> table = InputTable(np.array(["age", "weight"]), [Number(np.array([0])), Number(np.array([1]))])
    >>> table.find("weight", "fixed")
    1
    """

    names: Array
    features: Sequence[Feature]
    mixing: Mixing | None = None
    prepare: Callable[[Any], Array] = field(default_factory=lambda: np.asarray)  # no method of the class
    convert: Callable[[Floats, bool], Floats] | None = None

    @classmethod
    def of_numbers(cls, names: Array) -> InputTable:
        """Return a table of numerical features that the classifier uses unchanged."""
        return cls(names, [Number(np.array([i])) for i in range(len(names))])

    def converted(self, values: Floats, back: bool = False) -> Floats:
        """Return the columns (m, n_features) for values of numerical features, or values for columns."""
        if self.convert is not None:
            return self.convert(values, back)
        made = values.copy()
        for i, feature in enumerate(self.features):
            if isinstance(feature, Number):
                made[:, i] = (feature.back if back else feature.forward)(values[:, i])
        return made

    def find(self, given: Any, role: str) -> int:
        """Return the index of a feature, given by name or index."""
        if isinstance(given, str) and given in self.names:
            return int(np.flatnonzero(self.names == given)[0])
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < len(self.names):
            return int(given)
        some = ", ".join(map(str, self.names[:10])) + (", ..." if len(self.names) > 10 else "")
        raise ValueError(
            f"{role} contains {given!r}, which is not a feature. There are {len(self.names)} features: {some}. Give "
            "names or numbers."
        )

    def find_all(self, given: Any, role: str, numbers: bool = True) -> list[int]:
        """Return the indices of some features, which must not be categorical if ``numbers``."""
        if given is None:
            return []
        found = [self.find(each, role) for each in ([given] if isinstance(given, (str, int, np.integer)) else given)]
        for i in found:
            if numbers and isinstance(self.features[i], Category):
                raise ValueError(f"{role} has {self.names[i]!s}, which is categorical; only numbers can be {role}.")
        return found


@dataclass(frozen=True)
class Request:
    """Which changes are allowed, in terms of the features of a table.

    The bounds of some features are ``given``. Those of the others are where the training samples are, and a sample may
    keep a value outside of them.
    """

    table: InputTable
    low: Floats
    high: Floats
    given: set[int]
    allowed: dict[int, list[Any]]
    fixed: set[int]
    increasing: set[int]
    decreasing: set[int]
    integers: set[int]
    groups: list[list[int]]

    @property
    def whole(self) -> set[int]:
        """The features that must be integers, those of groups included."""
        return self.integers | {i for group in self.groups for i in group}

    def limits(self, i: int, value: float) -> tuple[float, float]:
        """Return the bounds of a feature of a sample, which has some value."""
        low, high = self.low[i], self.high[i]
        if i not in self.given:
            low, high = min(low, value), max(high, value)
        low = max(low, value) if i in self.increasing | self.fixed else low
        high = min(high, value) if i in self.decreasing | self.fixed else high
        return low, high

    def others(self, i: int, feature: Category, value: Any) -> list[bool]:
        """Return which categories a feature of a sample may have instead of its own."""
        names = self.allowed.get(i, feature.categories.tolist())
        return [not is_missing(name) and name in names and name != value for name in feature.categories]

    def restored(self, row: Array, z: Floats, changed: Floats) -> Array:
        """Return the features of a sample whose columns were z and are changed now; what did not change stays."""
        new, places = row.copy(), np.ones((1, len(row)))
        for i, feature in enumerate(self.table.features):
            if isinstance(feature, Number) and not np.isnan(changed[feature.columns[0]]):
                places[0, i] = changed[feature.columns[0]]
        (values,) = self.table.converted(places, back=True).tolist()
        for i, feature in enumerate(self.table.features):
            columns = feature.columns
            if np.array_equal(z[columns], changed[columns], equal_nan=True):
                continue
            if isinstance(feature, Category):
                others = np.flatnonzero(self.others(i, feature, row[i]))
                new[i] = feature.categories[
                    others[np.abs(feature.rows[others] - changed[columns]).max(axis=1).argmin()]
                ]
            elif isinstance(feature, Number):
                value = float(np.round(values[i])) if i in self.whole else values[i]
                new[i] = np.clip(value, *self.limits(i, row[i]))
        return new

    def room(self, row: Array, z: Floats) -> Room:
        """Return what a sample with features ``row`` and columns z may become; raise `NotAllowed` if it is nothing."""
        low, high = z.copy(), z.copy()
        integers, groups = {}, []
        ends = self._ends(row)
        grouped = {i for group in self.groups for i in group}
        for i, feature in enumerate(self.table.features):
            if is_missing(row[i]) or isinstance(feature, Unused):
                continue
            self._check(i, row[i])
            if i in self.fixed:
                continue
            if isinstance(feature, Category):
                others = feature.rows[self.others(i, feature, row[i])]
                groups.append((feature.columns, np.vstack([z[feature.columns], others])))
            elif i not in grouped and i in ends:
                column = int(feature.columns[0])
                low[column], high[column] = min(ends[i][0], z[column]), max(ends[i][1], z[column])
                if i in self.integers:
                    integers[column] = feature.around
        groups += [self._group(group, row, z) for group in self.groups]
        for columns, rows in groups:
            low[columns], high[columns] = rows.min(axis=0), rows.max(axis=0)
        counted = [feature.columns for i, feature in enumerate(self.table.features) if i not in grouped]
        counted += [columns for columns, _ in groups[len(groups) - len(self.groups) :]]
        return Room(low, high, integers, groups, counted)

    def _ends(self, row: Array) -> dict[int, tuple[float, float]]:
        """Return the bounds of the columns of numerical features that can change."""
        limits = {}
        for i, feature in enumerate(self.table.features):
            if isinstance(feature, Number) and not is_missing(row[i]):
                low, high = self.limits(i, row[i])
                if low < high:
                    limits[i] = low, high
        values = np.ones((4, len(row)))
        for i, (low, high) in limits.items():
            here = float(row[i])
            values[:, i] = here, here + 1.0, low if np.isfinite(low) else here, high if np.isfinite(high) else here
        made = self.table.converted(values).T.tolist()
        return {i: ends_of_column(*pair, *made[i]) for i, pair in limits.items()}

    def _group(self, group: list[int], row: Array, z: Floats) -> tuple[Indices, Floats]:
        """Return the columns of features of which exactly one is 1, and the values they can have together."""
        features = [feature for i in group if isinstance(feature := self.table.features[i], Number)]
        columns = np.concatenate([feature.columns for feature in features])
        present = np.array([row[i] for i in group], np.float64)
        rows = [z[columns]]
        if not np.isnan(present).any():
            if not np.array_equal(np.sort(present), np.eye(len(group))[-1]):
                names = ", ".join(str(self.table.names[i]) for i in group)
                raise NotAllowed(f"It has {present.tolist()} in the group {names}; one must be 1 and the others 0.")
            limits = np.array([self.limits(i, value) for i, value in zip(group, present)])
            for choice in np.eye(len(group))[present == 0]:
                if (limits[:, 0] <= choice).all() and (choice <= limits[:, 1]).all():
                    rows.append(np.concatenate([f.forward(choice[[i]]) for i, f in enumerate(features)]))
        return columns, np.array(rows)

    def _check(self, i: int, value: Any) -> None:
        """Refuse a sample that is not allowed itself."""
        name = self.table.names[i]
        if isinstance(self.table.features[i], Category):
            if value not in self.allowed.get(i, [value]):
                raise NotAllowed(f"It has {name}={value!r}, which is not among the bounds {self.allowed[i]}.")
        elif i in self.given and not self.low[i] <= value <= self.high[i]:
            raise NotAllowed(f"It has {name}={value:g}, outside its bounds {self.low[i]:g} to {self.high[i]:g}.")
        elif i in self.integers and value != np.round(value):
            raise NotAllowed(f"It has {name}={value:g}, but {name} is one of the integers.")


def ends_of_column(
    low: float, high: float, here: float, next_: float, at_low: float, at_high: float
) -> tuple[float, float]:
    """Return bounds of a column for those of its feature: where these are finite, the values of the column there.

    The column may fall where the feature rises, as between its values ``here`` and ``next_``.
    """
    ends = [at if np.isfinite(end) else end for end, at in ((low, at_low), (high, at_high))]
    if next_ < here:
        ends = [-end if np.isinf(end) else end for end in reversed(ends)]
    return ends[0], ends[1]


class NotAllowed(ValueError):
    """Error for a sample that a request excludes as it is."""


def is_missing(value: Any) -> bool:
    """Return whether a value of a table is missing: None, NaN, or a similar marker."""
    return value is None or type(value).__name__ == "NAType" or value != value


def read_request(
    table: InputTable,
    *,
    fixed: Any = None,
    bounds: Mapping[Any, Any] | str | None = None,
    ranges: Floats | None = None,
    increasing: Any = None,
    decreasing: Any = None,
    integers: Any = None,
    groups: Any = None,
    flags: Sequence[int] = (),
) -> Request:
    """Return the request with indices in place of names; raise an error if it is invalid.

    ``ranges`` (2, n_features) are the bounds of features for which none are given; ``flags`` are features that are
    False or True.
    """
    rising, falling = (
        set(table.find_all(given, role)) for given, role in ((increasing, "increasing"), (decreasing, "decreasing"))
    )
    for i in sorted(rising & falling):
        raise ValueError(
            f"{table.names[i]!s} is both increasing and decreasing; name it in fixed if it must not change."
        )
    whole = {*table.find_all(integers, "integers"), *flags}
    unions = [table.find_all(group, "groups") for group in groups or ()]
    members = [i for union in unions for i in union]
    if any(isinstance(table.features[i], Unused) for i in members):
        raise ValueError("groups contains a feature that the classifier does not use.")
    if len(members) != len(set(members)):
        raise ValueError("Every feature may occur only once in groups.")
    low, high = np.array([[-np.inf], [np.inf]]) * np.ones(len(table.names)) if ranges is None else ranges.copy()
    for i in whole | set(members):  # rounding in the steps of a pipeline must not exclude the last integer
        slack = 1e-6 * np.maximum(1.0, np.abs([low[i], high[i]]))
        low[i], high[i] = np.ceil(low[i] - slack[0]), np.floor(high[i] + slack[1])
    for i in flags:
        low[i], high[i] = max(low[i], 0.0), min(high[i], 1.0)
    allowed: dict[int, list[Any]] = {}
    numbers: set[int] = set()
    for given, limits in _mapping(bounds).items():
        i = table.find(given, "bounds")
        feature = table.features[i]
        if isinstance(feature, Category):
            allowed[i] = _some_categories(table.names[i], feature, limits)
        else:
            low[i], high[i] = _two_limits(table.names[i], limits)
            numbers.add(i)
    stuck = set(table.find_all(fixed, "fixed", numbers=False))
    return Request(table, low, high, numbers, allowed, stuck, rising, falling, whole, unions)


def _mapping(bounds: Any) -> Mapping[Any, Any]:
    """Return the bounds that are given."""
    if bounds is None or (isinstance(bounds, str) and bounds == "training"):
        return {}
    if not isinstance(bounds, Mapping):
        raise ValueError(
            f"bounds={bounds!r} must be 'training' (the ranges of the training samples), a dict from features to pairs "
            "of numbers, or None (no bounds)."
        )
    return bounds


def known_ranges(model: Any, table: InputTable, bounds: Any) -> Floats | None:
    """Return the ranges (2, n_features) of the training samples, if changes are limited to these.

    None if no feature has bounds, and, with a warning, if the ranges are not known.
    """
    if bounds is None:
        return None
    known = getattr(model, "feature_ranges_", None)
    if known is None or table.mixing is not None:
        if len(_mapping(bounds)) == len(table.names):
            return None
        why = "the model was saved by an earlier version" if known is None else "the pipeline mixes features"
        warnings.warn(
            f"Changes are not limited to the ranges of the training samples, which are not known, as {why}. Give "
            "bounds, or set bounds=None if all values are allowed.",
            UserWarning,
            stacklevel=3,
        )
        return None
    return _ranges_of_features(table, known)


def _ranges_of_features(table: InputTable, known: Floats) -> Floats:
    """Return ranges (2, n_features) for those of columns; infinite for features that are no numbers.

    Of values that a column cannot tell from each other, the range ends at the one with the fewest digits.
    """
    numbers = np.array([isinstance(feature, Number) for feature in table.features])
    columns = [feature.columns[0] for feature in table.features if isinstance(feature, Number)]
    ends = np.ones((2, len(numbers)))
    ends[:, numbers] = known[:, columns]
    never = ends[0] > ends[1]  # no value is known
    ends[:, never] = 1.0
    values = table.converted(ends, back=True)
    short = np.array([float(f"{value:.12g}") for value in values.flat]).reshape(values.shape)
    values = np.sort(np.where(table.converted(np.where(np.isnan(short), 1.0, short)) == ends, short, values), axis=0)
    values[:, np.isnan(values).any(axis=0) | ~numbers] = [[-np.inf], [np.inf]]
    values[:, never] = [[np.inf], [-np.inf]]
    return values


def _two_limits(name: Any, limits: Any) -> tuple[float, float]:
    try:
        low, high = limits
        pair = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    except (TypeError, ValueError):
        raise ValueError(f"bounds of {name!s} are {limits!r}; expected two numbers, None for no bound.") from None
    if not pair[0] <= pair[1]:
        raise ValueError(f"bounds of {name!s} are {limits!r}; the lower one is above the upper one.")
    return pair


def _some_categories(name: Any, feature: Category, limits: Any) -> list[Any]:
    known = feature.categories.tolist()
    chosen = [limits] if isinstance(limits, str) else list(limits)
    for each in chosen:
        if each not in known:
            raise ValueError(f"bounds of {name!s} have {each!r}, which is not one of its categories {known}.")
    return chosen


def find_counterfactuals(
    model: Any,
    rows: Array,
    Z: Floats,
    seen: Floats,
    renewed: Callable[[Array, int], tuple[Floats, Floats]],
    request: Request,
    target: Any,
    *,
    sparse: bool,
    margin: float,
    length: str,
) -> Counterfactuals:
    """Return the smallest allowed change of each sample, in terms of its features.

    Parameters
    ----------
    model : LVQClassifier
        Fitted.
    rows : ndarray of shape (n, n_features)
        Samples as the user sees them.
    Z : ndarray of shape (n, n_columns)
        The columns of the same samples.
    seen : ndarray of shape (n, N)
        What the classifier sees of them: the same columns, unless something mixes these.
    renewed : callable
        Returns the columns (n_columns,) of a changed row, of the sample of some number, and what the classifier sees.
    request : Request
        What is allowed.
    target, sparse, margin, length
        As in `LVQClassifier.counterfactual`.

    Returns
    -------
    counterfactuals : Counterfactuals
        Counterfactuals in terms of the rows.
    """
    LENGTH.check("length", length)
    MARGIN.check("margin", margin)
    code = None if target is None else _code(model, target)
    margin = max(margin, model.reject_threshold)  # a rejected sample has no class
    table = request.table
    borders = _borders(model, table.mixing)
    present = model._codes[model._winners(seen)]

    def reaches(seen: Floats, own: int) -> bool:
        after = model._codes[model._winners(seen[None])[0]]
        sure = margin == 0 or model._confidence(seen[None])[0] >= margin
        return bool(sure and (after != own if code is None else after == code))

    samples, weights, messages = rows.copy(), np.zeros(rows.shape), np.full(len(rows), "", dtype=object)
    lengths, proven, after = np.zeros(len(Z)), np.ones(len(Z), bool), seen.copy()
    for s, (row, z, own) in enumerate(zip(rows, Z, present)):
        try:
            room = request.room(row, z)
        except NotAllowed as reason:
            lengths[s], messages[s] = np.inf, f"The sample itself is not allowed. {reason}"
            continue
        if own == code and reaches(seen[s], own):
            continue

        def confirmed(changed: Floats, s: int = s, row: Array = row, z: Floats = z, own: int = own) -> bool:
            return reaches(renewed(request.restored(row, z, changed), s)[1], own)

        change = smallest_change(
            z, borders, room, confirmed, present=own, target=code, margin=margin, sparse=sparse, length=length
        )
        samples[s] = request.restored(row, z, change.sample)
        new, after[s] = renewed(samples[s], s)
        lengths[s], proven[s] = change.length, change.proven
        if not np.isfinite(change.length):
            how = "There is no allowed change" if change.proven else "No allowed change was found"
            messages[s] = f"{how} to {'another class' if target is None else f'class {target}'}."
        S, delta = borders.measure(z, own, length), np.nan_to_num(new - z)
        weights[s] = [S.share(delta, feature.columns) for feature in table.features]
    return Counterfactuals(
        samples,
        _differences(table, rows, samples),
        model.prototype_labels_[model._winners(after)],
        lengths,
        np.isfinite(lengths),
        proven,
        rows,
        model.classes_[present],
        weights,
        table.names,
        target,
        messages,
    )


def _code(model: Any, target: Any) -> int:
    if target not in model.classes_:
        raise ValueError(f"target={target!r} is not one of the classes {list(model.classes_)}.")
    return int(np.searchsorted(model.classes_, target))


def _borders(model: Any, mixing: Mixing | None) -> Borders:
    """Return prototypes and metrics as quadratic inequalities of the columns."""
    A, slots = model._matrices("counterfactual")
    W = model.prototypes_
    if mixing is not None:  # |A (Z - W)|^2 = |A slopes (R - back(W))|^2
        A, W = mixing.folded(A), mixing.back(W)
    seen = np.ones(len(slots), bool)
    seen[model._hidden] = False
    return Borders(W[seen], model._codes[seen], A, slots[seen])


def _differences(table: InputTable, rows: Array, samples: Array) -> Floats:
    """Return what was added to numbers; NaN where a category changed."""
    changes = np.zeros(rows.shape)
    for i, feature in enumerate(table.features):
        known = np.array([not is_missing(value) for value in rows[:, i]], bool)
        if isinstance(feature, Number):
            changes[known, i] = samples[known, i].astype(np.float64) - rows[known, i].astype(np.float64)
        elif isinstance(feature, Category):
            changes[known, i] = np.where(samples[known, i] == rows[known, i], 0.0, np.nan)
    return changes
