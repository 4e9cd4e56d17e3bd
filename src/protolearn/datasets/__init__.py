"""Generators of benchmark data for prototype-based methods.

Random generators have a parameter `random_state` and return new samples from a fixed distribution; call a generator
twice with different seeds for a training and a test set.
"""

from protolearn.core.names import gone
from protolearn.datasets.images import (
    downsample_digits,
    make_lesion_images,
    make_lesions,
    make_noisy_histograms,
    make_spectra,
)
from protolearn.datasets.manifolds import (
    make_elongated_checkerboard,
    make_ring_line_square,
    make_spiral_uniform,
    make_spirals,
    make_swiss_roll,
    make_twin_peaks,
    make_vortex,
)
from protolearn.datasets.moving import make_dynamic_texture, make_rotating_views
from protolearn.datasets.objects import load_words, make_evolved_sequences, make_string_classes, make_topic_texts
from protolearn.datasets.shapes import (
    make_checkerboard,
    make_cigars,
    make_clouds,
    make_eleven_clouds,
    make_half_plane_classes,
    make_magnification_control,
    make_oblique_classes,
    make_ripley,
    make_three_tip_star,
)
from protolearn.datasets.textures import (
    TexturePatches,
    cut_image_patches,
    load_picture_textures,
    make_color_textures,
    texture_protocol,
)

__all__ = [
    "TexturePatches",
    "cut_image_patches",
    "downsample_digits",
    "load_picture_textures",
    "load_words",
    "make_checkerboard",
    "make_cigars",
    "make_clouds",
    "make_color_textures",
    "make_dynamic_texture",
    "make_eleven_clouds",
    "make_elongated_checkerboard",
    "make_evolved_sequences",
    "make_half_plane_classes",
    "make_lesion_images",
    "make_lesions",
    "make_magnification_control",
    "make_noisy_histograms",
    "make_oblique_classes",
    "make_ring_line_square",
    "make_ripley",
    "make_rotating_views",
    "make_spectra",
    "make_spiral_uniform",
    "make_spirals",
    "make_string_classes",
    "make_swiss_roll",
    "make_three_tip_star",
    "make_topic_texts",
    "make_twin_peaks",
    "make_vortex",
    "texture_protocol",
]

MOVED = (
    "make_connectivity",
    "make_corner_planes",
    "make_four_clouds",
    "make_gaussian_ellipses",
    "make_gaussian_surface",
    "make_hd_manifold",
    "make_kdd_surrogate",
    "make_label_image",
    "make_landsat_like",
    "make_landsat_surrogate",
    "make_pseudo_euclidean",
    "make_punctured_sphere",
    "make_spiral_gaussian",
    "make_three_gaussians",
    "make_toroidal_helix",
)

__getattr__ = gone(__name__, dict.fromkeys(MOVED, "It is in experiments/datasets.py of the source code."))
