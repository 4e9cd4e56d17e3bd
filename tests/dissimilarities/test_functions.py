"""Each dissimilarity against its definition, written as plainly as possible, and the laws that it has to obey."""

import itertools
import math
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.stats import pearsonr, wasserstein_distance

from protolearn.dissimilarities import (
    _compression,
    alignment,
    cosine,
    cyclic_edit,
    dtw,
    edit,
    emd,
    euclidean,
    geodesic,
    hamming,
    jaccard,
    manhattan,
    ncd,
    pairwise,
    pearson,
    shortest_paths,
    tanimoto,
)
from protolearn.dissimilarities._blocks import encoded_pairs
from protolearn.dissimilarities._pairwise import measure_of

rng = np.random.default_rng(0)
WORDS = ["kitten", "sitting", "", "mitten", "knitting", "sit", "tin", "a", "nit", "mittens"]
PROTEINS = ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYVBX"), length)) for length in (3, 9, 1, 12, 7, 7, 20)]
SERIES = [rng.standard_normal(length) for length in (5, 3, 8, 1, 6, 6, 9)]
TABLE = rng.uniform(0.1, 2.0, (9, 4))
OBJECTS = {
    "edit": WORDS,
    "cyclic_edit": WORDS,
    "hamming": ["abcd", "abdd", "xbcd", "dcba", "aaaa", "abca"],
    "jaccard": WORDS,
    "tanimoto": TABLE,
    "alignment": PROTEINS,
    "ncd": [" ".join(rng.choice(WORDS, 30)) for _ in range(7)],
    "cosine": TABLE,
    "pearson": TABLE,
    "dtw": SERIES,
    "emd": TABLE,
    "euclidean": TABLE,
    "sqeuclidean": TABLE,
    "manhattan": TABLE,
    "chebyshev": TABLE,
    "minkowski": TABLE,
}

symbols = st.text("abc", max_size=7)
numbers = st.lists(st.integers(-8, 8).map(lambda k: k / 2), max_size=6)


def number_cost(a, b):
    return abs(a - b)


def arc(a, b):
    gap = abs(a - b) % 360.0
    return min(gap, 360.0 - gap)


def symbol_cost(a, b):
    return float(a != b)


def edit_by_recursion(x, y, indel=1.0, cost=symbol_cost):
    @cache
    def best(a, b):
        if a == 0 or b == 0:
            return (a + b) * indel
        return min(best(a - 1, b) + indel, best(a, b - 1) + indel, best(a - 1, b - 1) + cost(x[a - 1], y[b - 1]))

    return best(len(x), len(y))


def cyclic_by_rotations(x, y, indel=1.0, cost=symbol_cost):
    """Rotate both sequences, though one would do."""
    return min(
        edit_by_recursion(x[k:] + x[:k], y[j:] + y[:j], indel, cost)
        for k in range(max(1, len(x)))
        for j in range(max(1, len(y)))
    )


def dtw_by_recursion(x, y, window=math.inf):
    x, y = np.reshape(x, (len(x), -1)), np.reshape(y, (len(y), -1))
    reach = max(window, abs(len(x) - len(y)))

    @cache
    def best(a, b):
        if a < 0 or b < 0 or abs(a - b) > reach:
            return math.inf
        before = 0.0 if a == b == 0 else min(best(a - 1, b), best(a, b - 1), best(a - 1, b - 1))
        return before + ((x[a] - y[b]) ** 2).sum()

    return math.sqrt(best(len(x) - 1, len(y) - 1))


def score_by_recursion(x, y, matrix, gap_open, gap_extend, local):
    """Try every column of an alignment last; ``gap`` says which sequence the last column has a gap in."""

    @cache
    def best(a, b, gap):
        if (a, b) == (0, 0):
            return 0.0 if gap == 0 else -math.inf
        if gap == 0:
            if a == 0 or b == 0:
                return 0.0 if local else -math.inf
            value = matrix[x[a - 1], y[b - 1]] + max(best(a - 1, b - 1, g) for g in range(3))
            return max(value, 0.0) if local else value
        a, b = (a, b - 1) if gap == 1 else (a - 1, b)
        if a < 0 or b < 0:
            return -math.inf
        return max(best(a, b, g) - (gap_extend if g == gap else gap_open) for g in range(3))

    ends = itertools.product(range(len(x) + 1), range(len(y) + 1)) if local else [(len(x), len(y))]
    return max(best(a, b, g) for a, b in ends for g in range(3))


def assert_triangle(D):
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-9).all()


