"""The coverings that replace full products of parameters in the tests."""

from itertools import combinations, product

import pytest


@pytest.fixture
def covering(pytestconfig):
    return pytestconfig.pluginmanager.get_plugin(str(pytestconfig.rootpath / "conftest.py")).covering


@pytest.mark.parametrize("sizes", [(2,), (3, 2), (2, 2, 2), (3, 3, 3, 5), (5, 2, 1, 4, 3)])
def test_every_two_values_meet(covering, sizes):
    rows = covering(sizes)
    for one, other in combinations(range(len(sizes)), 2):
        assert {(row[one], row[other]) for row in rows} == set(product(range(sizes[one]), range(sizes[other])))
    assert len(set(rows)) == len(rows) <= len(list(product(*map(range, sizes))))


def test_fewer_rows_than_the_product(covering):
    assert len(covering((3, 3, 3, 5))) <= 20  # of 135; 15 is the least


@pytest.mark.pairwise(letter="ab", number=[1, 2, 3], flag=[False, True])
def test_a_marked_test_gets_the_values(letter, number, flag):
    assert letter in "ab"
    assert number in (1, 2, 3)
    assert flag in (False, True)
