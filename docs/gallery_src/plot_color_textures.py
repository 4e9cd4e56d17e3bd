"""
Color textures
==============

Texture filters are usually applied to gray images. Color is converted to gray by fixed weights, which are made for the
eye and not for the task. ``CIALVQ`` learns the conversion of color to intensity, together with typical patches of each
class.
"""

# %%
# Patches of images
# -----------------
# Five classes of textures, twelve images of each, all with different colors, scales and illumination. Eight of each are
# used for training, in patches of 11 × 11 pixels. The other four are held out: what counts is whether their patches are
# recognized.

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from skimage.data import immunohistochemistry

from protolearn import CIALVQ
from protolearn.applications import gray_texture_classifier
from protolearn.datasets import load_picture_textures, make_color_textures, texture_protocol
from protolearn.plotting import plot_color_filters

SIZE, GAP = 11, ((0, 0), (0, 0), (1, 1), (0, 0))
pictures, classes = make_color_textures(12, size=64, random_state=0)
parts = texture_protocol(pictures, classes, size=SIZE, n_train=12, n_test=10, n_unseen=20, random_state=0)


def draw(ax, pixels, **look):
    ax.imshow(pixels, **look)
    ax.set(xticks=[], yticks=[])


names = classes[::12]
figure, axes = plt.subplots(4, 5, figsize=(7, 5.3), height_ratios=(3, 3, 3, 1), layout="constrained")
for column, name in zip(axes.T, names):
    mine = np.flatnonzero(classes == name)
    learned, unseen = np.setdiff1d(mine, parts.unseen), np.intersect1d(mine, parts.unseen)
    for ax, picture in zip(column, pictures[[learned[0], unseen[0], unseen[1]]]):
        draw(ax, picture)
    patches = np.pad(parts.X_train[parts.y_train == name][:36:12], GAP, constant_values=1.0)
    draw(column[3], np.hstack(patches)[:, 1:-1])
    column[3].spines[:].set_visible(False)
    column[0].set_title(name)
for ax, text in zip(axes[:, 0], ("trained on", "unseen", "unseen", "patches")):
    ax.set_ylabel(text)

# %%
# Errors
# ------
# The baseline is a gray patch, a bank of Gabor filters and the nearest training patch. It is compared with three kinds
# of mappings from color to intensity, each learned for every class: one weight for each color, a filter for each color,
# or any linear mapping. Training is cut short to save time, as the warnings report.

models = {
    "gray, 1-NN": gray_texture_classifier(),
    "weights of colors": CIALVQ(structure="color", max_iter=50, random_state=0),
    "filters of colors": CIALVQ(structure="diagonal", max_iter=50, random_state=0),
    "any map": CIALVQ(structure="full", max_iter=100, random_state=0),
}
kinds = ("train", "test", "unseen")
errors = {}
for name, model in models.items():
    model.fit(parts.X_train, parts.y_train)
    errors[name] = [1 - model.score(getattr(parts, f"X_{kind}"), getattr(parts, f"y_{kind}")) for kind in kinds]

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
places = np.arange(len(models))
labels = ("patches trained on", "other patches of the same pictures", "patches of unseen pictures")
looks = zip((-0.27, 0, 0.27), ("#c6dbef", "#6baed6", "#08519c"), labels)
for (shift, color, label), values in zip(looks, zip(*errors.values())):
    bars = ax.bar(places + shift, values, 0.25, color=color, label=label)
    ax.bar_label(bars, [f"{value:.1%}" for value in values], fontsize="small", padding=1)
ax.set_xticks(places, models)
ax.set(ylabel="error", yticks=[])
ax.spines[["top", "right", "left"]].set_visible(False)
ax.legend(frameon=False)

# %%
# The first bar is not informative for nearest neighbors, which find the training patch itself. The second is too
# optimistic: patches of one image share its colors, its scale and its illumination. In textures as colorful as these,
# means of the colors alone would recognize most patches, too; the guide compares them.
#
# Interpretation
# --------------
# The filter of a class combines its mapping and the Gabor filters; where it is gray, it has no weight. Prototypes are
# patches, too, drawn here in the range of their own colors, and their power spectra show the frequencies they contain,
# the lowest in the middle. Colors of prototypes need not be natural: the mapping may ignore some of them.

plot_color_filters(models["filters of colors"], n_prototypes=3)

# %%
# Shift invariance
# ----------------
# Powers do not depend on the phase of a wave. A cyclic shift of a patch does not change its distance to any prototype,
# unless the mapping depends on positions.

moved = np.roll(parts.X_unseen, (4, 3), axis=(1, 2))
for name, model in models.items():
    same = model.predict(moved) == model.predict(parts.X_unseen)
    print(f"{name}: {np.mean(~same):.1%} of the moved patches change their class")

# %%
# Glands
# ------
# The same on a photograph: tissue under a microscope, stained brown where there are glands. Six small tiles of glands
# were cut from it, and six of the tissue between them. Four of each are used for training; the classifiers are then
# applied at every fourth pixel of the image, in both directions.

tiles, kinds = load_picture_textures()
tissue = np.isin(kinds, ["gland", "stroma"])
parts = texture_protocol(tiles[tissue], kinds[tissue], size=SIZE, n_train=60, random_state=0)
photograph = immunohistochemistry() / 255
windows = np.moveaxis(sliding_window_view(photograph, (SIZE, SIZE), axis=(0, 1))[::4, ::4], 2, -1)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
draw(axes[0], photograph)
axes[0].set_title("photograph")
models = {"gray, 1-NN": gray_texture_classifier(), "CIALVQ": CIALVQ(max_iter=50, random_state=0)}
for ax, (name, model) in zip(axes[1:], models.items()):
    model.fit(parts.X_train, parts.y_train)
    found = model.predict(windows.reshape(-1, SIZE, SIZE, 3)).reshape(windows.shape[:2])
    middle = photograph[SIZE // 2 :: 4, SIZE // 2 :: 4][: len(found), : found.shape[1]]
    draw(ax, np.where((found == "gland")[..., None], middle, 0.15 * middle + 0.85))
    ax.set_title(f"{name}: error on other tiles {1 - model.score(parts.X_unseen, parts.y_unseen):.1%}")

plt.show()
# sphinx_gallery_thumbnail_number = 3
