"""The same in ten lines of code, which the demo executes."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from protolearn.cli._pictures import to_png
from protolearn.cli._report import Block, Code, Picture, Prose, Section
from protolearn.cli._sections._effort import Effort

__all__ = ["SOURCE", "code_section"]

SOURCE = """\
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from protolearn import SOM, NeuralGas, PrototypeClassifier
from protolearn.plotting import plot_class_map

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
gas = NeuralGas(n_prototypes=30, label_weight=0.5, random_state=0)
classifier = PrototypeClassifier(gas).fit(X_train, y_train)
print(f"accuracy: {classifier.score(X_test, y_test):.3f}")
ax = plot_class_map(SOM().fit(X_train), y=y_train)
"""


def code_section(effort: Effort) -> Section:
    """Show the lines, what they print and what they draw."""
    names, printed = run(SOURCE)
    prose = """
        All maps are scikit-learn estimators: they work in pipelines, grid searches and cross-validation, and
        <code>partial_fit</code> learns from data that do not fit into memory, batch by batch. These lines print the
        accuracy of supervised neural gas and draw a class map:
    """
    picture = Picture(to_png(names["ax"]), "Class map of the digits", "The plot of the last line.")
    blocks: list[Block] = [Prose(prose), Code(SOURCE, printed), picture]
    return Section("code", "Do it yourself in ten lines", blocks, {"names": names, "printed": printed})


def run(source: str) -> tuple[dict[str, Any], str]:
    """Run source code; return the names it defines and what it prints."""
    names: dict[str, Any] = {}
    with redirect_stdout(StringIO()) as printed:
        exec(source, names)
    return names, printed.getvalue()
