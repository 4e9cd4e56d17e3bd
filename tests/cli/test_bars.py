"""Bars of commands: the estimator's own while it learns, erased in the end, and none where nobody watches."""

import io
import re
import sys

import numpy as np
import pytest

pytest.importorskip("rich")

from rich.console import Console

from protolearn import SOM
from protolearn.cli._console import Bars


@pytest.mark.parametrize("watched", [True, False])
def test_estimators_show_their_bar_on_the_terminal_only(watched, capsys):
    file = io.StringIO()
    model = SOM((3, 3), max_iter=30)
    before = sys.stdout
    with Bars(Console(file=file, force_terminal=watched), quiet=False).fitting(model):
        model.fit(np.random.RandomState(0).rand(200, 2))
    written = file.getvalue()
    assert sys.stdout is before
    assert model.verbose == 0
    assert capsys.readouterr().out == ""
    if not watched:
        assert written == ""
        return
    assert re.search(r"\[SOM\] .* 100%", written)
    assert written.endswith("\x1b[1A\x1b[2K")  # up to the line of the bar, and away with it
    assert written.count("\n") == written.count("\x1b[1A") == 1
