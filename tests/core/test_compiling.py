"""What is said of compilation, and loops that are written out because compiling NumPy's takes long."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba.core import event

from protolearn.core import compiling
from protolearn.core._kernels import _sort
from protolearn.core.progress import Progress


def compile_something():
    with event.trigger_event("numba:compile", data={}):
        pass


def test_compilation_is_told_once_and_only_to_those_who_want_to_hear(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_told", [])
    with Progress("SOM", 1, verbose=0):
        compile_something()
    with Progress("SOM", 1, verbose=1):
        pass
    compile_something()
    assert capsys.readouterr() == ("", "")
    for _ in range(2):
        with Progress("SOM", 1, verbose=1):
            compile_something()
            compile_something()
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("compiling") == 1
    assert compiling.cache_place() in told.err


@given(arrays(np.float64, st.integers(0, 40), elements=st.integers(0, 9).map(float)))
def test_sorting_keeps_the_order_of_equal_values(values):
    order, room = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    _sort(values, order, room)
    assert order.tolist() == np.argsort(values, kind="stable").tolist()
