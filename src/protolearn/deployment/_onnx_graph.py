"""Nodes of ONNX graphs, written as function calls, and the basic formulas of the models.

Everything is computed in double precision and from a common origin. Arrays: x (n, N) samples, W (k, N) prototypes,
D (n, k) distances. A tensor of the graph is its name; an array, or a number, becomes a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.numpy_helper import from_array

from protolearn.core.types import Array, Floats, Indices

__all__ = ["Graph", "Tensor"]

Tensor = str | Array | float | int
AXES_ARE_INPUTS = {"ReduceSum": 13, "ReduceMin": 18, "ReduceMax": 18, "ReduceSumSquare": 18, "ReduceLogSumExp": 18}


class Graph:
    """A graph that grows by calls, ``graph("MatMul", x, matrix)``, in a conversion of skl2onnx.

    Parameters
    ----------
    scope, container : object
        What skl2onnx gives to a converter: the names in use, and the nodes so far.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def __call__(self, kind: str, *inputs: Tensor, n_outputs: int = 1, **attributes: Any) -> str:
        """Add a node and return its output, or the last of several."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        outputs = [self.scope.get_unique_variable_name(kind.lower()) for _ in range(n_outputs)]
        self.container.add_node(kind, names, outputs, name=self.scope.get_unique_operator_name(kind), **attributes)
        return outputs[-1]

    def constant(self, value: Tensor) -> str:
        """Add numbers, in double precision unless they are integers, or strings."""
        array = np.asarray(value)
        name = self.scope.get_unique_variable_name("constant")
        if array.dtype.kind in "OU":
            self.container.add_initializer(name, TensorProto.STRING, array.shape, [str(one) for one in array.ravel()])
            return name
        types = {"b": np.bool_, "i": np.int64, "u": np.int64}
        numbers: Array = np.ascontiguousarray(array, dtype=types.get(array.dtype.kind, np.float64)).reshape(array.shape)
        self.container.add_initializer(name, None, None, from_array(numbers))
        return name

    def reduce(self, kind: str, x: Tensor, axis: int, keepdims: bool = False) -> str:
        """Reduce one axis, which is an input or an attribute of the node, as the version of ONNX has it."""
        if self.container.target_opset_any_domain("") >= AXES_ARE_INPUTS[kind]:
            return self(kind, x, np.array([axis]), keepdims=int(keepdims))
        return self(kind, x, axes=[axis], keepdims=int(keepdims))

    def nearest(self, D: Tensor) -> str:
        """Return the index (n,) of the smallest in each row."""
        return self("ArgMin", D, axis=1, keepdims=0)

    def ranks(self, D: Tensor, k: int) -> str:
        """Return which place (n, k) each number has in its row, from 0 for the smallest."""
        order = D
        for _ in range(2):
            order = self("TopK", order, np.array([k]), n_outputs=2, axis=1, largest=0, sorted=1)
        return self.numbers(order)

    def numbers(self, x: Tensor) -> str:
        """Return anything in double precision."""
        return self("Cast", x, to=TensorProto.DOUBLE)

    def chosen(self, values: Tensor, winners: Tensor, k: int) -> str:
        """Return, of values (n, k, c), those (n, c) of the winner (n,) of each sample."""
        hot = self("Equal", self("Unsqueeze", winners, np.array([1])), np.arange(k)[None])
        shares = self("Unsqueeze", self.numbers(hot), np.array([2]))
        return self.reduce("ReduceSum", self("Mul", values, shares), 1)

    def squares(self, x: Tensor, W: Floats) -> str:
        """Return the squared Euclidean distances ``|x - w|^2``, by one product, around the median of the prototypes."""
        origin = np.median(W, axis=0)
        z, V = self("Sub", x, origin), W - origin
        lengths = self("Add", self.reduce("ReduceSumSquare", z, 1, True), np.square(V).sum(axis=1))
        return self("Max", self("Add", self("MatMul", z, -2.0 * V.T), lengths), 0.0)

    def weighted(self, x: Tensor, weights: Floats, W: Floats, partial: bool = False) -> str:
        """Return ``sum_i weights_pi (x_i - w_pi)^2``; with ``partial``, NaN differs from no prototype."""
        origin = np.median(W, axis=0)
        V = W - origin
        z: Tensor = self("Sub", x, origin)
        constants: Tensor = (weights * V**2).sum(axis=1)
        if partial:
            z, known = self.known(z)
            constants = self("MatMul", known, (weights * V**2).T)
        sums = self("Add", self("MatMul", self("Mul", z, z), weights.T), self("MatMul", z, -2.0 * (weights * V).T))
        return self("Max", self("Add", sums, constants), 0.0)

    def projected(self, x: Tensor, A: Floats, slots: Indices, W: Floats, partial: bool = False) -> str:
        """Return ``A_p (x - w_p)`` as (k, n, M), with matrices (s, M, N), number ``slots[p]`` for prototype p."""
        origin = np.median(W, axis=0)
        V = W - origin
        z: Tensor = self("Sub", x, origin)
        own: Tensor = np.einsum("kmd,kd->km", A[slots], V)[:, None]
        if partial:
            z, known = self.known(z)
            own = self("MatMul", self("Unsqueeze", known, np.array([0])), np.swapaxes(A[slots] * V[:, None], 1, 2))
        z = self("MatMul", self("Unsqueeze", z, np.array([0])), np.swapaxes(A, 1, 2))
        if not np.array_equal(slots, np.arange(len(A))):
            z = self("Gather", z, slots, axis=0)
        return self("Sub", z, own)

    def quadratic(self, x: Tensor, A: Floats, slots: Indices, W: Floats, partial: bool = False) -> str:
        """Return ``|A_p (x - w_p)|^2``."""
        z = self.projected(x, A, slots, W, partial)
        return self("Transpose", self.reduce("ReduceSumSquare", z, 2), perm=[1, 0])

    def known(self, z: Tensor) -> tuple[str, str]:
        """Return samples with zeros in place of NaN, and ones where there was a value."""
        gaps = self("IsNaN", z)
        return self("Where", gaps, 0.0, z), self.numbers(self("Not", gaps))

    def of_classes(self, D: Tensor, codes: Indices, n_classes: int) -> str:
        """Return the smallest distance (n, C) to the prototypes of each class; infinite for one without any."""
        members = [np.flatnonzero(codes == code) for code in range(n_classes)]
        size = max(map(len, members))
        columns = np.array([np.resize(part if len(part) else [0], size) for part in members])
        near = self.reduce("ReduceMin", self("Gather", D, columns, axis=1), 2)
        absent = np.array([len(part) == 0 for part in members])
        return self("Add", near, np.where(absent, np.inf, 0.0)) if absent.any() else near

    def shares(self, scores: Tensor, temperature: float) -> str:
        """Return probabilities in proportion to ``exp(-scores / T)``."""
        return self("Softmax", self("Div", scores, -temperature), axis=1)

    def similarity(self, near: Tensor, n_classes: int, logarithmic: bool = False) -> str:
        """Return ``(d- - d+) / (d- + d+)`` (n,) of the distances (n, C) to the nearest prototype of each class."""
        if n_classes == 1:
            near = self("Add", near, np.array([[0.0, np.inf]]))
        values = self.two_smallest(near)
        own, other = (self("Gather", values, i, axis=1) for i in (0, 1))
        gap = self("Sub", other, own)
        if logarithmic:
            return self("Tanh", self("Mul", gap, 0.25))
        ratio = self("Div", gap, self("Max", self("Add", other, own), np.finfo(np.float64).tiny))
        return self("Where", self("IsInf", other), 1.0, ratio)

    def two_smallest(self, values: Tensor) -> str:
        """Return the two smallest (n, 2) of each row."""
        columns = self("TopK", values, np.array([2]), n_outputs=2, axis=1, largest=0, sorted=1)
        return self("GatherElements", values, columns, axis=1)

    def joined(self, parts: Sequence[str]) -> str:
        """Return columns side by side."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=1)
