"""The framework of the experiments: what is stored, what runs again, and what counts as found again."""

import json
import re
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris

import protolearn
from protolearn import MappedEmbedding, MedianNeuralGas, NeuralGas, RelationalNeuralGas
from protolearn.core.threads import Threads
from protolearn.embedding._base import ViewSamples
from protolearn.embedding.costs import tsne

pytest.importorskip("matplotlib")

from experiments import __main__ as command
from experiments._again import differences, fitting, fraction
from experiments._pages import pages
from experiments._plain_steps import PlainSteps
from experiments._protocol import AsPrinted
from experiments._report import ADDED, JUDGED, MISSED, REPRODUCED, STATEMENT, report, row

NAMES = [f"e{number:02d}_toy" for number in range(90, 100)]
SPREAD = [0.9, 1.0, 1.1, 1.0]  # standard deviation 0.0816


def toy(shift: float = 0.0, verdict: str = REPRODUCED) -> dict[str, Any]:
    rows = [row("mean", 1.0, [value + shift for value in SPREAD], REPRODUCED), row("one", 1.0, 1.0, verdict)]
    return report({"runs": len(SPREAD)}, [*rows, row("fact", "2", 2.0, STATEMENT), row("later", None, 5.0, ADDED)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put ten toy experiments in the place of the real ones, of which two miss a row."""
    for i, name in enumerate(NAMES):
        verdict = MISSED if i in (3, 7) else REPRODUCED
        script = SimpleNamespace(TITLE="toy", ONE_RUN=("one",), draw=None, run=lambda quick, v=verdict: toy(verdict=v))
        monkeypatch.setitem(sys.modules, f"experiments.{name}", script)
    places = {"SCRIPTS": NAMES, "RESULTS": tmp_path, "PICTURES": tmp_path / "pictures"}
    for key, value in (places | {"_commit": lambda: "abc"}).items():
        monkeypatch.setattr(command, key, value)
    command.main([])
    return tmp_path


def stored(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / f"{name[:3]}.json").read_text())


def change(folder: Path, name: str, **entries: object) -> None:
    (folder / f"{name[:3]}.json").write_text(json.dumps(stored(folder, name) | entries))


def test_results_tell_how_long_they_took_and_of_which_code(folder: Path) -> None:
    result = stored(folder, NAMES[0])
    assert min(result["seconds"], result["cpu_seconds"]) >= 0
    assert (result["version"], result["commit"]) == (protolearn.__version__, "abc")
    date.fromisoformat(result["date"])


def test_commit_is_that_of_the_repository() -> None:
    commit = command._commit()
    assert commit is None or re.fullmatch(r"[0-9a-f]{7,40}\+?", commit)  # None: not in a repository


def test_only_what_was_missed_runs_again(folder: Path) -> None:
    for name in NAMES:
        change(folder, name, date="before")
    command.main(["--missed"])
    assert [name for name in NAMES if stored(folder, name)["date"] != "before"] == [NAMES[3], NAMES[7]]


def test_limited_time_leaves_out_what_is_longer(folder: Path) -> None:
    for name in NAMES:
        change(folder, name, date="before", seconds=50 if name == NAMES[0] else 20)
    command.main(["--minutes", "1"])  # 50, and then nothing that fits
    assert [name for name in NAMES if stored(folder, name)["date"] != "before"] == NAMES[:1]


def test_check_agrees_with_what_is_stored_and_stores_nothing(folder: Path) -> None:
    for name in NAMES:
        change(folder, name, date="before")
    with pytest.raises(SystemExit) as end:
        command.main(["--check"])
    assert end.value.code == 0
    assert all(stored(folder, name)["date"] == "before" for name in NAMES)


def test_check_finds_another_mean(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(folder, NAMES[5], rows=toy(shift=0.5)["rows"])
    with pytest.raises(SystemExit) as end:
        command.main(["--check", "e95"])
    assert end.value.code == 1
    assert "E95 mean: 1.5 (reproduced) is stored, 1 (reproduced) was found" in capsys.readouterr().out


def test_check_runs_a_fifth(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for seed in ("1", "1", "2"):
        with pytest.raises(SystemExit):
            command.main(["--check", "--seed", seed])
        told.append(capsys.readouterr().out.splitlines()[0])
    assert told[0] == told[1] != told[2]
    assert len(told[0].split(": ")[1].split(", ")) == 2


@given(st.floats(-1, 1))
def test_means_agree_within_three_standard_errors_of_their_difference(shift: float) -> None:
    error = 0.0816497 * (2 / len(SPREAD)) ** 0.5
    if abs(abs(shift) - 3 * error) > 1e-4:
        assert bool(differences(toy(), toy(shift))) == (abs(shift) > 3 * error)


def test_rows_without_spread_agree_by_their_verdict() -> None:
    assert differences(toy(), toy(verdict=MISSED)) == ["one: 1 (reproduced) is stored, 1 (missed) was found"]


def test_rows_that_come_and_go_are_told() -> None:
    fewer = toy()
    fewer["rows"] = fewer["rows"][1:]
    assert differences(toy(), fewer) == ["mean: stored, but not found again"]
    assert differences(fewer, toy()) == ["mean: found, but not stored"]


def test_facts_and_variants_are_not_compared() -> None:
    changed = toy()
    changed["rows"] = changed["rows"][:2]
    assert differences(toy(), changed) == []


@given(st.integers(1, 40), st.integers(0, 5))
def test_a_fraction_is_drawn_without_repeats_and_again_with_its_seed(n: int, seed: int) -> None:
    names = [str(i) for i in range(n)]
    chosen = fraction(names, 0.2, seed)
    assert len(set(chosen)) == len(chosen) == max(1, round(n / 5))
    assert set(chosen) <= set(names)
    assert chosen == fraction(names, 0.2, seed)


@given(st.lists(st.floats(0, 500), max_size=10), st.floats(0, 20))
def test_what_fits_stays_below_the_limit_and_leaves_no_room(seconds: list[float], minutes: float) -> None:
    results = {str(i): {"seconds": value} for i, value in enumerate(seconds)}
    chosen = fitting(list(results), results, minutes)
    left = 60 * minutes - sum(results[name]["seconds"] for name in chosen)
    assert left >= -1e-9
    assert all(results[name]["seconds"] > left - 1e-9 for name in results if name not in chosen)


def test_summary_counts_verdicts_but_not_facts_and_names_single_runs(folder: Path) -> None:
    page = " ".join(pages({name: stored(folder, name) for name in NAMES})["experiments.md"].split())
    assert "10 experiments from published research" in page
    assert "20 numbers and statements to compare: 18 are reproduced (90%)" in page
    assert "0 are on the border, and 2 are missed (10%)" in page
    assert "| [Topographic maps](experiments/topographic_maps.md) | 18 | 0 | 0 | 2 | 0 |" in page
    assert "decides 10 verdicts: E90 (1), E91 (1)" in page
    assert "all but 2 have a remark" in page
    assert "2 of the 2 missed rows are in 2 experiments" in page


def test_page_of_a_document_has_rows_to_compare(folder: Path) -> None:
    page = pages({name: stored(folder, name) for name in NAMES})["experiments/topographic_maps.md"]
    assert page.count("| mean | 1 | 1\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.082 | 4 | reproduced |") == 10
    assert page.count("| one | 1 | 1 | 1 | reproduced |") == 8
    assert page.count("| one | 1 | 1 | 1 | **missed** |") == 2
    assert "| fact |" not in page
    assert "| later |" not in page


def test_remarks_are_written_once_below_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = sys.modules[f"experiments.{NAMES[3]}"]
    monkeypatch.setattr(script, "REMARKS", {"one": "better than printed | here"}, raising=False)
    change(folder, NAMES[3], rows=[*toy(verdict=MISSED)["rows"], row("another one", 2.0, 1.0, MISSED)])
    found = pages({NAMES[3]: stored(folder, NAMES[3])})
    page = found["experiments/topographic_maps.md"]
    assert page.count("**missed** (a) |") == 2
    assert page.count(r"- (a) Better than printed \| here.") == 1
    assert "| ours is better than the printed value | 2 |" in found["experiments.md"]


def test_every_verdict_stored_is_on_a_page() -> None:
    """The pages in docs are those of the stored results: each judged row and each miss is there."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((command.DOCS / "experiments").glob("*.md"))]
    rows = [line for text in texts for line in text.splitlines() if line.startswith("| ")]
    for verdict in JUDGED:
        count = sum(
            line["verdict"] == verdict
            for path in (command.FOLDER / "results").glob("*.json")
            for line in json.loads(path.read_text())["rows"]
        )
        assert sum(line.split(" | ")[-1].strip("*| ").startswith(verdict) for line in rows) == count


def test_stored_rows_have_names_of_their_own() -> None:
    for path in sorted((command.FOLDER / "results").glob("*.json")):
        quantities = [line["quantity"] for line in json.loads(path.read_text())["rows"] if line["verdict"] in JUDGED]
        assert len(set(quantities)) == len(quantities), path.stem  # by which they are found again


def test_labels_count_as_printed() -> None:
    """A label distance in no unit is that of the library at another weight, which depends on the data."""
    X, y = load_iris(return_X_y=True)
    D = squareform(pdist(X))
    unit = X.var(axis=0).sum() / np.eye(3)[y].var(axis=0).sum()
    odds = 0.3 / 0.7 / unit
    kinds: list[tuple[Any, Any]] = [(NeuralGas, X), (RelationalNeuralGas, D), (MedianNeuralGas, D)]
    for usual, data in kinds:
        printed = type("Printed", (AsPrinted, usual), {})
        found = printed(6, label_weight=0.3, random_state=0).fit(data, y)
        same = usual(6, label_weight=odds / (1 + odds), random_state=0).fit(data, y)
        other = usual(6, label_weight=0.3, random_state=0).fit(data, y)
        np.testing.assert_array_equal(found.labels_, same.labels_)
        assert found.cost_history_[-1] != other.cost_history_[-1]


# Mappings by plain steps


def mapped_samples(seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).normal(size=(60, 4)) * [3.0, 2.0, 1.0, 0.5] + 5.0


@pytest.mark.parametrize("mapping", ["free", "linear"])
def test_plain_steps_of_a_mapping(mapping: str) -> None:
    """Positions move by rate, number of samples and gradient, as near as the mapping can; Bunte 2011, eq. 6.24."""
    X, init = mapped_samples(), 0.1 * mapped_samples(1)[:, :2]
    found = PlainSteps(mapping=mapping, cost=tsne(10.0), max_iter=7, init=init, random_state=0).fit(X)
    centered = X - X.mean(axis=0)
    cost = tsne(10.0).objective(ViewSamples(centered, None, 1.0), Threads(), np.random.RandomState(0))
    project = np.eye(60) if mapping == "free" else centered @ np.linalg.pinv(centered)
    points = project @ init
    history = [cost(points)[0]]
    for t in range(7):
        rate = 0.3 * np.exp(-np.log(0.3 / 0.01) * t / 7)
        points = points - rate * 60 * project @ cost(points)[1]
        history.append(cost(points)[0])
    np.testing.assert_allclose(found.embedding_, points, atol=1e-8 * np.abs(points).max())
    np.testing.assert_allclose(found.cost_history_, history, rtol=1e-8)
    assert found.n_iter_ == 7


def test_plain_steps_come_near_to_what_is_least() -> None:
    settings = {"mapping": "linear", "cost": tsne(10.0), "max_iter": 300, "random_state": 0}
    steps, least = (kind(**settings).fit(mapped_samples()) for kind in (PlainSteps, MappedEmbedding))
    assert least.cost_ < steps.cost_ < 1.15 * least.cost_ < 0.8 * least.cost_history_[0]
