"""M6: pictures compressed by local principal components.

Protocol (Arnonkijpanich 2010, sec. 4.2, tables 4.2-4.4, figs. 4.6-4.10): gray pictures, codebooks learned from blocks
of the left half and tested on the right half, at 4.25, 2.25 and 1.25 bits per pixel (bpp): vector quantization by
neural gas (NG; 19 prototypes of single pixels, 512 and 32 of 2 x 2), global PCA (34, 18 and 10 directions of 8 x 8),
and three models of local PCA with 16 prototypes of 4 x 4 and 8, 4 and 2 directions: VQPCA, mixtures of probabilistic
PCA (MoPPCA) and matrix NG, as in M1-M5 with 100 epochs. A block is coded by the winning prototype; coefficients are not
rounded, as it seems. 3 runs.

The document has Lena, House and Church at 512 x 512. The printed values of global PCA, which has no choices, fit Lena
and House at 256 x 256; these are used. Church is not known: the picture "china" stands in, and camera, astronaut, brick
and coffee of scikit-image (gray; left out if it is not installed) are added, all without printed values, in a single
run and, to save time, with SHORT epochs for NG. Matrix NG can also code a block by the prototype that reconstructs it
best ("best chart"). protolearn.applications.ImageCompressor does so, with matrices of as many directions as it codes,
and writes real files: codebook, indices and coefficients of 8 bits. Matrix NG as in the document, but with matrices of
k directions, and best charts of MoPPCA were added after a first look at Lena and House.

ImageCompressor was changed because of this experiment, so it has no verdict. In the first run its map started from the
Euclidean one, and five of six test values of Lena and House were below the printed ones of matrix NG (39.88, 34.03 and
29.99; 41.82, 35.68 and 31.63 dB); from random samples they are higher on these very halves. The five other pictures,
which had no part in that choice, gained as well: FIRST has their values from the Euclidean start.

Rule, fixed before the full run, after single fits made for timing: PSNR is reproduced within TOLERANCE dB; otherwise
"same order" if the method compares with global PCA as printed. Local PCA is "consistently superior" to global PCA if so
for all pictures, rates and halves; MoPPCA is "slightly worse" if it is below the other two on average over Lena and
House; matrix NG is "best of local PCA" on test halves, as printed in 8 of 9 cases, if in at least 8 of 9. Best charts
of matrix NG shall be at least as good as its printed values.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments._lvq import COLORS
from experiments._matrix import EPOCHS, as_published
from experiments._protocol import Array, canvas, load, repeat
from experiments._report import ADDED, NO_NUMBER, SKIPPED, Result, Row, holds, judge, report, row
from protolearn.applications import ImageCompressor
from protolearn.metrics import psnr

TITLE = "image compression"
RUNS = 3
SHORT = 25
TOLERANCE = 0.5
RATES = (4.25, 2.25, 1.25)
PARTS = ("train", "test")
VQ = ((19, 1), (512, 2), (32, 2))  # prototypes, side of a block
PCA = (34, 18, 10)
LOCAL = (8, 4, 2)
N_PROTOTYPES = 16
SIDE = 4
MATRIX, FILE = "matrix NG", "ImageCompressor"
BEST_CHART, FEW = ", best chart", ", k directions"
CHART = MATRIX + BEST_CHART
LATER = (MATRIX + FEW, MATRIX + FEW + BEST_CHART, "MoPPCA" + BEST_CHART, FILE)
FIRST = {  # test PSNR of ImageCompressor when its map started from the Euclidean one, one run
    "china": (29.90, 26.10, 24.35),
    "camera": (35.17, 30.75, 28.11),
    "astronaut": (41.04, 34.81, 30.38),
    "brick": (49.35, 42.65, 37.73),
    "coffee": (37.47, 32.70, 29.33),
}
PICTURES = {"Lena": "lena256", "House": "house256", "china": "china"}
MORE = ("camera", "astronaut", "brick", "coffee")
PRINTED = {  # train and test PSNR at the three rates
    "Lena": {
        "NG": ((39.4967, 36.0334), (37.0219, 34.6203), (30.0105, 29.8789)),
        "PCA": ((37.4612, 38.1723), (31.5699, 32.8029), (28.4870, 29.8617)),
        "VQPCA": ((39.6026, 40.2752), (33.3710, 34.2123), (29.7557, 29.9780)),
        "MoPPCA": ((38.2034, 39.6010), (32.6634, 33.5733), (29.6081, 30.1682)),
        MATRIX: ((39.3886, 40.3762), (32.8789, 34.2653), (29.3469, 30.4726)),
    },
    "House": {
        "NG": ((41.6597, 36.8280), (41.4012, 35.8252), (33.9519, 30.5782)),
        "PCA": ((43.9537, 40.5958), (37.3119, 34.2860), (33.3293, 30.4564)),
        "VQPCA": ((45.6874, 41.9069), (39.3378, 35.8355), (35.3971, 31.7602)),
        "MoPPCA": ((44.3200, 41.1701), (38.5901, 35.2210), (34.7363, 31.3300)),
        MATRIX: ((45.2712, 42.0525), (39.0032, 35.9050), (34.5012, 31.5334)),
    },
}
METHODS = tuple(PRINTED["Lena"])
LOCAL_METHODS = METHODS[2:]
CROP = slice(84, 212), slice(86, 258)  # of the training half of china, with the tower
GRAYS = mpl.colormaps["gray"].resampled(64)  # leaves colors of the palette to the curves
MARKERS = "osvD^P"

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "above VQPCA": "winners of full matrices are below VQPCA; k directions and best charts are best in as many cases",
    "above global": "not always if a block is coded by the winner; best charts are always superior",
    "House, NG": "better than printed",
    "VQPCA": "better than printed",
    "MoPPCA": (
        "the document used other code. A block is coded by its most likely prototype here; with the one that "
        "reconstructs it best, see below, test values are above the printed ones"
    ),
    "matrix NG": (
        "printed test values are between those of winners and of best charts; what was done is not known. Matrices "
        "of k directions, see below, reach them within 0.2 dB or are better"
    ),
}

Found = dict[str, dict[str, Array]]  # by picture and method: PSNR (runs, rates, parts)


def run(quick: bool = False) -> Result:
    pictures = all_pictures()
    if not pictures:
        return report({"data": "missing"}, [row("tables 4.2 and 4.3", "PSNR", None, SKIPPED)])
    seeds = {name: 1 if quick or name not in PRINTED else RUNS for name in pictures}
    tasks = [(name, seed) for name in pictures for seed in range(seeds[name])]
    runs = repeat(one_run, tasks, pictures, quick)
    parts = {name: [part for (of, _), part in zip(tasks, runs) if of == name] for name in pictures}
    found = {name: {key: np.array([part[key] for part in parts[name]]) for key in parts[name][0]} for name in pictures}
    files = {name: values.pop("files") for name, values in found.items()}
    rows = [line for name in PRINTED for line in table_rows(name, found[name])]
    rows += claim_rows(found)
    rows += [line for name in PRINTED for line in our_rows(name, found[name], files[name])]
    rows += [line for name in found if name not in PRINTED for line in other_rows(name, found[name])]
    rows += [row(name, None, None, SKIPPED) for name in MORE if name not in found]
    return report(
        settings={
            "runs": seeds,
            "seeds": "run number, for the start",
            "epochs": f"NG {EPOCHS}, of pictures that are not printed {SHORT}; matrix NG {EPOCHS}",
            "matrix NG": "full matrices, random samples, range n / 2 -> 0.01",
            "VQPCA, MoPPCA": "start from k-means; at most 100 epochs",
            "pictures": {name: list(picture.shape) for name, picture in pictures.items()},
            "rule": f"PSNR within {TOLERANCE} dB",
        },
        rows=rows,
        data={"found": found, "files": files},
    )


def all_pictures() -> dict[str, Array]:
    """Return the pictures of the document, china in place of Church, and those of scikit-image if it is there."""
    files = load("images_gray")
    if files is None:
        print("The data file images_gray.npz is not there: skipped. Set PROTOLEARN_DATA to the folder that holds it.")
        return {}
    pictures = {name: files[key] for name, key in PICTURES.items()}
    if find_spec("skimage") is None:
        print(f"scikit-image is not installed: {', '.join(MORE)} are left out.")
        return pictures
    from skimage import color, data

    for name in MORE:
        picture = getattr(data, name)()
        gray = np.rint(255 * color.rgb2gray(picture)).astype(np.uint8) if picture.ndim == 3 else picture
        pictures[name] = gray
    return pictures


def halves(picture: Array) -> tuple[Array, Array]:
    """Return the left and the right half, cut to whole blocks of 8 x 8."""
    height, width = picture.shape[0] // 8 * 8, picture.shape[1] // 16 * 8
    middle = picture.shape[1] // 2
    return picture[:height, :width], picture[:height, middle : middle + width]


def one_run(task: tuple[str, int], pictures: dict[str, Array], quick: bool) -> dict[str, Any]:
    """Return the PSNR (rates, parts) of all methods; and rate, rate with codebook and test PSNR of files."""
    name, seed = task
    left, right = halves(pictures[name])
    found: dict[str, Any] = {key: [] for key in (*METHODS, CHART, *LATER, "files")}
    parts = blocks(left), blocks(right)
    gas = as_published(MATRIX, N_PROTOTYPES, seed).fit(parts[0])
    for i in range(len(RATES)):
        for key, compressor in compressors(i, seed, SHORT if quick or name not in PRINTED else EPOCHS).items():
            local = compressor.fit(left).estimator_
            found[key].append([psnr(half, compressor.reconstruct(half, quantized=False)) for half in (left, right)])
            if key == "MoPPCA":
                found[key + BEST_CHART].append(quality(local, parts, LOCAL[i], best_chart=True))
        few = as_published(MATRIX, N_PROTOTYPES, seed, n_components=LOCAL[i]).fit(parts[0])
        for key, model in ((MATRIX, gas), (MATRIX + FEW, few)):
            found[key].append(quality(model, parts, LOCAL[i], best_chart=False))
            found[key + BEST_CHART].append(quality(model, parts, LOCAL[i], best_chart=True))
        sizes = [len(compressor.encode(right, include_codebook=included)) for included in (False, True)]
        found["files"].append([*(8 * size / right.size for size in sizes), compressor.score(right)])
    return found


def compressors(i: int, seed: int, epochs: int) -> dict[str, ImageCompressor]:
    """Return the coders of the document at the rate of number i, and last that of the library."""
    local: dict[str, Any] = {"n_prototypes": N_PROTOTYPES, "block_size": SIDE, "n_components": LOCAL[i]}
    n_prototypes, side = VQ[i]
    options: dict[str, dict[str, Any]] = {
        "NG": {"method": "vq", "n_prototypes": n_prototypes, "block_size": side, "max_iter": epochs},
        "PCA": {"method": "pca", "block_size": 8, "n_components": PCA[i]},
        "VQPCA": {"method": "vqpca", "assignment": "metric", "max_iter": EPOCHS, **local},
        "MoPPCA": {"method": "ppca", "assignment": "metric", "max_iter": EPOCHS, **local},
        FILE: local,
    }
    return {name: ImageCompressor(**chosen, entropy=False, random_state=seed) for name, chosen in options.items()}


def blocks(picture: Array) -> Array:
    """Cut a picture into blocks (n, SIDE * SIDE)."""
    height, width = picture.shape
    cut = picture.reshape(height // SIDE, SIDE, width // SIDE, SIDE).swapaxes(1, 2)
    return cut.reshape(-1, SIDE * SIDE).astype(np.float64)


def joined(parts: Array, shape: tuple[int, ...]) -> Array:
    """Put blocks together."""
    height, width = shape
    return parts.reshape(height // SIDE, width // SIDE, SIDE, SIDE).swapaxes(1, 2).reshape(shape)


def decoded(gas: Any, parts: Array, n_directions: int, best_chart: bool) -> Array:
    """Return blocks as reconstructed from the first directions of a prototype: the winner, or the best for that."""
    axes = gas.components_[:, :n_directions]
    coordinates = np.einsum("nkd,kqd->nkq", parts[:, None] - gas.prototypes_, axes)
    candidates = gas.prototypes_ + np.einsum("nkq,kqd->nkd", coordinates, axes)
    errors = ((parts[:, None] - candidates) ** 2).sum(axis=2)
    chosen = errors.argmin(axis=1) if best_chart else gas.predict(parts)
    return candidates[np.arange(len(parts)), chosen]


def quality(model: Any, parts: tuple[Array, Array], n_directions: int, best_chart: bool) -> list[float]:
    """Return the PSNR of the blocks of both halves."""
    return [psnr(half, decoded(model, half, n_directions, best_chart)) for half in parts]


def table_rows(name: str, found: dict[str, Array]) -> list[Row]:
    """Return a row for each entry of a printed table."""
    rows = []
    for method, printed in PRINTED[name].items():
        for i, rate in enumerate(RATES):
            for j, part in enumerate(PARTS):
                ours = found[method][:, i, j]
                as_printed = printed[i][j] > PRINTED[name]["PCA"][i][j]
                ordered = (ours.mean() > found["PCA"][:, i, j].mean()) == as_printed and method != "PCA"
                verdict = judge(ours, printed[i][j], TOLERANCE, ordered)
                rows.append(row(f"{name}, {method}, {rate} bpp, {part}, dB", printed[i][j], ours, verdict))
    return rows


def claim_rows(found: Found) -> list[Row]:
    """Return rows on what the document says of the methods."""
    mean = {name: {method: values.mean(axis=0) for method, values in of.items()} for name, of in found.items()}
    rows = []
    for method in (*LOCAL_METHODS, CHART, *LATER):
        better = np.array([mean[name][method] > mean[name]["PCA"] for name in mean])
        text = f"{better.sum()} of {better.size} cases"
        verdict = ADDED if method in LATER else holds(better.all())
        rows.append(row(f"{method} above global PCA", "consistently superior", text, verdict))
    level = {method: np.mean([mean[name][method] for name in PRINTED]) for method in LOCAL_METHODS}
    worse = level["MoPPCA"] < min(level["VQPCA"], level[MATRIX])
    text = ", ".join(f"{method} {value:.2f}" for method, value in level.items())
    rows.append(row("local PCA, mean PSNR of Lena and House", "MoPPCA slightly worse", text, holds(worse)))
    for key in (MATRIX, CHART, MATRIX + FEW, MATRIX + FEW + BEST_CHART, FILE):
        others = {name: np.maximum(mean[name]["VQPCA"], mean[name]["MoPPCA"]) for name in PICTURES}
        best = np.array([mean[name][key][:, 1] > others[name][:, 1] for name in PICTURES])
        text = f"{best.sum()} of {best.size}"
        verdict = holds(best.sum() >= 8) if key == MATRIX else ADDED if key in LATER else NO_NUMBER
        rows.append(row(f"{key} above VQPCA and MoPPCA, test", "8 of 9", text, verdict))
    return rows


def our_rows(name: str, found: dict[str, Array], files: Array) -> list[Row]:
    """Return rows on better charts, on what was added later and on files, on test halves."""
    rows = []
    for i, rate in enumerate(RATES):
        least = PRINTED[name][MATRIX][i][1]
        best = found[CHART][:, i, 1]
        quantity = f"{name}, {CHART}, {rate} bpp, test, dB"
        rows.append(row(quantity, f"at least {least:.2f}", best, holds(best.mean() >= least)))
        for key in LATER:
            printed = PRINTED[name].get(key.split(",")[0], PRINTED[name][MATRIX])[i][1]
            rows.append(row(f"{name}, {key}, {rate} bpp, test, dB", printed, found[key][:, i, 1], ADDED))
        rows.append(row(f"{name}, {FILE}, {rate} bpp, test, decoded from the file, dB", least, files[:, i, 2], ADDED))
        text = f"{files[:, i, 0].mean():.3f}, with codebook {files[:, i, 1].mean():.3f}"
        rows.append(row(f"{name}, {FILE}, bpp of the file of the test half", rate, text, NO_NUMBER))
    return rows


def other_rows(name: str, found: dict[str, Array]) -> list[Row]:
    """Return what was found for a picture without printed values."""
    rows = []
    for i, rate in enumerate(RATES):
        text = ", ".join(f"{method} {values[:, i, 1].mean():.2f}" for method, values in found.items())
        rows.append(row(f"{name}, {rate} bpp, test, dB", None, text, NO_NUMBER))
    text = ", ".join(f"{gain:+.2f}" for gain in found[FILE][:, :, 1].mean(axis=0) - FIRST[name])
    rows.append(row(f"{name}, {FILE} above its first version at the three rates, test, dB", None, text, ADDED))
    return rows


def draw(result: Result) -> Figure:
    """Draw details of china as in figs. 4.9 and 4.10, at 1.25 bpp, and the PSNR of three pictures."""
    figure, axes = canvas(3, 3, size=(4.0, 3.1))
    left, _ = halves(all_pictures()["china"])
    shown = {"original": left}
    for name, compressor in compressors(2, 0, EPOCHS).items():
        shown[name] = compressor.fit(left).reconstruct(left, quantized=False)
    gas = as_published(MATRIX, N_PROTOTYPES, 0).fit(blocks(left))
    shown[MATRIX] = joined(decoded(gas, blocks(left), LOCAL[2], best_chart=False), left.shape)
    for ax, name in zip(axes[:2].flat, ("original", *METHODS)):
        ax.imshow(shown[name][CROP], cmap=GRAYS, vmin=0, vmax=255, interpolation="nearest")
        ax.set_axis_off()
        ax.set_title(name if name == "original" else f"{name}, {psnr(left, shown[name]):.2f} dB", fontsize=10)
    for ax, name in zip(axes[2], PICTURES):
        draw_rates(ax, name, result["data"]["found"][name])
    figure.legend(*axes[2, 0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)
    return figure


def draw_rates(ax: Axes, name: str, found: dict[str, Any]) -> None:
    """Show the test PSNR of all methods relative to global PCA, with crosses for printed values."""
    base = np.array(found["PCA"])[:, :, 1].mean(axis=0)
    for number, method in enumerate((*METHODS, MATRIX + FEW + BEST_CHART)):
        values = np.array(found[method])[:, :, 1].mean(axis=0)
        ax.plot(RATES, values - base, f"{MARKERS[number]}-", markersize=4, color=COLORS[number], label=method)
        if method in PRINTED.get(name, {}):
            ax.plot(RATES, np.array(PRINTED[name][method])[:, 1] - base, "x", color=COLORS[number])
    ax.set(title=f"{name}: test PSNR above global PCA, dB (x: printed)", xlabel="bits per pixel", xticks=RATES)
    ax.title.set_fontsize(9)
    ax.grid(axis="y", color="0.9")
