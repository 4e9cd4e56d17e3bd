"""Tracing of table columns through the steps of a pipeline, and the inverse transformation.

Scalers and other transformers that process each column separately are traced column by column. The columns of an
encoded category count as one feature. Imputers and selectors leave values unchanged. Steps that mix columns, such as
PCA, are traced if they are affine and invertible; then all later steps must be affine and invertible, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder
from sklearn.utils import _safe_indexing

from protolearn.core.fitted import Parts
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Floats
from protolearn.lvq._request import Category, Feature, InputTable, Mixing, Number, Unused

__all__ = ["NoUnits", "is_plain", "table_behind"]

ROUNDING = 1e-8  # relative, up to which a step is affine and undone


class NoUnits(ValueError):
    """Error for steps of a pipeline that cannot be inverted."""


def table_behind(parts: Parts) -> InputTable:
    """Return the features of the input of a pipeline, and the columns into which the pipeline transforms them."""
    assert parts.before is not None
    names = parts.names_in()
    flow = _Flow([_Column(i) for i in range(len(names))], lambda X: X)
    for name, step in parts.before.steps:
        flow = _through(step, name, flow)
    places: list[list[int]] = [[] for _ in names]
    for place, column in enumerate(flow.columns):
        places[column.feature].append(place)
    features = [_feature(name, own, flow.columns) for name, own in zip(names, places)]
    numbers = [i for i, feature in enumerate(features) if isinstance(feature, Number)]
    columns = [flow.columns[places[i][0]] for i in numbers]

    def convert(values: Floats, back: bool) -> Floats:
        made = values.copy()
        made[:, numbers] = _converted(columns, values[:, numbers], back)
        return made

    return InputTable(names, features, flow.mixing, lambda X: _dense(flow.run(X)), convert)


def is_plain(before: Pipeline) -> bool:
    """Return whether ``inverse_transform`` of all steps together restores samples with all of their features."""
    return hasattr(before, "inverse_transform") and not any(
        isinstance(step, (SelectorMixin, Pipeline)) or hasattr(step, "categories_") or _is_imputer(step)
        for _, step in before.steps
    )


@dataclass(frozen=True)
class _Flow:
    """Columns of which each is made of one feature, how samples become these, and what mixes them afterwards."""

    columns: list[_Column]
    run: Callable[[Any], Any]
    mixing: Mixing | None = None


@dataclass(frozen=True)
class _Column:
    """A column on its way to the classifier: the feature it is made of, and how.

    The steps are for numbers; ``codes`` are for categories, and hold what the column is for each of them.
    """

    feature: int
    steps: tuple[_Step, ...] = ()
    categories: Array | None = None
    codes: Floats | None = None

    def through(self, step: _Step) -> _Column:
        if self.codes is None:
            return replace(self, steps=(*self.steps, step))
        return replace(self, codes=step.forward(self.codes))

    def forward(self, values: Floats) -> Floats:
        for step in self.steps:
            values = step.forward(values)
        return values

    def back(self, values: Floats) -> Floats:
        for step in reversed(self.steps):
            values = step.back(values)
        return values


@dataclass(frozen=True)
class _Step:
    """What a transformer that treats each column by itself does to one of them."""

    transformer: Any
    place: int
    width: int

    def forward(self, values: Floats) -> Floats:
        return self.applied(np.repeat(values[:, None], self.width, axis=1), False)[:, self.place]

    def back(self, values: Floats) -> Floats:
        return self.applied(np.repeat(values[:, None], self.width, axis=1), True)[:, self.place]

    def applied(self, rows: Floats, back: bool) -> Floats:
        """Return what the transformer makes of rows of all of its columns, or what it has made them of."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some columns hold values of others, which may not suit them
            return _dense((self.transformer.inverse_transform if back else self.transformer.transform)(rows)).astype(
                np.float64
            )


def _converted(columns: list[_Column], values: Floats, back: bool) -> Floats:
    """Return what steps make of values (m, n_columns) of several columns, those of a step at a time, or undo it."""
    values = values.copy()
    depths = range(max((len(column.steps) for column in columns), default=0))
    for depth in reversed(depths) if back else depths:
        together: dict[int, list[int]] = {}
        for i, column in enumerate(columns):
            if depth < len(column.steps):
                together.setdefault(id(column.steps[depth].transformer), []).append(i)
        for members in together.values():
            steps = [columns[i].steps[depth] for i in members]
            places = [step.place for step in steps]
            rows = np.repeat(values[:, members[:1]], steps[0].width, axis=1)
            rows[:, places] = values[:, members]
            values[:, members] = steps[0].applied(rows, back)[:, places]
    return values


