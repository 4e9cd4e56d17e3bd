"""E31, third part: a map of 183,546 short texts in constant memory, patch by patch.

Protocol (Hasenfuss 2009, sec. 4.6, fig. 4.19): 183,546 articles of 13 newsgroups, normalized compression distance,
relational SOM on the hyperbolic lattice of 85 nodes (center and three rings), 183 patches of about 1000, k = 3 texts
for each prototype. Whether labels were used, and the number of epochs, are not said: none here, and 50.

The articles are a private collection. Here the texts are invented: as many, of 13 topics, with 15 words on average, 60
% of them from the topic's own list (`make_topic_texts`). And bzip2, which sets up half a megabyte of tables for every
pair, is replaced by a small compressor of the same family as zlib (LZ77, `experiments._texts.size_in_bits`), compiled,
that costs about a microsecond a pair; that its blocks are those of `protolearn.dissimilarities.ncd` with the same
compressor is asserted. NCD with bzip2 on real texts is in E31.

The document prints no accuracy. It says that instead of the whole matrix (251 GB) about 274 MB of dissimilarities were
used, which is most likely the number of entries, in millions, of all extended patches (1000 + 85 * 3)^2; that memory
was constant, about 12 MB, one extended patch in doubles; and that it took 18 hours instead of half a year.

Rule, fixed before the full run: memory is constant if its highest value above that before the fit is at most
MEMORY_GROWTH MB more with all texts than with N_FEW, in all runs together. Topics form regions if more neighboring
nodes have the same commonest topic than in any of 1000 maps with the topics of the nodes shuffled, in the mean of RUNS
runs, each with its own texts.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._protocol import N_JOBS, canvas, with_neighborhood
from experiments._report import ADDED, NO_NUMBER, STATEMENT, Result, holds, report, row
from experiments._texts import Phrases, alike_neighbors, draw_disc, majority, n_regions, same_by_chance, size_in_bits
from protolearn import RelationalSOM
from protolearn.core.lattices import hyperbolic
from protolearn.datasets import make_topic_texts
from protolearn.dissimilarities import ncd
from protolearn.maps import Patches

TITLE = "183,546 texts by patches"
N_TEXTS = 183_546
N_FEW = 10_000
N_TOPICS = 13
RINGS = 3
PATCH_SIZE = 1000
K = 3
EPOCHS = 50
RUNS = 3
ENTRIES = 274.3  # million entries of all extended patches
MEMORY_GROWTH = 64.0

THESIS = {"kernel": "exponential", "init": "center", "range_start": 42.5, "range_end": 0.01}
DOCUMENT = "settings of the document"
MAPS: dict[str, dict[str, Any]] = {DOCUMENT: THESIS, "library defaults": {}}

# why a row is not reproduced, by a phrase of its quantity
REMARKS: dict[str, str] = {}


def run(quick: bool = False) -> Result:
    assert_same_as_ncd()
    few, many, epochs = (1_100, 2_200, 10) if quick else (N_FEW, N_TEXTS, EPOCHS)
    seeds = range(1 if quick else RUNS)
    results = {f"{few} texts, {name}": in_own_processes(seeds, few, epochs, name) for name in MAPS}
    small, ours = results[f"{few} texts, {DOCUMENT}"], in_own_processes(seeds, many, epochs, DOCUMENT)
    results = {f"{many} texts, {DOCUMENT}": ours} | results
    n_patches = -(-many // PATCH_SIZE)
    pairs = many * (many - 1) / 2
    rows = [
        row("texts", N_TEXTS, many, STATEMENT),
        row("entries of all extended patches, millions", ENTRIES, ours["entries"] / 1e6, STATEMENT),
        row("dissimilarities computed for learning, millions", None, ours["learned_from"] / 1e6, NO_NUMBER),
        row("and for the winners of all texts at the end, millions", None, ours["winners"] / 1e6, NO_NUMBER),
        row("share of all pairs, % (learning)", None, 100 * ours["learned_from"] / pairs, NO_NUMBER),
        row(
            "memory is constant",
            "yes",
            f"at least {small['peak'].min():.0f} MB for {few} texts, at most {ours['peak'].max():.0f} MB for {many}",
            holds(ours["peak"].max() - small["peak"].min() <= MEMORY_GROWTH),
        ),
        row("highest memory above that before the fit, MB", None, ours["peak"], NO_NUMBER),
        row("highest memory of the whole process, with all libraries, MB", None, ours["whole"], NO_NUMBER),
        row(f"the same with {few} texts, MB", None, small["whole"], NO_NUMBER),
        row("time of one processor, minutes", None, ours["minutes"], NO_NUMBER),
        row(
            "topics form regions",
            "yes",
            f"{ours['alike'].mean():.3f} of neighbors alike, by chance at most {ours['chance'].max():.3f}",
            holds(ours["alike"].mean() > ours["chance"].max()),
        ),
    ]
    for name, part in results.items():
        verdict = ADDED if name.endswith("defaults") else NO_NUMBER
        rows.append(row(f"texts in a node of their topic, %, {name}", None, 100 * part["purity"], verdict))
        rows.append(row(f"neighboring nodes of the same topic, %, {name}", None, 100 * part["alike"], verdict))
        rows.append(row(f"connected regions of {N_TOPICS} topics, {name}", None, part["regions"], verdict))
    return report(
        settings={
            "texts": f"make_topic_texts({many}, {N_TOPICS}, n_words=15, share=0.6), about 90 letters",
            "runs": f"{len(seeds)}, each with its own texts and start",
            "compressor": "LZ77 with repeats of three letters and more, size in bits (experiments._texts)",
            "NCD": "read as a distance (squared=False)",
            "lattice": f"hyperbolic, 7 neighbors, {RINGS} rings",
            "patches": f"{n_patches} of about {PATCH_SIZE}, k = {K}; later ones start from the map so far",
            "epochs": f"{epochs} for each patch",
            "labels": "not used for learning; the commonest topic of a node afterwards",
            "SOM range": "N / 2 = 42.5 -> 0.01, exponential kernel of the path length, start in the center; "
            "defaults: Gaussian kernel, principal plane, range of the library",
            "memory": "highest resident size of a process of its own, minus that before the fit",
            "threads": 1,
            "rule": f"memory grows by at most {MEMORY_GROWTH} MB",
        },
        rows=rows,
        data={name: {key: part[key][0] for key in ("classes", "hits")} for name, part in results.items()},
    )


def assert_same_as_ncd() -> None:
    """Check that the compiled blocks are the library's distances with the same compressor."""
    texts, _ = make_topic_texts(60, N_TOPICS, n_words=15, share=0.6, random_state=1)
    np.testing.assert_array_equal(Phrases(texts).block(np.arange(60)), ncd(texts, compressor=size_in_bits))


