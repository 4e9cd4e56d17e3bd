"""E31: maps of news texts by compression.

Protocol (Hasenfuss 2009, sec. 4.6, figs. 4.17, 4.18): stop words left out, Porter's stems, normalized compression
distance with bzip2, supervised patch relational SOM on hyperbolic lattices, 100 epochs. Reuters-21578 (ModApte, 7
largest classes): 85 nodes, 10 patches, k = 5 texts for each prototype, mixing 0.5. 20 Newsgroups (7 topics): 29 nodes,
60 patches of 20000 articles, k = 1, mixing 0.2. The third set, 183,546 articles, is E32.

Here Reuters is all 8866 documents, in 10 patches, with distances computed on demand, and with zlib in place of bzip2,
which takes four times as long; and a random sample of N_REUTERS documents, of SHORTEST letters and more, with bzip2,
all of whose distances are computed once, so that settings and RUNS starts can be compared. 20 Newsgroups is 4000
articles, 200 of each group, in 60 patches as in the document (of 67 rather than 333), with distances computed on
demand; texts with fewer than SHORTEST letters are left out. The mixing parameter is read as the share of the labels.

The document prints no accuracy: the pictures show contiguous regions of topics.

Rule, fixed before the full run: topics form regions if more neighboring nodes have the same commonest topic than in
any of 1000 maps with the topics of the nodes shuffled, in the mean of all runs. Maps without labels, with D read as
squares, and with the defaults of the library are given without a verdict.

After a first look 12 patches of 333 articles, the size of the document, were added for 20 Newsgroups, and later three
more starts: single runs passed the rule or missed it narrowly, and only four to six of the seven topics are the
commonest of any node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._folds import MISSING, PrintedRelationalSOM
from experiments._protocol import RANGE_END, Array, canvas, repeat, with_neighborhood
from experiments._report import ADDED, NO_NUMBER, SKIPPED, Result, Row, holds, report, row
from experiments._texts import (
    alike_neighbors,
    draw_disc,
    load_texts,
    majority,
    n_regions,
    prepared,
    same_by_chance,
    stemmer,
)
from protolearn.core.lattices import Lattice, hyperbolic
from protolearn.dissimilarities import ncd
from protolearn.maps import Patches

TITLE = "texts by compression"
N_REUTERS = 1000
SHORTEST = 50
EPOCHS = 100
REUTERS_PATCHES = 10
NEWS_PATCHES = 60
LARGER_PATCHES = 12
LARGER = "20 Newsgroups, patches of 333"
SAMPLE = f"Reuters, sample of {N_REUTERS}"
EVERY = "Reuters, all documents, zlib"
PUBLISHED = f"{SAMPLE}, as in the document"
RUNS = 5
FEW_RUNS = 4
MAPS: dict[str, dict[str, Any]] = {
    "as in the document": {},
    "without labels": {"label_weight": 0.0},
    "D as squares": {"squared": True},
    "library defaults": {"init": "pca", "kernel": "gaussian", "range_start": "auto", "range_end": 0.55},
}
REMARKS = {
    "20 Newsgroups: topics form regions": "the four starts differ much; patches of 67 articles, a fifth of those of "
    "the document, but with 12 patches of 333, and so a fifth of their number, it is no better",
}

Found = dict[str, Any]


def run(quick: bool = False) -> Result:
    reuters = sample("reuters_modapte7", "label", 200 if quick else N_REUTERS)
    every = sample("reuters_modapte7", "label", 300 if quick else None, shortest=0)
    news = sample("newsgroups20_4000", "top", 150 if quick else None)
    if reuters is None or every is None or news is None:
        print(MISSING)
        return report({}, [row("regions of topics", "figs. 4.17, 4.18", None, SKIPPED)])
    epochs = 5 if quick else EPOCHS
    patches = 2 if quick else REUTERS_PATCHES
    seeds = range(1 if quick else FEW_RUNS)
    found = {EVERY: repeat(whole_map, seeds, *every, epochs, patches)}
    print("Reuters done", flush=True)
    found |= sample_maps(*reuters, epochs, patches, 2 if quick else RUNS)
    print("sample done", flush=True)
    found |= {"20 Newsgroups": repeat(news_map, seeds, *news, epochs, 2 if quick else NEWS_PATCHES)}
    found |= {LARGER: repeat(news_map, seeds, *news, epochs, 1 if quick else LARGER_PATCHES)}
    rows: list[Row] = []
    for name, parts in found.items():
        rows += rows_of(name, parts)
    return report(
        settings={
            "Reuters": f"{len(every[0])} documents, and a sample of {len(reuters[0])}; 85 nodes, {REUTERS_PATCHES} "
            "patches, k = 5, label weight 0.5",
            "runs": f"{RUNS} starts of the map of the document on the sample, {len(seeds)} of all documents and of 20 "
            "Newsgroups; one of the other maps",
            "20 Newsgroups": f"{len(news[0])} articles, 29 nodes, {NEWS_PATCHES} (or {LARGER_PATCHES}) patches, "
            "k = 1, label weight 0.2",
            "texts": "letters a-z in words, small; stop words (a list of about 130) left out; "
            + ("Porter's stems" if stemmer() else "no stems, the package snowballstemmer is not there"),
            "NCD": "bzip2 (all of Reuters: zlib), the shorter text first, symmetric, zero diagonal; read as a distance "
            "unless said otherwise",
            "epochs": f"{epochs} for each patch; later patches start from the map so far",
            "SOM range": "N / 2 -> 0.01 for N nodes, exponential kernel of the path length, start in the center",
            "topic of a node": "commonest among all texts it wins at the end, without the use of labels",
            "rule": "more neighbors alike than in any of 1000 shuffled maps",
        },
        rows=rows,
        data={name: parts[0] for name, parts in found.items()},
    )


def sample(name: str, key: str, n_texts: int | None, shortest: int = SHORTEST) -> tuple[list[str], Array] | None:
    """Return prepared texts and topics, of at most so many random records with at least so many letters."""
    records = load_texts(name)
    if records is None:
        return None
    texts = [prepared(record["text"]) for record in records]
    long = np.flatnonzero([len(text) >= shortest for text in texts])
    chosen = np.sort(np.random.RandomState(0).permutation(long)[:n_texts])
    return [texts[i] for i in chosen], np.array([records[i][key] for i in chosen])


def whole_map(seed: int, texts: list[str], y: Array, epochs: int, n_patches: int) -> Found:
    zlib = {"metric": "ncd", "metric_params": {"compressor": "zlib"}, "random_state": seed}
    return measured(reuters_map(len(texts), n_patches, epochs, **zlib).fit(texts, y), y)


def sample_maps(texts: list[str], y: Array, epochs: int, n_patches: int, n_runs: int) -> dict[str, list[Found]]:
    """Return several runs of the map of the document, and one of the other maps."""
    D = ncd(texts)
    return {
        f"{SAMPLE}, {name}": [
            measured(reuters_map(len(texts), n_patches, epochs, random_state=seed, **options).fit(D, y), y)
            for seed in range(1 if options else n_runs)
        ]
        for name, options in MAPS.items()
    }


def reuters_map(n_texts: int, n_patches: int, epochs: int, **options: Any) -> PrintedRelationalSOM:
    common = {"label_weight": 0.5, "patches": Patches(-(-n_texts // n_patches)), "n_approximation": 5}
    return som(hyperbolic(7, 3), epochs, **common | options)


def news_map(seed: int, texts: list[str], y: Array, epochs: int, n_patches: int) -> Found:
    size = -(-len(texts) // n_patches)
    options = {
        "label_weight": 0.2,
        "patches": Patches(size),
        "n_approximation": 1,
        "metric": "ncd",
        "random_state": seed,
    }
    return measured(som(hyperbolic(7, 2), epochs, **options).fit(texts, y), y)


def som(lattice: Lattice, epochs: int, **options: Any) -> PrintedRelationalSOM:
    settings = {
        "kernel": "exponential",
        "init": "center",
        "range_start": lattice.n_nodes / 2,
        "range_end": RANGE_END,
        "max_iter": epochs,
        "random_state": 0,
    } | options
    return PrintedRelationalSOM(lattice, **with_neighborhood(PrintedRelationalSOM, settings))


def measured(model: PrintedRelationalSOM, y: Array) -> Found:
    """Return what the picture and the rows need."""
    names, codes = np.unique(y, return_inverse=True)
    lattice = model.lattice_
    classes, hits, purity = majority(model.labels_, codes, lattice.n_nodes, len(names))
    return {
        "names": names.tolist(),
        "classes": classes,
        "hits": hits,
        "purity": purity,
        "largest": np.bincount(codes).max() / len(codes),
        "alike": alike_neighbors(lattice, classes),
        "chance": float(same_by_chance(lattice, classes).max()),
        "regions": n_regions(lattice, classes),
        "found": len(np.unique(classes[classes >= 0])),
        "computed": model.n_dissimilarities_,
        "texts": len(codes),
    }


def rows_of(name: str, parts: list[Found]) -> list[Row]:
    main = name in (EVERY, PUBLISHED, "20 Newsgroups")
    part = parts[0]
    alike, chance, purity = (np.array([one[key] for one in parts]) for key in ("alike", "chance", "purity"))
    text = f"{alike.mean():.3f} of neighbors alike, by chance at most {chance.max():.3f}"
    verdict = holds(alike.mean() > chance.max()) if main else ADDED
    other = NO_NUMBER if main else ADDED
    regions = f"{part['regions']} for {part['found']} of {len(part['names'])} topics"
    pairs = part["texts"] * (part["texts"] - 1) / 2
    rows = [
        row(f"{name}: topics form regions", "yes" if main else None, text, verdict),
        row(f"{name}: neighbors alike", None, alike, other),
        row(f"{name}: connected regions, first run", None, regions, other),
        row(f"{name}: texts in a node of their topic, %", None, 100 * purity, other),
        row(f"{name}: texts of the largest topic, %", None, 100 * part["largest"], other),
    ]
    if not name.startswith(SAMPLE):
        rows.append(row(f"{name}: computed of all pairs, %", None, 100 * part["computed"] / pairs, other))
    return rows


def draw(result: Result) -> Figure:
    wanted = (EVERY, PUBLISHED, f"{SAMPLE}, library defaults", "20 Newsgroups", LARGER)
    shown = [name for name in wanted if name in result["data"]]
    figure, axes = canvas(1, len(shown), (4.0, 4.4))
    for ax, name in zip(axes[0], shown):
        part = result["data"][name]
        lattice = hyperbolic(7, 2 if name.startswith("20") else 3)
        draw_disc(ax, lattice, np.array(part["classes"]), np.array(part["hits"]), part["names"])
        ax.set_title(name, fontsize=10)
        ax.legend(frameon=False, fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 0.0), markerscale=0.6)
    return figure
