"""
Dynamic textures
================

A video of water, flames or leaves continues in the same way, but never repeats itself. Charting represents it by a
curve in a few dimensions; a new curve with the same dynamics is a new video.
"""

# %%
# A video as a curve
# ------------------
# 160 frames of traveling waves. Frames are reduced to principal components, charts are aligned in ten dimensions, and
# the video is a curve in this space. A warning reports that charts are stretched unevenly; whether this matters for new
# frames is checked below. The first two dimensions of the curve:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from protolearn import MappedEmbedding
from protolearn.applications import DynamicTexture, LinearDynamicTexture, frame_errors
from protolearn.datasets import make_dynamic_texture, make_rotating_views
from protolearn.plotting import plot_trajectory

frames = make_dynamic_texture(160, random_state=0)
texture = DynamicTexture(10, n_pca=20, random_state=0).fit(frames)

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plot_trajectory(texture.embedding_[:60, :2], frames[:60], n_images=10, ax=ax)

# %%
# New frames
# ----------
# From the last position, the nearest frames of the video propose their own next steps, and one of these is drawn. This
# can continue indefinitely. A linear model of the same dimension is the usual baseline: its waves decay, or diverge.

linear = LinearDynamicTexture(10).fit(frames)
new = {"charts": texture.sample(400, random_state=0), "linear": linear.sample(400, random_state=0)}

times = np.arange(0, 160, 20)
figure, axes = plt.subplots(3, len(times), figsize=(10, 3.6), layout="constrained")
for row, (name, video) in zip(axes, {"video": frames, **new}.items()):
    for ax, time in zip(row, times):
        ax.imshow(video[time])
        ax.set(xticks=[], yticks=[], title=f"frame {time}" if name == "video" else "")
    row[0].set_ylabel(name)

# %%
# Do the new frames stay similar to the video? The plot shows the difference between each new frame and the most similar
# original frame, in gray levels of 256. Peaks occur where the curve has reached the end of the video, and continues
# from an earlier position.

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for name, video in new.items():
    errors = frame_errors(video, frames, nearest=True)
    ax.plot(errors, label=f"{name}: {errors.mean():.1f} on average")
ax.set(xlabel="frame", ylabel="mean difference of pixels", ylim=(0, None))
ax.legend(loc="upper left")

print(f"frames after the way to ten dimensions and back: {texture.reconstruction_errors_.mean():.1f} levels")
print(f"numbers stored, relative to the video: {texture.compression_ratio_:.0%}")

# %%
# A rotating teapot
# -----------------
# A motion with one degree of freedom can be shown as a line. Images of a pot that rotates by half a circle are embedded
# by a mapping that preserves geodesic distances as well as possible:

pictures, angles = make_rotating_views(200)
X = PCA(20).fit_transform(pictures.reshape(len(pictures), -1) / 255)
pot = MappedEmbedding(cost="isomap", random_state=0).fit(X)
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot_trajectory(pot, pictures, n_images=10, ax=ax)

plt.show()
# sphinx_gallery_thumbnail_number = 2
