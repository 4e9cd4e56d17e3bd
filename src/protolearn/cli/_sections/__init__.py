"""The chapters of the demo: each a function that trains its maps and returns a Section.

To add one, write a module with such a function and add it to ``SECTIONS`` under what it does.
"""

from collections.abc import Callable

from protolearn.cli._report import Section
from protolearn.cli._sections._effort import FULL, QUICK, Effort
from protolearn.cli._sections.classifier import classifier_section
from protolearn.cli._sections.code import code_section
from protolearn.cli._sections.digits import digits_section
from protolearn.cli._sections.idea import idea_section
from protolearn.cli._sections.images import images_section
from protolearn.cli._sections.lvq import lvq_section
from protolearn.cli._sections.mappings import mappings_section
from protolearn.cli._sections.shapes import shapes_section
from protolearn.cli._sections.views import views_section
from protolearn.cli._sections.wine import wine_section
from protolearn.cli._sections.words import words_section

__all__ = ["FULL", "QUICK", "SECTIONS", "Effort"]

SECTIONS: dict[str, Callable[[Effort], Section]] = {
    "Unfolding a lattice": idea_section,
    "Mapping wines": wine_section,
    "Mapping digits": digits_section,
    "Classifying digits": classifier_section,
    "Learning a distance": lvq_section,
    "Giving prototypes a shape": shapes_section,
    "Mapping languages and words": words_section,
    "Viewing digits": views_section,
    "Charting a sheet, placing digits": mappings_section,
    "Finding images, recognizing textures": images_section,
    "Running the ten lines": code_section,
}