class TestEveryMetric:
    @pytest.mark.parametrize("metric", OBJECTS)
    def test_matrix_of_dissimilarities(self, metric):
        D = pairwise(OBJECTS[metric], metric=metric)
        assert D.shape == (len(OBJECTS[metric]),) * 2
        assert (D >= 0).all()
        assert not D.diagonal().any()
        np.testing.assert_array_equal(D, D.T)
        assert D[np.triu_indices(len(D), 1)].any()

    @pytest.mark.parametrize("metric", OBJECTS)
    def test_block_is_part_of_the_whole(self, metric):
        objects = OBJECTS[metric]
        D = pairwise(objects, metric=metric)
        rows, columns = [5, 0, 3], [1, 3, 4, 0]
        block = pairwise([objects[i] for i in rows], [objects[j] for j in columns], metric=metric)
        np.testing.assert_allclose(block, D[np.ix_(rows, columns)], rtol=1e-12, atol=1e-13)

    @pytest.mark.parametrize("metric", OBJECTS)
    def test_same_in_small_tiles_and_threads(self, metric):
        measure = measure_of(metric, {})
        items = measure.encode(OBJECTS[metric])
        whole = encoded_pairs(measure, items, n_jobs=1)
        measure.tile, measure.grain = 2, 2
        np.testing.assert_allclose(encoded_pairs(measure, items, n_jobs=2), whole, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(encoded_pairs(measure, items, items, n_jobs=2), whole, rtol=1e-12, atol=1e-13)

    @pytest.mark.parametrize("metric", OBJECTS)
    def test_encoded_objects_can_be_chosen_by_index(self, metric):
        measure = measure_of(metric, {})
        items = measure.encode(OBJECTS[metric])
        chosen = np.array([4, 1, 1])
        np.testing.assert_allclose(
            measure.block(items[chosen], items[2:4]), measure.block(items, items)[chosen, 2:4], rtol=1e-12, atol=1e-13
        )

    @pytest.mark.parametrize("metric", OBJECTS)
    def test_nothing_to_compare_with(self, metric):
        objects = OBJECTS[metric]
        assert pairwise(objects[:1], metric=metric).tolist() == [[0.0]]
        assert pairwise(objects, objects[:0], metric=metric).shape == (len(objects), 0)

    @pytest.mark.parametrize("metric", ["edit", "hamming", "jaccard", "cyclic_edit", "euclidean", "emd"])
    def test_triangle_inequality(self, metric):
        assert_triangle(pairwise(OBJECTS[metric], metric=metric))

    def test_unknown_parameter(self):
        with pytest.raises(ValueError, match="metric 'edit' has no parameter 'cost'; it has indel, substitution"):
            pairwise(WORDS, metric="edit", cost=2)
        with pytest.raises(ValueError, match="metric 'cosine' has no parameter 'power'; it has none"):
            pairwise(TABLE, metric="cosine", power=2)

    def test_unknown_metric(self):
        with pytest.raises(ValueError, match=r"metric='damerau' must be one of 'edit', .* or a learned metric"):
            pairwise(WORDS, metric="damerau")

    @pytest.mark.parametrize("metric", ["edit", "ncd", "jaccard"])
    def test_a_single_string(self, metric):
        with pytest.raises(ValueError, match="X is a single str; pass a list"):
            pairwise("kitten", metric=metric)


def by_plain_recursion(words):
    measure = measure_of("edit", {})
    coded = measure.encode(words)
    return measure._by_recursion(coded, coded)


def word_near(letters, length, n_changes, draw):
    word = list((letters * length)[:length])
    for _ in range(n_changes):
        word.insert(draw.integers(0, len(word) + 1), draw.choice(list(letters)))
        del word[draw.integers(0, len(word))]
    return "".join(word)


class TestEdit:
    def test_known_pairs(self):
        assert edit(["kitten", "Saturday", ""], ["sitting", "Sunday", "abc"]).diagonal().tolist() == [3.0, 3.0, 3.0]

    @given(st.lists(symbols, min_size=3, max_size=3), st.sampled_from([0.5, 1.0]), st.sampled_from([None, 0.75, 2.5]))
    def test_symbols(self, words, indel, substitution):
        price = 1.0 if substitution is None else substitution
        expected = [[edit_by_recursion(x, y, indel, lambda a, b: price * (a != b)) for y in words] for x in words]
        D = edit(words, indel=indel, substitution=substitution)
        np.testing.assert_allclose(D, expected, rtol=1e-13)
        assert_triangle(D)

    @given(st.lists(numbers, min_size=3, max_size=3), st.sampled_from([0.25, 1.0, 4.5]))
    def test_numbers(self, sequences, indel):
        expected = [[edit_by_recursion(x, y, indel, number_cost) for y in sequences] for x in sequences]
        D = edit(sequences, indel=indel)
        np.testing.assert_array_equal(D, expected)
        assert_triangle(D)

    def test_angles(self):
        walks = [tuple(rng.uniform(-500.0, 900.0, length)) for length in (4, 6, 1, 5)]
        expected = [[edit_by_recursion(x, y, 60.0, arc) for y in walks] for x in walks]
        np.testing.assert_allclose(edit(walks, indel=60.0, period=360.0), expected)

    def test_more_sequences_than_lanes(self):
        sequences = [rng.integers(0, 5, rng.integers(0, 12)).tolist() for _ in range(45)]
        expected = [[edit_by_recursion(x, y, 1.5, number_cost) for y in sequences] for x in sequences[:3]]
        np.testing.assert_array_equal(edit(sequences[:3], sequences, indel=1.5), expected)

    @given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 5)), min_size=2, max_size=5), st.integers(0, 999))
    def test_counts_of_edits(self, shapes, seed):
        draw = np.random.default_rng(seed)
        words = [word_near("abé漢\U0001f600", length, n_changes, draw) for length, n_changes in shapes]
        np.testing.assert_array_equal(edit(words), by_plain_recursion(words))

    @pytest.mark.parametrize("longest", [0, 1, 3, 20, 64, 70, 200])
    @pytest.mark.parametrize("letters", ["a", "ab", "abcdefghijklmnopqrstuvwxyz", "aé漢\U0001f600\ud800\x00"])
    def test_counts_of_edits_of_many_lengths(self, letters, longest):
        draw = np.random.default_rng(longest)
        words = ["".join(draw.choice(list(letters), draw.integers(0, longest + 1))) for _ in range(90)]
        np.testing.assert_array_equal(edit(words, words[:40]), by_plain_recursion(words)[:, :40])

    @pytest.mark.parametrize("longer", [31, 32, 33, 63, 64, 65, 127, 128, 129, 192])
    @pytest.mark.parametrize("shorter", [0, 1, 31, 64, 65, 129])
    def test_counts_of_edits_at_the_ends_of_words(self, longer, shorter):
        alike, unlike = "ab" * 100, "c" * 200
        words = [alike[:longer], alike[1 : longer + 1], unlike[:longer]]
        others = [alike[:shorter], unlike[:shorter], alike[-shorter:] if shorter else ""]
        expected = by_plain_recursion(words + others)
        np.testing.assert_array_equal(edit(words, others), expected[:3, 3:])
        np.testing.assert_array_equal(edit(words + others), expected)

    def test_equal_costs_scale_the_counts(self):
        np.testing.assert_array_equal(edit(WORDS, indel=2.5, substitution=2.5), 2.5 * edit(WORDS))

    def test_symbols_of_any_kind(self):
        verses = [["to", "be"], ("not", "to", "be"), []]
        coded = ["ab", "cab", ""]
        np.testing.assert_array_equal(edit(verses), edit(coded))
        np.testing.assert_array_equal(edit([word.encode() for word in coded]), edit(coded))
        np.testing.assert_array_equal(edit([[7, 1], [9, 7, 1], []], substitution=1.0), edit(coded))
        np.testing.assert_array_equal(edit(verses[:2], coded_as_words(coded[:2])), edit(["ab", "cab"], ["xy", "zxy"]))

    @pytest.mark.parametrize(
        "others", [["a", "bcd"], [b"a", b"bcd"], [[1.0], [2.0, 3.0, 4.0]]], ids=["symbols", "bytes", "numbers"]
    )
    def test_empty_sequences_are_of_any_kind(self, others):
        np.testing.assert_array_equal(edit([[], ()], others), [[1.0, 3.0], [1.0, 3.0]])
        np.testing.assert_array_equal(edit(others, [[]]), [[1.0], [3.0]])

    def test_strings_of_an_array_or_series(self):
        for collection in (np.array(WORDS), pd.Series(WORDS)):
            np.testing.assert_array_equal(edit(collection), edit(WORDS))

    def test_normalized_by_the_longer(self):
        D = edit(WORDS, normalize=True)
        assert D[0, 1] == pytest.approx(3 / 7)
        assert D[0, 2] == 1.0
        assert edit([""], [""], normalize=True) == 0.0
        assert edit([[0.0, 3.0]], [[1.0]], indel=4.0, normalize=True) == pytest.approx(5.0 / 2)

    @pytest.mark.parametrize(
        ("objects", "parameters", "message"),
        [
            (["a", [1.0]], {}, "X mixes numbers and strings"),
            (["a", 3], {}, "Objects must be strings or sequences, got 3"),
            ([[1.0, np.nan]], {}, r"X\[0\] contains NaN"),
            ([[1.0], np.ones((2, 2))], {}, r"X\[1\] must be a sequence of numbers, got an array of shape \(2, 2\)"),
            (["a"], {"period": 360}, "period=360.* needs sequences of numbers"),
            (["a"], {"indel": 0}, "indel=0 must be a number in"),
            (["a"], {"substitution": -1}, "substitution=-1 must be"),
        ],
    )
    def test_errors(self, objects, parameters, message):
        with pytest.raises(ValueError, match=message):
            edit(objects, **parameters)

    def test_kinds_of_both_collections(self):
        with pytest.raises(ValueError, match="Y mixes numbers and strings"):
            edit(["a"], [[1.0]])


