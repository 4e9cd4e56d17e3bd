"""The chapters of the demo: each a function that trains its maps and returns a Section.

To add one, write a module with such a function and name it in ``SECTIONS``.
"""

from collections.abc import Callable

from protolearn.cli._report import Section
from protolearn.cli._sections._effort import FULL, QUICK, Effort
from protolearn.cli._sections.classifier import classifier_section
from protolearn.cli._sections.code import code_section
from protolearn.cli._sections.digits import digits_section
from protolearn.cli._sections.idea import idea_section
from protolearn.cli._sections.wine import wine_section

__all__ = ["FULL", "QUICK", "SECTIONS", "Effort"]

SECTIONS: dict[Callable[[Effort], Section], str] = {
    idea_section: "Unfolding a lattice",
    wine_section: "Mapping wines",
    digits_section: "Mapping digits",
    classifier_section: "Classifying digits",
    code_section: "Running the ten lines",
}