def in_own_processes(seeds: range, n_texts: int, epochs: int, name: str) -> dict[str, Any]:
    """Return `one_map` of all seeds, each from a new process, whose memory is its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(N_JOBS, context, max_tasks_per_child=1) as pool:
        runs = list(pool.map(partial(one_map, n_texts, epochs, name), seeds))
    return {key: np.array([part[key] for part in runs]) for key in runs[0]}


def one_map(n_texts: int, epochs: int, name: str, seed: int) -> dict[str, Any]:
    texts, y = make_topic_texts(n_texts, N_TOPICS, n_words=15, share=0.6, random_state=seed)
    lattice = hyperbolic(7, RINGS)
    source = Phrases(texts)
    warm_up(texts, lattice)
    settings = {"n_approximation": K, "max_iter": epochs, "random_state": seed, "n_jobs": 1} | MAPS[name]
    settings |= {"metric": "ncd", "patches": Patches(PATCH_SIZE)}
    before, start = resident(), time.process_time()
    som = RelationalSOM(lattice, **with_neighborhood(RelationalSOM, settings)).fit(source)
    minutes = (time.process_time() - start) / 60
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    winners = n_texts * len(som.support_)  # counted by the source too, after learning
    classes, hits, purity = majority(som.labels_, y, lattice.n_nodes, N_TOPICS)
    return {
        "peak": highest - before,
        "whole": highest,
        "minutes": minutes,
        "learned_from": source.n_computed - winners,
        "winners": winners,
        "entries": 2 * (source.n_computed - winners),
        "classes": classes,
        "hits": hits,
        "purity": purity,
        "alike": alike_neighbors(lattice, classes),
        "chance": float(same_by_chance(lattice, classes).max()),
        "regions": n_regions(lattice, classes),
    }


def warm_up(texts: list[str], lattice: Any) -> None:
    """Compile and load everything before memory is measured."""
    RelationalSOM(lattice, metric="ncd", max_iter=2, random_state=0, n_jobs=1).fit(Phrases(texts[:200]))


def resident() -> float:
    """Return the memory of this process now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, len(result["data"]), (4.4, 4.2))
    lattice = hyperbolic(7, RINGS)
    names = [f"topic {code + 1}" for code in range(N_TOPICS)]
    for ax, (name, part) in zip(axes[0], result["data"].items()):
        draw_disc(ax, lattice, np.array(part["classes"]), np.array(part["hits"]), names)
        ax.set_title(name, fontsize=9)
    axes[0, -1].legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=0.6)
    return figure
