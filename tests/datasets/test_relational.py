from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from experiments.datasets import make_connectivity, make_pseudo_euclidean
from protolearn.datasets import load_words, make_string_classes, make_topic_texts
from protolearn.dissimilarities import check_dissimilarities, signature

# name: (generator, number of objects, number of classes)
GENERATORS = {
    "pseudo_euclidean": (make_pseudo_euclidean, 200, 4),
    "string_classes": (make_string_classes, 200, 5),
    "connectivity": (make_connectivity, 65, 4),
    "topic_texts": (make_topic_texts, 400, 4),
}
KINDS = ["levels", "angles", "letters"]


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


class TestEveryGenerator:
    @pytest.mark.parametrize("name", GENERATORS)
    def test_objects_and_classes(self, name):
        make, n, n_classes = GENERATORS[name]
        objects, y = make(random_state=0)
        assert len(objects) == n
        assert y.shape == (n,)
        np.testing.assert_array_equal(np.unique(y), np.arange(n_classes))
        assert np.mean(y[1:] == y[:-1]) < 0.6

    @pytest.mark.parametrize("name", GENERATORS)
    def test_the_seed_decides(self, name):
        make = GENERATORS[name][0]
        rng = np.random.RandomState(3)
        (one, y), (other, _) = make(random_state=rng), make(random_state=rng)
        same, same_y = make(random_state=3)
        np.testing.assert_array_equal(y, same_y)
        assert all(np.array_equal(a, b) for a, b in zip(one, same))
        assert not any(np.array_equal(a, b) for a, b in zip(one, other))

    @pytest.mark.parametrize(
        ("name", "wrong", "message"),
        [
            ("pseudo_euclidean", {"n_positive": 0}, "n_positive=0 must be an integer in .1, inf."),
            ("pseudo_euclidean", {"scale": -1}, "scale=-1 must be a number in .0, inf."),
            ("string_classes", {"mutation": 1.5}, "mutation=1.5 must be a number in .0, 1."),
            ("string_classes", {"kind": "words"}, "kind='words' must be one of 'levels', 'angles', 'letters'"),
            ("connectivity", {"sizes": (3, 0)}, "sizes=0 must be an integer in .1, inf."),
            ("topic_texts", {"n_words": 1}, "n_words=1 must be an integer in .2, inf."),
            ("topic_texts", {"n_topics": 5000}, "n_topics=5000 must be an integer in .1, 1000."),
        ],
    )
    def test_errors(self, name, wrong, message):
        with pytest.raises(ValueError, match=message):
            GENERATORS[name][0](**wrong)


class TestPseudoEuclidean:
    @pytest.mark.parametrize("squared", [False, True])
    @pytest.mark.parametrize(("p", "q"), [(1, 0), (4, 2), (3, 6)])
    def test_signature(self, p, q, squared):
        D, _ = make_pseudo_euclidean(50, p, q, scale=0.7, squared=squared, random_state=0)
        assert check_dissimilarities(D, squared=squared) is D
        assert signature(D, squared=squared) == (p, q, 50 - p - q)

    def test_squares_of_the_dissimilarities_where_none_is_negative(self):
        """One object of each class: far apart, so a small scale need not be lowered."""
        S, D = (make_pseudo_euclidean(4, 5, 3, scale=0.01, squared=s, random_state=0)[0] for s in (True, False))
        assert S.min() >= 0
        np.testing.assert_allclose(D**2, S, rtol=1e-12)

    def test_scale_is_lowered_as_little_as_needed(self):
        """Squares are linear in the scale, which any entry then tells; the lowest of all is now zero."""
        at_0, at_1 = (make_pseudo_euclidean(60, scale=scale, random_state=0)[0] for scale in (0.0, 1.0))
        D, _ = make_pseudo_euclidean(60, scale=1.0, squared=False, random_state=0)
        off_diagonal = ~np.eye(60, dtype=bool)
        scales = ((at_0 - D**2)[off_diagonal]) / ((at_0 - at_1)[off_diagonal])
        np.testing.assert_allclose(scales, scales[0], rtol=1e-9)
        assert at_1.min() < 0
        assert D[off_diagonal].min() == pytest.approx(0, abs=1e-6)

    def test_classes(self):
        D, y = make_pseudo_euclidean(400, scale=0.0, squared=False, random_state=0)
        np.testing.assert_array_equal(np.bincount(y), 100)
        half = slice(0, 200), slice(200, 400)
        nearest = KNeighborsClassifier(5, metric="precomputed").fit(D[half[0], half[0]], y[half[0]])
        assert nearest.score(D[half[1], half[0]], y[half[1]]) > 0.9


