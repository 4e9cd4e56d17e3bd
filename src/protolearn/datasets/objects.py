"""Strings, texts, words and sequences: objects with dissimilarities."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from protolearn.core.parameters import constrained, integer, number, option
from protolearn.core.types import Array, Indices
from protolearn.datasets._shares import labels_in_shares

__all__ = [
    "load_words",
    "make_evolved_sequences",
    "make_string_classes",
    "make_topic_texts",
]

Labels = NDArray[np.intp]


CLASS_SEED = 4  # classes are the same for every random_state


CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


N_WORDS = 100  # words of a topic, and words that all topics share


MAX_TOPICS = 1000


class _Walk(NamedTuple):
    """Sequences of numbers: largest step to the next, largest shift by a substitution, and where they wrap around."""

    step: int
    shift: int
    period: int | None


LOST, OTHER, FOLLOWED, KEPT = range(4)  # what becomes of a place


WALKS = {"levels": _Walk(3, 6, None), "angles": _Walk(60, 90, 360), "letters": _Walk(13, 13, 26)}


@constrained(
    n_classes=integer(1),
    n_per_class=integer(1),
    length=integer(1),
    divergence=number(0, 1),
    mutation=number(0, 1),
    kind=option(*WALKS),
)
def make_string_classes(
    n_classes: int = 5,
    n_per_class: int = 40,
    *,
    length: int = 60,
    divergence: float = 0.2,
    mutation: float = 0.3,
    kind: Literal["levels", "angles", "letters"] = "levels",
    random_state: Any = None,
) -> tuple[list[Any], Labels]:
    """Make sequences of different lengths in classes that descend from a common ancestor.

    The sequences imitate profiles of chromosomes (``kind="levels"``, with the ``edit`` distance), contours of shapes
    (``"angles"``, with ``cyclic_edit``) and words or genes (``"letters"``).

    Parameters
    ----------
    n_classes : int, default=5
        Number of classes.
    n_per_class : int, default=40
        Number of sequences of each class.
    length : int, default=60
        Length of the common ancestor.
    divergence : float, default=0.2
        Fraction of positions, in [0, 1], that change between the ancestor and a class. One third of them is deleted,
        one third is substituted, and at one third a new value is inserted.
    mutation : float, default=0.3
        Fraction of positions, in [0, 1], that change in the same way between a class and a sequence. The larger it is
        relative to `divergence`, the harder the classes are to separate.
    kind : {"levels", "angles", "letters"}, default="levels"
        Elements of the sequences: integers; angles from 0 to 359 with a random starting point on the contour; or
        letters.
    random_state : int, RandomState or None, default=None
        Seed for reproducible sequences. The classes are always the same.

    Returns
    -------
    sequences : list of ndarray or of str
        The sequences in random order; strings if `kind` is "letters".
    y : ndarray of shape (n,)
        The class of each sequence.

    Examples
    --------
    >>> from protolearn.datasets import make_string_classes
    >>> words, y = make_string_classes(2, 2, length=12, mutation=0, kind="letters", random_state=0)
    >>> len(words), len(set(words))
    (4, 2)
    """
    rng = check_random_state(random_state)
    walk = WALKS[kind]
    ancestor = _ancestor(length, walk)
    seeds = ([CLASS_SEED, label] for label in range(n_classes))
    originals = [_mutant(ancestor, divergence, walk, np.random.RandomState(seed)) for seed in seeds]
    y = labels_in_shares(n_classes * n_per_class, np.ones(n_classes), rng)
    mutants = [_mutant(originals[label], mutation, walk, rng) for label in y]
    if kind == "angles":
        return [np.roll(mutant, rng.randint(len(mutant))) for mutant in mutants], y
    if kind == "letters":
        return [bytes((ord("a") + mutant).astype(np.uint8)).decode() for mutant in mutants], y
    return mutants, y


@constrained(n_texts=integer(1), n_topics=integer(1, MAX_TOPICS), n_words=integer(2), share=number(0, 1))
def make_topic_texts(
    n_texts: int = 400, n_topics: int = 4, *, n_words: int = 60, share: float = 0.3, random_state: Any = None
) -> tuple[list[str], Labels]:
    """Make texts of artificial words, some of which belong to a topic.

    Each topic has a hundred words of three syllables, and all topics share another hundred words of two syllables. Word
    frequencies follow Zipf's law as in real texts: the frequency of the r-th word is proportional to 1/r.

    Parameters
    ----------
    n_texts : int, default=400
        Number of texts.
    n_topics : int, default=4
        Number of topics, all of equal size.
    n_words : int, default=60
        Mean number of words in a text; the number varies from 0.5 to 1.5 times the mean.
    share : float, default=0.3
        Fraction of the words, in [0, 1], that belong to the topic.
    random_state : int, RandomState or None, default=None
        Seed for reproducible texts. The words are always the same.

    Returns
    -------
    texts : list of str
        The texts in random order.
    y : ndarray of shape (n,)
        The topic of each text.

    Examples
    --------
    >>> from protolearn.datasets import make_topic_texts
    >>> texts, y = make_topic_texts(100, 5, n_words=30, random_state=0)
    >>> len(texts), 15 <= len(texts[0].split()) <= 45
    (100, True)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_texts, np.ones(n_topics), rng)
    lengths = rng.randint(n_words - n_words // 2, n_words + n_words // 2 + 1, n_texts)
    ends = np.cumsum(lengths)
    frequencies = np.cumsum(1.0 / np.arange(1, N_WORDS + 1))
    ranks = np.searchsorted(frequencies, rng.uniform(0.0, frequencies[-1], ends[-1]))
    lists = np.where(rng.uniform(size=ends[-1]) < share, np.repeat(y + 1, lengths), 0)
    words = _vocabulary(n_topics)[lists, ranks].tolist()
    return [" ".join(words[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist())], y


def load_words() -> Bunch:
    """Load words for the same twenty meanings in eighteen European languages.

    The numbers from one to ten, and mother, father, night, sun, water, fish, name, new, star and heart, in unaccented
    Latin letters; Russian is transliterated.

    Returns
    -------
    Bunch
        Fields ``words`` (18, 20), an array of strings with a row for each language and a column for each meaning;
        ``languages`` (18,); ``families`` (18,), the branch of Indo-European, or another family, of each language; and
        ``meanings`` (20,) in English.

    Examples
    --------
    >>> from protolearn.datasets import load_words
    >>> data = load_words()
    >>> data.words.shape
    (18, 20)
    >>> print(*data.words[data.families == "Romance", 6])
    sept sette siete sete sapte
    """
    lines = (files("protolearn.datasets") / "data" / "words.csv").read_text(encoding="ascii").splitlines()
    (_, _, *meanings), *rows = csv.reader(lines)
    table = np.array(rows)
    return Bunch(words=table[:, 2:], languages=table[:, 0], families=table[:, 1], meanings=np.array(meanings))


def _ancestor(length: int, walk: _Walk) -> Indices:
    steps = np.random.RandomState(CLASS_SEED).randint(-walk.step, walk.step + 1, length)
    return _wrapped(np.cumsum(steps), walk)


def _mutant(original: Indices, mutation: float, walk: _Walk, rng: np.random.RandomState) -> Indices:
    """Return a copy in which places are lost, take other values, or are followed by new ones; at least one is left."""
    changes = rng.uniform(size=len(original)) < mutation
    fate = np.where(changes, rng.choice([LOST, OTHER, FOLLOWED], len(original)), KEPT)
    if (fate == LOST).all():
        fate[0] = KEPT
    place = np.repeat(np.arange(len(original)), np.take([0, 1, 2, 1], fate))
    is_new = np.append(False, place[1:] == place[:-1]) | (fate[place] == OTHER)
    shift = rng.randint(1, walk.shift + 1, len(place)) * rng.choice([-1, 1], len(place))
    return _wrapped(original[place] + is_new * shift, walk)


def _wrapped(values: Indices, walk: _Walk) -> Indices:
    return values if walk.period is None else values % walk.period


def _vocabulary(n_topics: int) -> NDArray[np.object_]:
    """Return the words (n_topics + 1, 100): first those of two syllables that all topics share."""
    syllables = np.array([c + v for c in CONSONANTS for v in VOWELS], dtype=object)
    n = len(syllables)
    rng = np.random.RandomState(CLASS_SEED)
    shared, own = rng.permutation(n**2)[:N_WORDS], rng.permutation(n**3)[: n_topics * N_WORDS]
    two = syllables[shared // n] + syllables[shared % n]
    three = syllables[own // n**2] + syllables[own // n % n] + syllables[own % n]
    return np.concatenate([two, three]).reshape(n_topics + 1, N_WORDS)


LETTERS = "ACDEFGHIKLMNPQRSTVWY"  # amino acids


BETWEEN, WITHIN = 0.35, (0.02, 0.12)  # substitutions per letter on a branch


@constrained(length=integer(1))
def make_evolved_sequences(
    sizes: Sequence[int] = (72, 72, 39, 30, 13), *, length: int = 300, random_state: Any = None
) -> tuple[list[str], Labels]:
    """Make families of amino acid sequences that have evolved from a common ancestor.

    The sequences are a substitute for globins. The ancestor of each family descends from the ancestor of a random
    earlier family, on a branch of 0.35 substitutions per letter, and each sequence descends from a random earlier
    sequence of its family, on a branch of 0.02 to 0.12 substitutions per letter. There are no insertions or deletions,
    so all sequences have the same length. The evolutionary distance of two sequences, the length of the path between
    them in this tree, is about ``-19/20 log(1 - 20/19 p)``, where ``p`` is the fraction of positions at which they
    differ.

    Parameters
    ----------
    sizes : sequence of int, default=(72, 72, 39, 30, 13)
        Number of sequences in each family.
    length : int, default=300
        Number of letters of a sequence.
    random_state : int, RandomState or None, default=None
        Seed for reproducible sequences.

    Returns
    -------
    sequences : list of str
        The sequences in random order.
    y : ndarray of shape (n,)
        The family of each sequence.

    See Also
    --------
    make_string_classes : Sequences of different lengths, with insertions and deletions.

    References
    ----------
    Jukes, T. H., Cantor, C. R. (1969). Evolution of protein molecules. In Mammalian Protein Metabolism, 21-132.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import make_evolved_sequences
    >>> from protolearn.dissimilarities import hamming
    >>> sequences, y = make_evolved_sequences(random_state=0)
    >>> D = -19 / 20 * np.log(1 - 20 / 19 * hamming(sequences))
    >>> same = np.equal.outer(y, y)
    >>> bool(D[same].mean() < 0.5 * D[~same].mean())
    True
    """
    integer(1).check_each("sizes", sizes)
    rng = check_random_state(random_state)
    ancestor = rng.randint(len(LETTERS), size=length)
    ancestors = _descendants(ancestor, len(sizes), (BETWEEN, BETWEEN), rng)
    codes = np.concatenate([_descendants(first, size, WITHIN, rng) for first, size in zip(ancestors, sizes)])
    order = rng.permutation(len(codes))
    alphabet = np.frombuffer(LETTERS.encode(), dtype=np.uint8)
    return [bytes(row).decode() for row in alphabet[codes[order]]], np.repeat(np.arange(len(sizes)), sizes)[order]


def _descendants(first: Array, n_sequences: int, branches: tuple[float, float], rng: np.random.RandomState) -> Array:
    """Return a sequence and others (n, length), each of which descends from a random one before it."""
    family = [first]
    for older in range(1, n_sequences):
        parent = family[rng.randint(older)]
        odds = 20.0 / 19.0 * rng.uniform(*branches)
        # A new letter drawn from all of them is the old one again in one of 20 cases.
        changed = rng.uniform(size=len(first)) < -np.expm1(-odds)
        family.append(np.where(changed, rng.randint(len(LETTERS), size=len(first)), parent))
    return np.array(family)