def _feature(name: Any, own: list[int], columns: list[_Column]) -> Feature:
    """Return what a feature becomes: the columns at its own places."""
    places = np.array(own, np.int64)
    mine = [columns[place] for place in own]
    if not mine:
        return Unused(places)
    codes = [column.codes for column in mine if column.codes is not None]
    if mine[0].categories is not None and len(codes) == len(mine):
        return Category(places, mine[0].categories, np.stack(codes, axis=1))
    if len(mine) == 1:
        return Number(places, mine[0].forward, mine[0].back)
    raise NoUnits(f"The pipeline turns {name!s} into {len(mine)} columns, which cannot be changed separately.")


def _through(step: Any, name: str, flow: _Flow) -> _Flow:
    """Return what a fitted transformer makes of columns."""
    if step is None or isinstance(step, str) or (type(step) is FunctionTransformer and step.func is None):
        return flow
    if isinstance(step, Pipeline):
        for inner, transformer in step.steps:
            flow = _through(transformer, inner, flow)
        return flow
    if flow.mixing is not None:
        return replace(flow, mixing=flow.mixing.then(_affine(step, name, len(flow.mixing.offsets))))
    if isinstance(step, ColumnTransformer):
        return _side_by_side(step, flow)
    columns = _one_by_one(step, name, flow.columns)
    if columns is None:
        return replace(flow, mixing=_affine(step, name, len(flow.columns)))
    return _Flow(columns, lambda X: step.transform(flow.run(X)))


def _one_by_one(step: Any, name: str, columns: list[_Column]) -> list[_Column] | None:
    """Return what a transformer makes of each column by itself; None if it mixes them."""
    if isinstance(step, SelectorMixin):
        return [column for column, kept in zip(columns, step.get_support()) if kept]
    if hasattr(step, "categories_"):
        return [made for place, column in enumerate(columns) for made in _encoded(step, name, place, column)]
    if _is_imputer(step):
        if len(step.get_feature_names_out()) == len(columns):
            return columns
        raise NoUnits(f"Step {name!r} adds or drops columns, so the units of the table cannot be restored.")
    _check_inverse(step, name)
    if not isinstance(step, (OneToOneFeatureMixin, FunctionTransformer)) or isinstance(step, Normalizer):
        return None
    return [column.through(_Step(step, place, len(columns))) for place, column in enumerate(columns)]


def _is_imputer(step: Any) -> bool:
    return isinstance(step, (SimpleImputer, KNNImputer)) or hasattr(step, "imputation_sequence_")


def _check_inverse(step: Any, name: str) -> None:
    if not hasattr(step, "inverse_transform"):
        raise NoUnits(f"Step {name!r} of the pipeline has no inverse_transform, so its units cannot be restored.")
    if isinstance(step, FunctionTransformer) and step.inverse_func is None:
        raise NoUnits(f"Step {name!r} of the pipeline has no inverse_func, so its units cannot be restored.")


def _affine(step: Any, name: str, n_columns: int) -> Mixing:
    """Return the effect of a step that mixes columns, and of its inverse, if both are affine and consistent.

    Both properties are tested on probes.
    """
    _check_inverse(step, name)
    refusal = NoUnits(
        f"Step {name!r} ({type(step).__name__}) of the pipeline mixes columns in a way that is not affine, so "
        "its units cannot be restored."
    )
    rng = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # probes have no names
        try:
            forward = _probed(step.transform, n_columns)
            n_made = len(forward[1])
            mixing = Mixing(*forward, *_probed(step.inverse_transform, n_made))
            rows = rng.normal(size=(8, n_columns)) * np.logspace(-2, 2, 8)[:, None]
            there = _dense(step.transform(rows)).astype(np.float64)
        except (TypeError, ValueError, AttributeError) as error:
            raise refusal from error
    made = rng.normal(size=(8, n_made)) + mixing.offsets
    if not (_same(mixing.forward(rows), there) and _same(mixing.forward(mixing.back(made)), made)):
        raise refusal
    return mixing


