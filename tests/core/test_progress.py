"""Progress: a bar on a terminal, complete in the end and with the time left; lines elsewhere; or silence."""

import io
import re
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from protolearn import GLVQ, GMLVQ, NGPCA, KMeans, MappedEmbedding, NeuralGas, RelationalSOM
from protolearn.core import progress as module
from protolearn.core.progress import Progress
from protolearn.embedding.costs import tsne
from protolearn.maps import Patches
from tests.test_common import DEFAULTS

IRIS = load_iris(return_X_y=True)
VERBOSE = [estimator for estimator in DEFAULTS if "verbose" in estimator.get_params(deep=False)]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True

    @property
    def drawings(self):
        """What was drawn, without the newlines at the ends of bars."""
        return [text.strip() for text in self.getvalue().split("\r")[1:]]


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdout=stream))
    monkeypatch.setenv("COLUMNS", "120")
    return stream


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is told to go on."""

    class Clock:
        now = 1000.0

        def __call__(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    return clock


def fitted(estimator, **parameters):
    estimator = clone(estimator).set_params(**parameters)
    if type(estimator).__name__ == "CIALVQ":
        estimator.set_params(patch_shape=(1, -1, 1))
    X, y = IRIS
    X, y = X[::5], y[::5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(pairwise_distances(X) if estimator.__sklearn_tags__().input_tags.pairwise else X, y)


def shares(drawings):
    return [int(found) for text in drawings for found in re.findall(r"(\d+)%", text)]


# Bars


def test_a_bar_grows_to_the_end_of_a_line(terminal, clock):
    with Progress("Map", 20, 1, "epoch") as progress:
        for epoch in range(1, 21):
            clock.now += 0.5
            progress.step(epoch, cost=1 / epoch)
    assert shares(terminal.drawings) == [*range(5, 101, 5), 100]
    assert terminal.drawings[9].startswith("[Map] ████████░░░░░░░░  50%  0:05, 0:05 left  epoch 10/20  cost 0.1")
    assert terminal.drawings[-1] == "[Map] ████████████████ 100%  0:10  epoch 20/20  cost 0.05"
    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")


@pytest.mark.parametrize("first", [0.0, 100.0])
@pytest.mark.parametrize("pace", [0.6, 7.0, 400.0])
def test_time_left_at_a_steady_pace_whatever_came_first(terminal, clock, first, pace):
    n = 50
    with Progress("Map", n, 1) as progress:
        clock.now += first  # such as compilation
        for step in range(1, n + 1):
            clock.now += pace
            progress.step(step)
    left = [re.search(r", ([\d:]+) left", text) for text in terminal.drawings]
    assert left[0] is None  # one step tells nothing of the pace
    for step, found in enumerate(left[1:n], 2):
        assert found.group(1) == module.clock((n - step) * pace)


def test_time_left_follows_a_change_of_pace(terminal, clock):
    with Progress("Map", 100, 1) as progress:
        for step in range(1, 101):
            clock.now += 10.0 if step <= 30 else 1.0
            progress.step(step)
    assert "0:20 left" in terminal.drawings[79]  # 20 steps at the pace of the last 40


def test_drawings_are_rare(terminal, clock):
    with Progress("Map", 10_000, 1) as progress:
        for step in range(1, 10_001):
            clock.now += 0.001
            progress.step(step)
    assert 95 <= len(terminal.drawings) <= 105


def test_a_line_is_never_wider_than_the_terminal(terminal, clock, monkeypatch):
    for columns in (20, 50, 60, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        with Progress("Map", 20, 1, "epoch") as progress:
            for epoch in range(1, 21):
                clock.now += 1.0
                progress.step(epoch, range=8 / epoch, cost=1 / epoch)
        lines = re.split(r"[\r\n]", terminal.getvalue())
        assert max(map(len, lines)) < columns
        terminal.truncate(0)
        terminal.seek(0)


def test_nothing_of_a_longer_line_remains(terminal, clock):
    with Progress("Map", 2, 1) as progress:
        progress.step(1, cost=1.2345678)
        clock.now += 1.0
        progress.step(2, cost=1.0)
    lengths = [len(text.rstrip("\n")) for text in terminal.getvalue().split("\r")[1:]]
    assert all(now >= len(before.rstrip()) for before, now in zip(terminal.drawings, lengths[1:]))


def test_a_stop_leaves_the_share_and_a_fresh_line(terminal, clock):
    with pytest.raises(KeyboardInterrupt), Progress("Map", 20, 1, "epoch") as progress:  # noqa: PT012
        for epoch in range(1, 20):
            progress.step(epoch)
            if epoch == 5:
                raise KeyboardInterrupt
    assert "25%" in terminal.drawings[-1]
    assert terminal.drawings[-1].endswith("stopped at epoch 5/20")
    assert terminal.getvalue().endswith("\n")


def test_what_runs_within_is_silent(terminal):
    with Progress("Outer", 2, 1) as outer:
        outer.step(1)
        with Progress("Inner", 1, 1) as inner:
            inner.step(1)
        outer.step(2)
    assert "Inner" not in terminal.getvalue()
    with Progress("Next", 1, 1) as later:
        later.step(1)
    assert "Next" in terminal.getvalue()


def test_plain_letters_where_there_are_no_others(monkeypatch):
    stream = Terminal()
    stream.encoding = "ascii"
    monkeypatch.setattr(sys, "stdout", stream)
    with Progress("Map", 2, 1) as progress:
        progress.step(1)
    assert "[Map] ########--------  50%" in stream.getvalue()


def test_a_notebook_is_no_terminal_but_draws(monkeypatch):
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stdout", stream)
    with Progress("Map", 2, 1) as progress:
        progress.step(1)
    assert stream.getvalue().startswith("\r[Map] ")


def test_without_an_output_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with Progress("Map", 2, 1) as progress:
        progress.step(1)


# Estimators


@pytest.mark.parametrize("estimator", VERBOSE, ids=lambda estimator: type(estimator).__name__)
def test_every_estimator_draws_one_bar(estimator, terminal):
    fitted(estimator, verbose=1)
    line, rest = terminal.getvalue().split("\n")
    own = [text for text in line.split("\r") if text.startswith(f"[{type(estimator).__name__}] ")]
    assert rest == ""
    assert len(own) >= 2
    found = shares(own)
    assert found == sorted(found)
    assert found[-1] == 100


@pytest.mark.parametrize("estimator", VERBOSE, ids=lambda estimator: type(estimator).__name__)
def test_every_estimator_prints_lines_elsewhere(estimator, capsys):
    fitted(estimator, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    if type(estimator).__name__ not in ("SNE", "TSNE", "MappedEmbedding"):  # which look at every 50th iteration
        assert lines
    assert all(line.startswith(f"[{type(estimator).__name__}] ") for line in lines)
    assert "\r" not in "".join(lines)


@pytest.mark.parametrize("estimator", VERBOSE, ids=lambda estimator: type(estimator).__name__)
def test_silent_by_default(estimator, terminal):
    fitted(estimator)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "waypoint", "adam"])
def test_every_solver_reports(solver, terminal):
    model = fitted(GMLVQ(solver=solver, max_iter=7, verbose=1))
    assert f"iteration {model.n_iter_}/7" in terminal.drawings[-1]


@pytest.mark.parametrize(
    ("estimator", "n_runs"),
    [
        (KMeans(3, n_init=4, random_state=0), 4),
        (NeuralGas(3, patches=Patches(10), max_iter=5, random_state=0), 3),
        (NeuralGas(3, patches=Patches(10, runs=2), max_iter=5, n_init=2, random_state=0), 8),
        (NeuralGas(3, patches=Patches(10, runs=3), n_jobs=2, max_iter=5, random_state=0), 4),
        (RelationalSOM((2, 2), patches=Patches(10), max_iter=5, random_state=0), 3),
        (NGPCA(2, 1, algorithm="batch", n_init=3, random_state=0), 3),
        (MappedEmbedding(cost=tsne(2.0), max_iter=5, n_init=3, random_state=0), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_bar_for_all_runs(estimator, n_runs, terminal, clock, monkeypatch):
    step = Progress.step

    def slow(self, *args, **values):
        clock.now += 1.0
        step(self, *args, **values)

    monkeypatch.setattr(Progress, "step", slow)
    fitted(estimator, verbose=1)
    drawings = [text for text in terminal.drawings if text.startswith(f"[{type(estimator).__name__}]")]
    seen = shares(drawings)
    assert seen == sorted(seen)
    runs = [re.search(r"run (\d+)/(\d+)", text) for text in drawings[:-1]]
    assert {int(found.group(2)) for found in runs} == {n_runs}
    assert {int(found.group(1)) for found in runs} >= {1, n_runs}
    assert seen[-2] >= 100 - 100 // n_runs  # the last run began where the others had ended


def test_patches_of_unknown_number_have_no_share(terminal):
    NeuralGas(3, max_iter=5, verbose=1).fit(iter([IRIS[0][:50], IRIS[0][50:]]))
    assert re.match(r"\[NeuralGas\]  0:0\d  run 1  epoch 1/5", terminal.drawings[0])
    assert terminal.getvalue().endswith("\n")


def test_convergence_ends_a_bar(terminal):
    model = KMeans(3, random_state=0, verbose=1).fit(IRIS[0])
    assert model.n_iter_ < 300
    assert f"100%  0:00  ended at epoch {model.n_iter_}/300" in terminal.drawings[-1]


def test_an_interrupt_is_seen_in_the_bar(terminal):
    def stop(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    model = GLVQ(callback=stop, max_iter=10, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*IRIS)
    assert "stopped at iteration 3/10" in terminal.drawings[-1]
    assert terminal.getvalue().endswith("\n")
    assert np.isfinite(model.prototypes_).all()


def test_an_interrupted_map_is_not_complete(terminal, monkeypatch):
    step = Progress.step

    def interrupted(self, done, *args, **values):
        step(self, done, *args, **values)
        if done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        NeuralGas(3, max_iter=10, verbose=1).fit(IRIS[0])
    assert shares(terminal.drawings)[-1] == 30
    assert "stopped at epoch 3/10" in terminal.drawings[-1]
