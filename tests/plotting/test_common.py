"""What holds for every picture: it is drawn where one asks, and nothing else changes."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import protolearn.plotting as plotting
from protolearn import SOM, KMeans, NeuralGas, PrototypeClassifier

ON_LATTICE = {
    "plot_u_matrix": plotting.plot_u_matrix,
    "plot_hits": plotting.plot_hits,
    "plot_component_planes": lambda model, **given: plotting.plot_component_planes(model, [0], **given),
    "plot_class_map": lambda model, **given: plotting.plot_class_map(model, y=np.arange(150) % 2, **given),
    "plot_topographic_function": plotting.plot_topographic_function,
}
OF_ANY_MAP = {
    "plot_prototypes": plotting.plot_prototypes,
    "plot_graph": plotting.plot_graph,
    "plot_history": plotting.plot_history,
}
EVERY = {**ON_LATTICE, **OF_ANY_MAP}

each = pytest.mark.parametrize("plot", EVERY.values(), ids=EVERY)
each_on_lattice = pytest.mark.parametrize("plot", ON_LATTICE.values(), ids=ON_LATTICE)
each_of_any_map = pytest.mark.parametrize("plot", OF_ANY_MAP.values(), ids=OF_ANY_MAP)
Plot = Callable[..., Any]


def test_every_function_is_checked_here() -> None:
    maps = ("_curves", "_features", "_maps")
    assert set(EVERY) == {name for name in plotting.__all__ if getattr(plotting, name).__module__.endswith(maps)}


@each
def test_draws_into_the_axes_given(plot: Plot, som: SOM) -> None:
    ax = plt.figure().add_subplot()
    other = plt.figure().add_subplot()
    figures = plt.get_fignums()
    drawn = np.ravel(plot(som, ax=ax))
    assert list(drawn) == [ax]
    assert ax.collections or ax.patches or ax.lines
    assert plt.get_fignums() == figures
    assert plt.gca() is other
    assert not other.has_data()


@each
def test_makes_a_figure_of_its_own(plot: Plot, som: SOM) -> None:
    busy = plt.figure().add_subplot()
    ax = np.ravel(plot(som))[0]
    assert ax.figure is not busy.figure
    assert not busy.has_data()
    assert len(plt.get_fignums()) == 2


@each
def test_shows_nothing_and_changes_no_settings(plot: Plot, som: SOM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    before = mpl.rcParams.copy()
    np.ravel(plot(som))[0].figure.canvas.draw()
    assert mpl.rcParams == before


@each
def test_draws_the_map_inside_a_classifier(plot: Plot, iris: Any) -> None:
    classifier = PrototypeClassifier(SOM((3, 4), max_iter=3)).fit(*iris)
    assert np.ravel(plot(classifier))[0].figure.axes


@each
def test_refuses_what_is_not_fitted(plot: Plot) -> None:
    for unfitted in (SOM(), PrototypeClassifier(SOM())):
        with pytest.raises(NotFittedError):
            plot(unfitted)
    assert not plt.get_fignums()


@each_on_lattice
def test_refuses_maps_without_a_lattice(plot: Plot, iris: Any) -> None:
    for model in (NeuralGas(5, max_iter=3, random_state=0).fit(iris[0]), PrototypeClassifier().fit(*iris)):
        with pytest.raises(ValueError, match=r"NeuralGas has none.*plot_prototypes, plot_graph and plot_history"):
            plot(model)
    assert not plt.get_fignums()


@each_of_any_map
def test_draws_maps_without_a_lattice(plot: Plot, iris: Any) -> None:
    for model in (KMeans(5, random_state=0), NeuralGas(5, max_iter=3, random_state=0)):
        assert plot(model.fit(iris[0])).has_data()


@each_of_any_map
def test_names_what_other_estimators_lack(plot: Plot, iris: Any) -> None:
    scaler = StandardScaler().fit(iris[0])
    with pytest.raises(ValueError, match=r"StandardScaler has no .*or a pipeline that ends in one"):
        plot(scaler)


def test_importing_protolearn_does_not_import_matplotlib() -> None:
    code = "import sys, protolearn; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_says_how_to_install_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("protolearn.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'protolearn\[plot\]'"):
        importlib.import_module("protolearn.plotting")