def _probed(function: Callable[[Any], Any], n_columns: int) -> tuple[Floats, Floats]:
    """Return slopes (m, n_columns) and offsets (m,) of a function of rows, as they are if it is affine."""
    offsets = _dense(function(np.zeros((1, n_columns)))).astype(np.float64)[0]
    slopes = np.empty((len(offsets), n_columns))
    for rows in row_blocks(n_columns, 8 * n_columns, HELD):
        probes = np.eye(rows.stop - rows.start, n_columns, rows.start)
        slopes[:, rows] = (_dense(function(probes)) - offsets).T
    return slopes, offsets


def _same(one: Floats, other: Floats) -> bool:
    return np.allclose(one, other, rtol=ROUNDING, atol=ROUNDING * np.abs(other).max())


def _side_by_side(step: ColumnTransformer, flow: _Flow) -> _Flow:
    blocks = []
    for name, transformer, chosen in step.transformers_:
        places = _places(step, chosen)
        if len(places) and not (isinstance(transformer, str) and transformer == "drop"):
            some = _Flow([flow.columns[place] for place in places], partial(_chosen, flow.run, places))
            blocks.append(_through(transformer, name, some))
    columns = [column for block in blocks for column in block.columns]
    if all(block.mixing is None for block in blocks):
        return _Flow(columns, lambda X: step.transform(flow.run(X)))
    parts = [block.mixing or Mixing.identity(len(block.columns)) for block in blocks]
    mixing = Mixing(
        block_diag(*(part.slopes for part in parts)),
        np.concatenate([part.offsets for part in parts]),
        block_diag(*(part.back_slopes for part in parts)),
        np.concatenate([part.back_offsets for part in parts]),
    )
    return _Flow(columns, lambda X: np.hstack([_dense(block.run(X)).astype(np.float64) for block in blocks]), mixing)


def _chosen(run: Callable[[Any], Any], places: Array, X: Any) -> Any:
    """Return some columns of what earlier steps make of samples."""
    return _safe_indexing(run(X), places, axis=1)


def _places(step: ColumnTransformer, chosen: Any) -> Array:
    """Return the numbers of columns that are given by names, numbers, a mask or a slice."""
    n_columns = step.n_features_in_
    numbers = np.arange(n_columns)
    if isinstance(chosen, slice) and isinstance(chosen.start or chosen.stop, str):
        names = list(step.feature_names_in_)
        first = 0 if chosen.start is None else names.index(chosen.start)
        last = n_columns if chosen.stop is None else names.index(chosen.stop) + 1
        return numbers[first:last]
    if isinstance(chosen, slice):
        return numbers[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # scikit-learn 1.6, on the numbers of remaining columns
        wanted = np.atleast_1d(np.asarray(chosen))
    if wanted.dtype.kind in "OUT" and len(wanted):
        places = {name: place for place, name in enumerate(step.feature_names_in_)}
        return np.array([places[name] for name in wanted.tolist()])
    return numbers[wanted] if len(wanted) else numbers[:0]


def _encoded(step: Any, name: str, place: int, column: _Column) -> list[_Column]:
    """Return the columns that an encoder makes of one, with the codes of its categories."""
    if column.steps or column.codes is not None:
        raise NoUnits(
            f"Step {name!r} encodes the output of an earlier step, so the categories are not those of the table."
        )
    categories = np.array(step.categories_[place], object)
    samples = np.empty((len(categories), len(step.categories_)), object)
    samples[:] = [known[0] for known in step.categories_]
    samples[:, place] = categories
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these samples have no names
        codes = _dense(step.transform(samples)).astype(np.float64)
    first, last = (sum(_n_codes(step, i) for i in range(end)) for end in (place, place + 1))
    return [_Column(column.feature, (), categories, codes[:, i]) for i in range(first, last)]


def _n_codes(step: Any, place: int) -> int:
    """Return how many columns an encoder makes of one."""
    if not isinstance(step, OneHotEncoder):
        return len(step.get_feature_names_out()) // len(step.categories_)
    rare = getattr(step, "infrequent_categories_", [None] * len(step.categories_))[place]
    dropped = step.drop_idx_ is not None and step.drop_idx_[place] is not None
    return len(step.categories_[place]) - (0 if rare is None else len(rare) - 1) - int(dropped)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
