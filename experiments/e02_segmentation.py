"""E2: test error over the number of prototypes, UCI image segmentation.

Protocol (Hasenfuss 2009, sec. 3.5, fig. 3.1 bottom): 210 training and 2100 test samples, 19 features, z-transformed
by the training set (the one constant feature becomes zero); otherwise as E1.

The document gives no numbers: neural gas is robust, k-means has idle prototypes, the SOM is restricted by its
lattice.

Rule, fixed before the run: as E1; the SOM is "restricted" if its error, averaged over all n, is above that of batch
neural gas.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from experiments._protocol import canvas, load, z_transform
from experiments._report import SKIPPED, Result, reaches, report, row
from experiments.e01_ripley import (
    BATCH_GAS,
    BATCH_SOM,
    curves,
    data,
    draw_curves,
    median_curves,
    median_rows,
    settings,
    statements,
)

TITLE = "image segmentation"

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "from samples, idle prototypes": (
        "idle prototypes come from the start at small values; started from samples, every prototype wins something"
    ),
}


def run(quick: bool = False) -> Result:
    files = load("segmentation")
    if files is None:
        print("The data file segmentation.npz is not there: skipped. Set PROTOLEARN_DATA to the folder that holds it.")
        return report({"data": "missing"}, [row("fig. 3.1, bottom", "curves", None, SKIPPED)])
    train, test = z_transform(files["X_train"], files["X_test"])
    sizes, errors, idle = curves(train, test, quick)
    medians = median_curves(train, test, sizes, quick)
    ratio = errors[BATCH_SOM].mean(axis=1) / errors[BATCH_GAS].mean(axis=1)
    restricted = row("batch SOM / batch NG, test error over all n", "above 1", ratio, reaches(ratio, 1.0))
    return report(
        settings=settings(len(errors[BATCH_GAS])) | {"data": "UCI image segmentation, original split"},
        rows=[restricted, *statements(sizes, errors, idle), *median_rows(medians, sizes, errors[BATCH_GAS])],
        data=data(sizes, errors, medians),
    )


def draw(result: Result) -> Figure:
    figure, axes = canvas(size=(5.6, 4.0))
    draw_curves(axes[0, 0], result)
    axes[0, 0].set_title("Image segmentation (fig. 3.1, bottom)")
    return figure
