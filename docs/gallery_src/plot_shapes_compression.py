"""
Compressing images
==================

The small blocks of an image are vectors. A block can be encoded by the nearest of a few typical blocks (vector
quantization), by a few coordinates in the principal directions of all blocks (principal component analysis), or by
both: the index of a prototype, and coordinates in the directions of that prototype.
"""

# %%
# Three coders at the same rate
# -----------------------------
# All use 1.25 bits per pixel, without the codebook: 32 blocks of 2 × 2 pixels; 10 directions of blocks of 8 × 8, with 8
# bits for each coordinate; 16 prototypes of blocks of 4 × 4 with two directions each. A high PSNR, the peak
# signal-to-noise ratio, means a small error.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from protolearn.applications import ImageCompressor, decode_image
from protolearn.metrics import psnr

color = load_sample_image("china.jpg")[64:320, 128:512]
picture = color.mean(axis=2).round().astype(np.uint8)

fixed = {"entropy": False, "random_state": 0}  # as many bits for each block
coders = {
    "vector quantization": ImageCompressor("vq", block_size=2, n_prototypes=32, **fixed),
    "PCA": ImageCompressor("pca", block_size=8, n_components=10, **fixed),
    "local PCA": ImageCompressor("matrix", block_size=4, n_prototypes=16, n_components=2, **fixed),
}
shown = {"original": picture}
for name, coder in coders.items():
    decoded = coder.fit(picture).reconstruct(picture)
    shown[f"{name}, {psnr(picture, decoded):.1f} dB"] = decoded
    rates = [coder.rate(include_codebook=included) for included in (False, True)]
    print("{}: {:.2f} bits for each pixel, {:.2f} with the codebook".format(name, *rates))


def draw(pictures, n_rows, part):
    n_columns = len(pictures) // n_rows
    _, axes = plt.subplots(n_rows, n_columns, figsize=(10, 10.4 * n_rows / 3), layout="constrained")
    for ax, (title, pixels) in zip(axes.flat, pictures.items()):
        ax.imshow(pixels[part], cmap="gray", vmin=0, vmax=255)
        ax.set_title(title)
        ax.set_axis_off()


draw(shown, 2, np.s_[20:180, :240])

# %%
# Vector quantization produces steps, PCA blurs and leaves artifacts across whole blocks, and local PCA is between the
# two. On this image, with its fine detail, small blocks have the highest PSNR. Local directions are better than global
# ones, since each kind of block has its own. The plot shows the eight prototypes with the largest variances, with their
# directions.

matrix = coders["local PCA"]
varied = np.argsort(-matrix.estimator_.variances_.sum(axis=1))[:8]
figure, axes = plt.subplots(3, 8, figsize=(8, 3.2), layout="constrained")
for column, i in zip(axes.T, varied):
    for ax, block in zip(column, (matrix.prototypes_[i], *matrix.components_[i])):
        ax.imshow(block.reshape(4, 4), cmap="gray")
        ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ("prototype", "direction 1", "direction 2")):
    ax.set_ylabel(name)

# %%
# Entropy coding
# --------------
# Most coordinates are small, and much of the image is sky. By default frequent values take few bits, and with ``bpp``
# the compressor searches for the parameters with the best image at that rate, counting all bytes of the file. For this
# image it selects a single prototype with all directions: the coder adapts to coordinates that are nearly always zero.

small = ImageCompressor(bpp=1.25, random_state=0).fit(picture)
stream = small.encode(picture)
decoded = decode_image(stream)
print(f"prototypes: {small.n_prototypes_}, directions: {small.n_components_}, block size: {small.block_size_}")
print(f"{len(stream)} bytes for {picture.size} pixels")

draw({"original": picture, f"entropy coding, {psnr(picture, decoded):.1f} dB": decoded}, 1, np.s_[:])

plt.show()