class TestStringClasses:
    @pytest.mark.parametrize("kind", KINDS)
    def test_without_mutation_a_class_is_one_sequence(self, kind):
        sequences, y = make_string_classes(3, 10, mutation=0, kind=kind, random_state=0)
        if kind == "angles":
            sequences = [min(tuple(np.roll(s, shift)) for shift in range(len(s))) for s in sequences]
        classes = {label: {tuple(s) for s, other in zip(sequences, y) if other == label} for label in range(3)}
        assert all(len(found) == 1 for found in classes.values())
        assert len(set.union(*classes.values())) == 3

    @pytest.mark.parametrize("kind", ["levels", "letters"])
    def test_classes_do_not_depend_on_the_seed_nor_on_their_number(self, kind):
        by_label = [
            dict(zip(y.tolist(), map(tuple, sequences)))
            for sequences, y in (
                make_string_classes(n_classes, 1, mutation=0, kind=kind, random_state=seed)
                for n_classes, seed in ((3, 0), (6, 1))
            )
        ]
        assert by_label[0].items() <= by_label[1].items()

    def test_without_divergence_the_classes_are_the_same(self):
        sequences, _ = make_string_classes(4, 2, length=30, divergence=0, mutation=0, kind="letters", random_state=0)
        assert len(set(sequences)) == 1
        assert len(sequences[0]) == 30

    @pytest.mark.parametrize("kind", KINDS)
    def test_alphabet(self, kind):
        sequences, _ = make_string_classes(kind=kind, random_state=0)
        values = np.concatenate([np.frombuffer(s.encode(), np.uint8) if kind == "letters" else s for s in sequences])
        assert values.dtype.kind in "iu"
        if kind == "letters":
            assert all(isinstance(s, str) for s in sequences)
            assert set(values) == set(range(ord("a"), ord("z") + 1))
        if kind == "angles":
            assert (values.min(), values.max()) == (0, 359)

    def test_share_of_the_places_that_change(self):
        """A third of the changes makes a sequence shorter by one and a third longer; each costs one edit."""
        (original,), _ = make_string_classes(1, 1, length=200, mutation=0, kind="letters", random_state=0)
        mutants, _ = make_string_classes(1, 40, length=200, mutation=0.15, kind="letters", random_state=0)
        edits = [levenshtein(original, mutant) / len(original) for mutant in mutants]
        assert np.mean(edits) == pytest.approx(0.15, abs=0.01)
        growth = np.array([len(mutant) for mutant in mutants]) - len(original)
        assert abs(growth.mean()) < 3.0
        assert growth.var() == pytest.approx(len(original) * 0.15 * 2 / 3, rel=0.6)

    @given(st.integers(1, 4), st.integers(0, 1000), st.sampled_from(KINDS))
    def test_no_sequence_is_empty(self, length, seed, kind):
        sequences, _ = make_string_classes(2, 3, length=length, divergence=1, mutation=1, kind=kind, random_state=seed)
        assert all(len(s) >= 1 for s in sequences)

    def test_more_divergence_makes_classes_easier(self):
        def gap(divergence):
            words, y = make_string_classes(3, 4, divergence=divergence, kind="letters", random_state=0)
            D = np.array([[levenshtein(a, b) for b in words] for a in words])
            same = np.equal.outer(y, y)
            return D[~same].mean() - D[same & ~np.eye(len(y), dtype=bool)].mean()

        assert gap(0.0) < 2 < gap(0.1) < gap(0.5)


