"""Maps of objects that are not vectors: languages by their words, and words by their letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolearn import RelationalNeuralGas, RelationalSOM
from protolearn.cli._pictures import canvas, to_png
from protolearn.cli._report import Block, Explorable, Picture, Prose, Section, Table
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import hexagonal
from protolearn.core.types import Floats
from protolearn.datasets import load_words
from protolearn.dissimilarities import edit
from protolearn.explore import explore
from protolearn.plotting import plot_examples

__all__ = ["words_section"]

LANGUAGES, WORDS = hexagonal(4, 4), hexagonal(7, 9)
MEANINGS = ["three", "seven", "mother", "night", "name", "new"]
NEW = ["novum", "tria", "nomen"]  # Latin, which is not among the languages


def words_section(effort: Effort) -> Section:
    """Map languages from a matrix of dissimilarities, cluster them, and map words themselves."""
    data = load_words()
    D = np.mean([edit(words, normalize=True) for words in data.words.T], axis=0)
    som = RelationalSOM(LANGUAGES, max_iter=effort.max_iter).fit(D)
    families = np.unique(data.families)
    gas = RelationalNeuralGas(len(families), max_iter=effort.max_iter, random_state=0).fit(D)
    shown = np.isin(data.meanings, MEANINGS)
    words = data.words[:, shown].ravel().tolist()
    meanings = np.tile(data.meanings[shown], len(data.languages))
    params: dict[str, Any] = {"metric": "edit", "metric_params": {"normalize": True}}
    word_map = RelationalSOM(WORDS, **params, max_iter=effort.max_iter).fit(words)
    blocks: list[Block] = [
        Prose(_on_languages(D, data)),
        _map(
            som,
            data.languages,
            data.families,
            3,
            "Languages on a hexagonal map, colored by family",
            "<strong>Languages.</strong> Similar languages are near each other. Colors are families, which were not "
            "used in training; gray nodes are empty.",
        ),
        Explorable(
            "languages-map.html",
            "Explore this map",
            "Select languages and read their words; the map is based on their dissimilarities alone.",
            lambda path: explore(
                som,
                D,
                data.families,
                names=data.languages,
                texts=[", ".join(words) for words in data.words],
                title="A map of languages",
                path=path,
            ),
        ),
        Prose(_on_clusters(gas, data.families)),
        _table(gas, data.languages),
        Prose(_on_words(word_map, words, meanings)),
        _map(
            word_map,
            words,
            meanings,
            2,
            "Words on a hexagonal map, colored by meaning",
            "<strong>Words.</strong> Up to two words nearest to the prototype of each node. Colors are meanings; "
            "pie charts mark mixed nodes.",
        ),
    ]
    results = {"D": D, "data": data, "som": som, "gas": gas, "words": words, "meanings": meanings, "word_map": word_map}
    return Section("words", "Languages and words: maps without vectors", blocks, results)


def _on_languages(D: Floats, data: Any) -> str:
    nearest = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, 0]
    same = int((data.families == data.families[nearest]).sum())
    example = int(np.flatnonzero(data.languages == "English")[0])
    return f"""
        Words have no coordinates, but the number of letters that must change to turn one word into another is a
        dissimilarity, and this is enough for a map. The data are {data.words.shape[1]} words, from <em>one</em> to
        <em>heart</em>, in {len(D)} European languages. The dissimilarity of two languages is the mean over their words
        with the same meaning: from English, the nearest is {data.languages[nearest[example]]}, where
        {D[example, nearest[example]]:.0%} of the letters change. For {same} of the {len(D)} the nearest language is of
        the same family.

        A prototype of a <em>relational</em> map is a weighted mean of languages. It is not a language itself, but its
        distance to every language can be computed from the distances between languages alone.
    """


def _on_clusters(gas: RelationalNeuralGas, families: NDArray[np.str_]) -> str:
    clusters = [families[gas.labels_ == node] for node in np.unique(gas.labels_)]
    right = sum(np.unique(cluster, return_counts=True)[1].max() for cluster in clusters)
    return f"""
        The same distances can be clustered. Neural gas with {len(gas.coefficients_)} prototypes, as many as there are
        families, puts {right} of the {len(families)} languages into a cluster of their own family:
    """


def _table(gas: RelationalNeuralGas, languages: NDArray[np.str_]) -> Table:
    nodes = np.unique(gas.labels_)
    nodes = nodes[np.argsort(-gas.multiplicities_[nodes], kind="stable")]
    rows = [(languages[gas.prototype_examples_[node, 0]], ", ".join(languages[gas.labels_ == node])) for node in nodes]
    return Table("Clusters of languages", ("most typical", "languages"), rows)


def _on_words(word_map: RelationalSOM, words: list[str], meanings: NDArray[np.str_]) -> str:
    nodes = dict(zip(NEW, word_map.predict(NEW)))
    found = [f"<em>{new}</em> goes to {_members(words, word_map, node)}" for new, node in nodes.items()]
    return f"""
        Words themselves can be mapped, too: those for {len(set(meanings))} of the meanings in all languages. Words of
        common origin form groups; other words are similar by chance, such as the Estonian <em>ema</em> and the Basque
        <em>ama</em>, mother. New words can be assigned to nodes. Latin was not among the languages: {"; ".join(found)}.
    """


def _members(words: list[str], word_map: RelationalSOM, node: int) -> str:
    members = sorted({words[index] for index in np.flatnonzero(word_map.labels_ == node)})
    return ", ".join(f"<em>{word}</em>" for word in members) or "a node without words"


def _map(
    som: RelationalSOM, objects: Any, classes: NDArray[np.str_], n_examples: int, alternative: str, caption: str
) -> Picture:
    rows, columns = som.lattice_.shape or (1, 1)
    ax = canvas(8.0, 6.0 * rows / columns)
    plot_examples(som, objects, y=classes, n_examples=n_examples, ax=ax)
    return Picture(to_png(ax), alternative, caption)
