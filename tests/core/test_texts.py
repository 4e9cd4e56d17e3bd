"""Texts of files in outputs: nothing that is hidden passes, and nothing is a formula."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protolearn.core.texts import as_cell, from_cell, visible_json

HIDDEN = "\x00\x1b\x7f\x85\x9b\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\ud800\U000e0041"


def test_json_shows_everything_and_loses_nothing():
    value = {f"name {HIDDEN}": ["Größe, 大きさ, 🙂", HIDDEN, 1.5, None]}
    for indent in (None, 2):
        text = visible_json(value, indent)
        assert all(unicodedata.category(letter)[0] != "C" or letter == "\n" for letter in text)
        assert "Größe, 大きさ, 🙂" in text
        assert not set(HIDDEN) & set(text)
        assert json.loads(text) == value


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-cmd|' /C calc'!A0", "＝1"])
def test_formulas_begin_with_an_apostrophe(text):
    assert as_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-5, -5.5, "-5", "+5", "-5.5e3", "-1,5", "a=b", "O'Hara", "'quoted'", "", None, True])
def test_numbers_and_other_texts_are_left_alone(value):
    assert as_cell(value) is value


@given(st.one_of(st.text(alphabet="'=+-@ \t15,.a"), st.text()))
def test_cells_are_read_as_they_were(text):
    assert from_cell(as_cell(text)) == text