class TestConnectivity:
    def test_dissimilarities(self):
        D, y = make_connectivity(random_state=0)
        assert check_dissimilarities(D) is D
        np.testing.assert_array_equal(np.bincount(y), [10, 18, 18, 19])
        np.testing.assert_array_equal(np.unique(D), [0, 1, 1.5, 2, 2.5, 3, 3.5, 4])

    def test_mean_strengths(self):
        D, y = make_connectivity((200, 200), random_state=0)
        same = np.equal.outer(y, y) & ~np.eye(400, dtype=bool)
        assert D[same].mean() == pytest.approx(4 - (0.20 + 2 * 0.30 + 3 * 0.15), abs=0.02)
        assert D[y[:, None] != y].mean() == pytest.approx(4 - (0.07 + 2 * 0.05 + 3 * 0.02), abs=0.02)

    @pytest.mark.parametrize("seed", range(3))
    def test_not_metric(self, seed):
        D, _ = make_connectivity(random_state=seed)
        by_way_of_another = (D[:, :, None] + D[:, None, :]).min(axis=0)
        assert np.mean(by_way_of_another < D) > 0.04
        assert signature(D).negative > 15


class TestTopicTexts:
    def test_words_belong_to_one_topic_or_to_all(self):
        texts, y = make_topic_texts(300, 3, random_state=0)
        of_topic = [{w for text, label in zip(texts, y) if label == topic for w in text.split()} for topic in range(3)]
        assert {len(word) for words in of_topic for word in words} == {4, 6}
        for one in range(3):
            for other in range(one):
                assert {len(word) for word in of_topic[one] & of_topic[other]} == {4}

    def test_words_do_not_depend_on_the_seed_nor_on_the_number_of_topics(self):
        few, _ = make_topic_texts(50, 1, share=1, random_state=0)
        many, y = make_topic_texts(600, 3, share=1, random_state=1)
        of_first_topic = {w for text, label in zip(many, y) if label == 0 for w in text.split()}
        assert {w for text in few for w in text.split()} <= of_first_topic
        assert len(of_first_topic) == 100

    @pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
    def test_share_of_topical_words(self, share):
        texts, _ = make_topic_texts(500, share=share, random_state=0)
        topical = [len(word) == 6 for text in texts for word in text.split()]
        assert np.mean(topical) == pytest.approx(share, abs=0.01)

    def test_frequencies(self):
        texts, _ = make_topic_texts(2000, share=0, random_state=0)
        counts = Counter(word for text in texts for word in text.split())
        frequencies = np.array([count for _, count in counts.most_common(5)]) / counts.total()
        harmonic = 1 / np.arange(1, 101)
        np.testing.assert_allclose(frequencies, harmonic[:5] / harmonic.sum(), rtol=0.05)

    @pytest.mark.parametrize("n_words", [2, 25, 60])
    def test_lengths(self, n_words):
        texts, y = make_topic_texts(1001, 4, n_words=n_words, random_state=0)
        lengths = np.array([len(text.split()) for text in texts])
        assert lengths.min() == n_words - n_words // 2
        assert lengths.max() == n_words + n_words // 2
        assert lengths.mean() == pytest.approx(n_words, rel=0.05)
        assert sorted(np.bincount(y)) == [250, 250, 250, 251]


class TestWords:
    def test_table(self):
        data = load_words()
        n_languages, n_meanings = data.words.shape
        assert data.languages.shape == data.families.shape == (n_languages,)
        assert len(set(data.languages)) == n_languages >= 16
        assert len(set(data.meanings)) == n_meanings == 20
        np.testing.assert_array_equal(data.words[data.languages == "English"][0], data.meanings)

    def test_plain_letters(self):
        words = load_words().words
        assert all(word.isascii() and word.isalpha() and word.islower() for word in words.ravel())

    def test_relatives_are_alike(self):
        data = load_words()

        def dissimilarity(one, other):
            return np.mean([levenshtein(a, b) / max(len(a), len(b)) for a, b in zip(one, other)])

        D = np.array([[dissimilarity(one, other) for other in data.words] for one in data.words])
        np.fill_diagonal(D, np.inf)
        has_relatives = np.array([Counter(data.families)[family] > 1 for family in data.families])
        nearest = data.families[D.argmin(axis=1)]
        np.testing.assert_array_equal(nearest[has_relatives], data.families[has_relatives])

    def test_every_call_gives_a_new_copy(self):
        load_words().words[:] = ""
        assert load_words().words[0, 0] == "one"