def coded_as_words(texts):
    """Words that the others do not have."""
    return [[f"-{letter}" for letter in text] for text in texts]


class TestCyclicEdit:
    @settings(max_examples=60)
    @given(st.lists(st.text("abc", max_size=6), min_size=3, max_size=3), st.sampled_from([None, 1.5]))
    def test_symbols(self, words, substitution):
        price = 1.0 if substitution is None else substitution
        expected = [[cyclic_by_rotations(x, y, 1.0, lambda a, b: price * (a != b)) for y in words] for x in words]
        D = cyclic_edit(words, substitution=substitution)
        np.testing.assert_allclose(D, expected, rtol=1e-13)
        assert_triangle(D)

    @pytest.mark.parametrize(("period", "cost"), [(None, number_cost), (360.0, arc)], ids=["line", "circle"])
    @pytest.mark.parametrize("indel", [5.0, 60.0, 300.0])
    def test_numbers(self, period, cost, indel):
        generator = np.random.default_rng(1)
        walks = [tuple(generator.uniform(0.0, 360.0, length)) for length in (8, 1, 9, 5, 0, 8)]
        expected = [[cyclic_by_rotations(x, y, indel, cost) for y in walks] for x in walks]
        np.testing.assert_allclose(cyclic_edit(walks, indel=indel, period=period), expected)

    def test_long_sequences_at_every_rotation(self):
        """Cyclic distances are the least of plain ones, which have an oracle of their own."""
        generator = np.random.default_rng(2)
        x, y = np.cumsum(generator.normal(size=70)), np.cumsum(generator.normal(size=57))
        rotations = [np.roll(x, k) for k in range(len(x))]
        assert cyclic_edit([x], [y]) == pytest.approx(edit(rotations, [y]).min(), rel=1e-13)

    def test_no_difference_where_cycles_start(self):
        x, y = rng.standard_normal(20), rng.standard_normal(17)
        turned = [np.roll(x, k) for k in (0, 3, 11)]
        D = cyclic_edit([*turned, y])
        assert not D[:3, :3].any()
        np.testing.assert_allclose(D[:3, 3], D[0, 3], rtol=1e-13)

    def test_exactly_symmetric(self):
        walks = [rng.uniform(0.0, 1.0, length) for length in (9, 9, 12, 7, 9)]
        np.testing.assert_array_equal(cyclic_edit(walks, walks), cyclic_edit(walks, walks).T)


