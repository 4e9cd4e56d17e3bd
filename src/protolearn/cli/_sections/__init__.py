"""The chapters of the demo: each a function that trains its models and returns a Section.

To add one, write a module with such a function and add it to ``SECTIONS`` under what it does.
"""

from collections.abc import Callable

from protolearn.cli._report import Section
from protolearn.cli._sections._effort import FULL, QUICK, Effort
from protolearn.cli._sections.lvq import lvq_section
from protolearn.cli._sections.views import views_section
from protolearn.cli._sections.wine import wine_section
from protolearn.cli._sections.words import words_section

__all__ = ["FULL", "QUICK", "SECTIONS", "Effort"]

SECTIONS: dict[str, Callable[[Effort], Section]] = {
    "Mapping wines": wine_section,
    "Classifying digits and wines": lvq_section,
    "Mapping languages and words": words_section,
    "Embedding digits": views_section,
}