class TestHamming:
    @given(st.lists(st.text("ab", min_size=4, max_size=4), min_size=2, max_size=5))
    def test_counts_and_shares(self, words):
        expected = [[sum(a != b for a, b in zip(x, y)) for y in words] for x in words]
        np.testing.assert_array_equal(hamming(words, normalize=False), expected)
        np.testing.assert_allclose(hamming(words), np.array(expected) / 4)

    def test_tables(self):
        table = rng.integers(0, 3, (5, 6))
        expected = (table[:, None] != table[None]).mean(axis=2)
        np.testing.assert_allclose(hamming(table), expected)
        np.testing.assert_allclose(hamming(table == 1), ((table == 1)[:, None] != (table == 1)[None]).mean(axis=2))
        frame = pd.DataFrame({"size": [1, 2, 1], "color": ["red", "red", "blue"]})
        np.testing.assert_array_equal(hamming(frame), [[0, 0.5, 0.5], [0.5, 0, 1], [0.5, 1, 0]])

    def test_lengths(self):
        with pytest.raises(ValueError, match=r"X\[1\] has length 2, the first object 3; .* edit distances do not"):
            hamming(["abc", "ab"])
        with pytest.raises(ValueError, match=r"Y\[0\] has length 1"):
            hamming(["abc"], ["a"])
        assert hamming(["", ""]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


class TestJaccard:
    @given(st.lists(st.frozensets(st.integers(0, 5)), min_size=3, max_size=5))
    def test_sets(self, sets):
        expected = [[1 - len(x & y) / len(x | y) if x | y else 0.0 for y in sets] for x in sets]
        D = jaccard(sets)
        np.testing.assert_allclose(D, expected, atol=1e-15)
        assert_triangle(D)

    def test_all_ways_to_write_sets(self):
        texts = ["abac", "cd", "", "dcb"]
        rows = np.array([[letter in text for letter in "abcd"] for text in texts], dtype=int)
        expected = jaccard([set(text) for text in texts])
        for objects in (
            texts,
            [list(text) for text in texts],
            rows,
            rows.tolist(),
            rows == 1,
            csr_array(rows),
            list(rows),
        ):
            np.testing.assert_allclose(jaccard(objects), expected)

    def test_ngrams(self):
        assert jaccard(["night"], ["nacht"], ngram=2)[0, 0] == pytest.approx(1 - 1 / 7)
        assert jaccard(["a"], ["a", "abc"], ngram=2).tolist() == [[0.0, 1.0]]
        assert jaccard([["to", "be", "or"]], [("or", "to", "be")], ngram=2)[0, 0] == pytest.approx(1 - 1 / 3)

    def test_errors(self):
        with pytest.raises(ValueError, match="X must contain only zeros and ones"):
            jaccard([[0.0, 2.0]])
        with pytest.raises(ValueError, match="Y has 3 columns, the other objects 2"):
            jaccard(np.eye(2), np.eye(3))
        with pytest.raises(ValueError, match="Y mixes sets and rows of zeros and ones"):
            jaccard(["ab"], np.eye(2))
        with pytest.raises(ValueError, match="Y mixes sets and rows of zeros and ones"):
            jaccard(np.eye(2), ["ab"])
        with pytest.raises(ValueError, match="ngram=0"):
            jaccard(WORDS, ngram=0)


class TestNcd:
    def test_definition(self):
        import bz2

        def size(text):
            return len(bz2.compress(text.encode(), 9))

        first, second = OBJECTS["ncd"][0], OBJECTS["ncd"][1] + " and more"
        expected = (size(first + second) - min(size(first), size(second))) / max(size(first), size(second))
        assert ncd([second], [first])[0, 0] == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("compressor", ["bz2", "lzma", "zlib", "zstd"])
    def test_tells_topics_apart(self, compressor):
        sea = ["the gray water lay calm under a low wind", "a low wind blew over the calm gray water"]
        sums = ["forty times nine makes three hundred sixty", "three hundred sixty by nine makes forty"]
        D = ncd([text * 6 for text in sea + sums], compressor=compressor)
        assert max(D[0, 1], D[2, 3]) < D[:2, 2:].min()
        np.testing.assert_array_equal(D, D.T)

    def test_symmetric_between_collections_and_zero_for_equal_texts(self):
        texts = OBJECTS["ncd"]
        D = ncd(texts, list(texts), compressor="zlib")
        np.testing.assert_array_equal(D, D.T)
        assert not D.diagonal().any()

    def test_bytes_and_strings(self):
        texts = OBJECTS["ncd"]
        np.testing.assert_array_equal(ncd(texts), ncd([text.encode() for text in texts]))

    def test_large_texts_see_each_other(self):
        noise = np.random.default_rng(0).bytes(150_000)
        assert ncd([noise], [noise + b"!"])[0, 0] < 0.6

    def test_single_texts_are_compressed_once(self):
        calls = []

        def size(data):
            calls.append(data)
            return len(data)

        ncd(["ab", "cde"], compressor=size)
        assert sorted(calls) == [b"ab", b"abcde", b"cde"]
        ncd(["ab"], ["cde", "f"], compressor=size)
        assert sorted(calls[3:]) == [b"abcde", b"f", b"fab"]

    def test_forgets_the_oldest(self, monkeypatch):
        monkeypatch.setattr(_compression, "_MOST_REMEMBERED", 2)
        monkeypatch.setattr(_compression, "_REMEMBERED", type(_compression._REMEMBERED)())
        ncd(["a", "b", "c", "d"], compressor=len)
        assert len(_compression._REMEMBERED) == 2

    def test_errors(self):
        with pytest.raises(ValueError, match=r"Y\[1\] must be a str or bytes, got int"):
            ncd(["a"], ["b", 3])
        with pytest.raises(ValueError, match="compressor='rar' must be one of 'bz2', 'lzma'"):
            ncd(["a"], compressor="rar")


class TestVectors:
    def test_definitions(self):
        X, Y = rng.standard_normal((6, 5)), rng.standard_normal((4, 5))
        dots, x, y = X @ Y.T, (X**2).sum(axis=1)[:, None], (Y**2).sum(axis=1)
        np.testing.assert_allclose(cosine(X, Y), 1 - dots / np.sqrt(x * y))
        np.testing.assert_allclose(tanimoto(X, Y), 1 - dots / (x + y - dots))
        np.testing.assert_allclose(euclidean(X, Y), np.sqrt(x + y - 2 * dots))
        np.testing.assert_allclose(manhattan(X, Y), np.abs(X[:, None] - Y).sum(axis=2))
        correlations = np.array([[pearsonr(a, b)[0] for b in Y] for a in X])
        np.testing.assert_allclose(pearson(X, Y), 1 - correlations)
        np.testing.assert_allclose(pearson(X, Y, power=0.5), np.sqrt(1 - correlations))

    def test_tanimoto_of_sets_is_jaccard(self):
        rows = np.vstack([rng.integers(0, 2, (6, 7)), np.zeros((2, 7))])
        np.testing.assert_allclose(tanimoto(rows), jaccard(rows), atol=1e-14)

    def test_what_does_not_matter(self):
        scales = np.array([[1e-200], [1e200], [3.0]])
        X = rng.standard_normal((3, 5))
        np.testing.assert_allclose(cosine(scales * X), cosine(X), atol=1e-14)
        assert not cosine(X, 7.0 * X).diagonal().any()
        assert not pearson(X, 7.0 * X + 2.0, power=0.5).diagonal().any()

    @pytest.mark.parametrize("function", [cosine, pearson, tanimoto, euclidean, manhattan, emd])
    def test_errors(self, function):
        with pytest.raises(ValueError, match=r"X contains NaN or infinity .first in row 1"):
            function([[1.0, 2.0], [np.nan, 1.0]])
        with pytest.raises(ValueError, match="Y has 3 columns, the other vectors 2"):
            function([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
        with pytest.raises(ValueError, match="X must be a table of numbers"):
            function([1.0, 2.0])
        with pytest.raises(ValueError, match="X must be a table of numbers"):
            function([[1.0], [1.0, 2.0]])
        with pytest.raises(ValueError, match="X is sparse"):
            function(csr_array(np.eye(2)))

    def test_nothing_to_measure_by(self):
        with pytest.raises(ValueError, match=r"X\[1\] is zero; there is no angle to it"):
            cosine([[1.0, 0.0], [0.0, 0.0]])
        with pytest.raises(ValueError, match=r"Y\[0\] is constant; it has no correlation"):
            pearson([[1.0, 2.0, 4.0]], [[0.1 + 0.2, 0.3, 0.3]])
        with pytest.raises(ValueError, match="power=0 must be"):
            pearson(TABLE, power=0)


class TestDtw:
    @pytest.mark.parametrize("window", [None, 0, 1, 3])
    def test_series(self, window):
        expected = [[dtw_by_recursion(x, y, math.inf if window is None else window) for y in SERIES] for x in SERIES]
        np.testing.assert_allclose(dtw(SERIES, window=window), expected, atol=1e-15)

    @pytest.mark.parametrize("window", [None, 2])
    def test_vectors(self, window):
        tracks = [rng.standard_normal((length, 3)) for length in rng.integers(1, 9, 20)]
        expected = [
            [dtw_by_recursion(x, y, math.inf if window is None else window) for y in tracks] for x in tracks[:4]
        ]
        np.testing.assert_allclose(dtw(tracks[:4], tracks, window=window), expected, atol=1e-15)

    def test_between_euclidean_and_free(self):
        waves = rng.standard_normal((6, 12))
        distances = [dtw(waves, window=window) for window in (None, 4, 2, 1, 0)]
        assert all((a <= b + 1e-12).all() for a, b in itertools.pairwise(distances))
        np.testing.assert_allclose(distances[-1], euclidean(waves))

    def test_same_at_any_speed(self):
        wave = np.sin(np.linspace(0, 6, 15))
        assert dtw([wave], [np.repeat(wave, 3)]) == 0.0

    @pytest.mark.parametrize(
        ("objects", "parameters", "message"),
        [
            ([[1.0], []], {}, r"X\[1\] is empty"),
            ([[1.0]], {"window": -1}, "window=-1 must be an integer"),
            ([["a"]], {}, r"X\[0\] must be a sequence of numbers"),
        ],
    )
    def test_errors(self, objects, parameters, message):
        with pytest.raises(ValueError, match=message):
            dtw(objects, **parameters)

    def test_widths(self):
        with pytest.raises(ValueError, match="Y has series of 1 values in a step, the others 2"):
            dtw([np.ones((3, 2))], [np.ones(3)])


class TestAlignment:
    @pytest.mark.parametrize("mode", ["global", "local"])
    @pytest.mark.parametrize("gaps", [(11.0, 1.0), (3.0, 3.0), (2.0, 0.0)], ids=str)
    def test_scores(self, mode, gaps):
        from Bio.Align import substitution_matrices

        matrix = substitution_matrices.load("BLOSUM62")
        scores = np.array(
            [[score_by_recursion(x, y, matrix, *gaps, mode == "local") for y in PROTEINS] for x in PROTEINS]
        )
        own = scores.diagonal()
        options = {"gap_open": gaps[0], "gap_extend": gaps[1], "mode": mode}
        np.testing.assert_allclose(alignment(PROTEINS, normalize=False, **options), own[:, None] + own - 2 * scores)
        np.testing.assert_allclose(alignment(PROTEINS, **options), 1 - scores / np.sqrt(np.outer(own, own)), atol=1e-15)

    def test_more_sequences_than_lanes_as_biopython(self):
        from Bio.Align import PairwiseAligner, substitution_matrices

        aligner = PairwiseAligner(
            substitution_matrix=substitution_matrices.load("PAM250"), open_gap_score=-10, extend_gap_score=-0.5
        )
        proteins = ["".join(rng.choice(list("ARNDCQEGHILK"), length)) for length in rng.integers(1, 30, 40)]
        scores = np.array([[aligner.score(x, y) for y in proteins] for x in proteins])
        own = scores.diagonal()
        D = alignment(proteins, matrix="PAM250", gap_open=10, gap_extend=0.5, normalize=False)
        np.testing.assert_allclose(D, own[:, None] + own - 2 * scores)

    def test_own_matrix(self):
        from Bio.Align import substitution_matrices

        matrix = substitution_matrices.Array("01", data=np.array([[2.0, -1.0], [-1.0, 2.0]]))
        D = alignment(["0101"], ["0101", "0111", "010"], matrix=matrix, gap_open=1, gap_extend=1, normalize=False)
        assert D.tolist() == [[0.0, 6.0, 4.0]]
        skewed = substitution_matrices.Array("01", data=np.array([[2.0, -1.0], [0.0, 2.0]]))
        with pytest.raises(ValueError, match="matrix must be symmetric"):
            alignment(["01"], matrix=skewed)

    @pytest.mark.parametrize(
        ("objects", "parameters", "message"),
        [
            (["ARN", "A漢"], {}, r"X\[1\] contains '漢', which is not among the letters 'ARND"),
            (["", "a"], {"normalize": False}, r"X\[1\] contains 'a'"),
            (["AR", ""], {}, r"X\[1\] has the score 0 with itself"),
            ([["A"]], {}, r"X\[0\] must be a str, got list"),
            (["A"], {"matrix": "BLOSUM61"}, "matrix='BLOSUM61' must be one of"),
            (["A"], {"mode": "glocal"}, "mode='glocal' must be one of"),
            (["A"], {"gap_open": 1, "gap_extend": 2}, "gap_extend=2 must be a number in .0, 1.; extending"),
        ],
    )
    def test_errors(self, objects, parameters, message):
        with pytest.raises(ValueError, match=message):
            alignment(objects, **parameters)


class TestEmd:
    def test_line(self):
        X, Y = rng.uniform(0, 1, (4, 6)), rng.uniform(0, 5, (3, 6))
        bins = np.arange(6)
        expected = [[wasserstein_distance(bins, bins, x, y) for y in Y] for x in X]
        np.testing.assert_allclose(emd(X, Y), expected)

    def test_any_ground(self):
        X = rng.uniform(0, 1, (3, 4)) * (rng.uniform(0, 1, (3, 4)) > 0.2)
        X /= X.sum(axis=1, keepdims=True)
        ground = euclidean(rng.standard_normal((4, 2)))
        flows_from, flows_to = np.kron(np.eye(4), np.ones(4)), np.kron(np.ones(4), np.eye(4))
        expected = [
            [linprog(ground.ravel(), A_eq=np.vstack([flows_from, flows_to]), b_eq=[*x, *y]).fun for y in X] for x in X
        ]
        np.testing.assert_allclose(emd(X, ground=ground), expected, atol=1e-9)

    def test_line_as_ground(self):
        line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
        np.testing.assert_allclose(emd(TABLE, ground=line), emd(TABLE), atol=1e-12)

    def test_errors(self):
        with pytest.raises(ValueError, match=r"X\[1\] is not a histogram"):
            emd([[1.0, 2.0], [0.0, 0.0]])
        with pytest.raises(ValueError, match=r"X\[0\] is not a histogram"):
            emd([[1.0, -2.0]])
        with pytest.raises(ValueError, match="ground has 2 bins, but X has 4"):
            emd(TABLE, ground=[[0, 1], [1, 0]])
        with pytest.raises(ValueError, match="ground must be a square symmetric matrix"):
            emd(TABLE, ground=np.ones((4, 4)))


class TestGeodesic:
    def test_along_a_circle(self):
        angle = np.arange(24) * 2 * np.pi / 24
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        steps = np.abs(np.subtract.outer(np.arange(24), np.arange(24)))
        chord = 2 * np.sin(np.pi / 24)
        D = geodesic(circle, n_neighbors=2)
        np.testing.assert_allclose(D, chord * np.minimum(steps, 24 - steps), atol=1e-12)
        np.testing.assert_array_equal(D, D.T)
        assert_triangle(D)
        np.testing.assert_allclose(geodesic(euclidean(circle), n_neighbors=2, metric="precomputed"), D, atol=1e-12)

    def test_with_all_neighbors_it_is_the_distance_itself(self):
        np.testing.assert_allclose(geodesic(TABLE, n_neighbors=8), euclidean(TABLE))

    def test_objects_at_the_same_place(self):
        X = [[0.0], [0.0], [1.0], [1.0], [2.0]]
        np.testing.assert_allclose(geodesic(X, n_neighbors=2), np.abs(np.subtract.outer(np.ravel(X), np.ravel(X))))

    @pytest.mark.parametrize("metric", ["euclidean", "precomputed", "manhattan"])
    def test_within_a_radius_and_joined(self, metric):
        """On a line paths are distances, whatever joins its points."""
        x = np.concatenate([np.arange(4.0), np.arange(100.0, 103.0), [150.0]])[:, None]
        D = np.abs(x - x.T)
        with pytest.warns(UserWarning, match="radius=1 .* falls into 3 components, of 4, 3, 1 objects"):
            found = geodesic(D if metric == "precomputed" else x, radius=1.0, components="connect", metric=metric)
        np.testing.assert_allclose(found, D)
        np.testing.assert_allclose(geodesic(x, radius=200.0), D)

    def test_shortest_paths_are_those_of_a_square(self):
        steps = csr_array(np.array([[0.0, 1.0, 0.0, 9.0], [0, 0, 4.0, 0], [0, 0, 0, 1.0], [0, 0, 0, 0]]))
        np.testing.assert_allclose(shortest_paths(steps)[0], [0.0, 1.0, 3.0, 3.0])

    def test_errors(self):
        apart = np.concatenate([np.arange(4.0), np.arange(100.0, 103.0)])[:, None]
        with pytest.raises(ValueError, match=r"radius=1 .* 2 components, of 4, 3 objects.* Raise radius"):
            geodesic(apart, radius=1.0)
        with pytest.raises(ValueError, match="components='largest' must be one of 'raise', 'connect'"):
            geodesic(apart, components="largest")
        with pytest.raises(ValueError, match=r"n_neighbors=2 .* 2 components, of 4, 3 objects.* Raise n_neighbors"):
            geodesic(apart, n_neighbors=2)
        with pytest.raises(ValueError, match=r"n_neighbors=7 must be an integer in .1, 6."):
            geodesic(apart, n_neighbors=7)


class TestFunctionsOfTwoObjects:
    def test_each_pair_once(self):
        pairs = []

        def record(a, b):
            pairs.append((a, b))
            return (a - b) ** 2

        D = pairwise(range(5), metric=record)
        n_tried = 2 * 10 + 5  # whether it is symmetric
        assert sorted(pairs[n_tried:]) == list(itertools.combinations(range(5), 2))
        np.testing.assert_array_equal(D, np.subtract.outer(np.arange(5), np.arange(5)) ** 2)

    def test_arrays_and_parameters(self):
        def power(a, b, exponent):
            return (np.abs(a - b) ** exponent).sum()

        expected = np.abs(TABLE[:, None] - TABLE[None]).sum(axis=2)
        np.testing.assert_allclose(pairwise(TABLE, metric=power, exponent=1), expected)
        np.testing.assert_allclose(pairwise(list(TABLE), TABLE[:2], metric=power, exponent=1), expected[:, :2])

    def test_failure_names_the_pair_and_keeps_the_cause(self):
        def picky(a, b):
            if {a, b} == {40, 3}:
                raise KeyError("no")
            return float(a != b)

        with pytest.raises(ValueError, match=r"picky\(X\[3\], X\[40\]\) failed: KeyError: 'no'") as caught:
            pairwise(range(70), metric=picky)
        assert isinstance(caught.value.__cause__, KeyError)
        with pytest.raises(ValueError, match=r"picky\(X\[40\], Y\[3\]\) failed"):
            pairwise(range(70), list(range(5)), metric=picky)

    @pytest.mark.parametrize("value", [math.nan, -0.5, math.inf, None, "3", [1.0], np.ones(1), 1j])
    def test_not_a_dissimilarity(self, value):
        def strange(a, b):
            return value if (a, b) == (1, 2) else 0.5

        with pytest.raises(ValueError, match=r"strange\(X\[1\], X\[2\]\) returned .*; it must be a number, 0 or more"):
            pairwise(range(4), metric=strange)

    @pytest.mark.parametrize("value", [2, np.float32(2), np.int64(2), np.array(2.0)], ids=str)
    def test_numbers_of_any_kind(self, value):
        assert pairwise([0], [1], metric=lambda a, b: value).tolist() == [[2.0]]


class TestProgress:
    @pytest.mark.parametrize("metric", ["euclidean", "ncd"])
    def test_about_ten_lines(self, metric, capsys):
        X = rng.uniform(size=(1500, 2)) if metric == "euclidean" else OBJECTS["ncd"]
        pairwise(X, metric=metric, verbose=1)
        lines = capsys.readouterr().out.splitlines()
        assert 3 <= len(lines) <= 10
        assert f"[{metric}] 100% of " in lines[-1]

    def test_silent_by_default(self, capsys):
        pairwise(WORDS, metric="edit")
        assert capsys.readouterr().out == ""

    def test_many_tiles_mirror_exactly(self):
        X = rng.standard_normal((700, 3))
        D = pairwise(X, metric="cosine", n_jobs=2)
        np.testing.assert_array_equal(D, D.T)
        np.testing.assert_allclose(D[650:, :30], cosine(X[650:], X[:30]), atol=1e-13)


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [
        ("zstandard", "zstd", {"X": ["a"], "metric": "ncd", "compressor": "zstd"}),
        ("ot", "transport", {"X": np.eye(2), "metric": "emd", "ground": 1 - np.eye(2)}),
        ("Bio.Align.substitution_matrices", "strings", {"X": ["A"], "metric": "alignment"}),
    ],
    ids=["zstd", "transport", "strings"],
)
def test_missing_package_names_its_extra(module, extra, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'protolearn\[{extra}\]'"):
        pairwise(**call)
