"""Generators of benchmark data for prototype-based methods.

Random generators have a parameter `random_state` and return new samples from a fixed distribution; call a generator
twice with different seeds for a training and a test set.
"""

from protolearn.datasets._classes import make_cigars, make_label_image, make_landsat_like, make_oblique_classes
from protolearn.datasets._clouds import make_clouds, make_eleven_clouds, make_four_clouds
from protolearn.datasets._color_textures import load_picture_textures, make_color_textures
from protolearn.datasets._digits import downsample_digits
from protolearn.datasets._lesions import make_lesion_images, make_lesions
from protolearn.datasets._manifold import make_magnification_control
from protolearn.datasets._manifolds import (
    make_corner_planes,
    make_gaussian_surface,
    make_hd_manifold,
    make_punctured_sphere,
    make_swiss_roll,
    make_toroidal_helix,
    make_twin_peaks,
)
from protolearn.datasets._moving import make_dynamic_texture, make_rotating_views
from protolearn.datasets._patches import TexturePatches, cut_image_patches, texture_protocol
from protolearn.datasets._planar import make_checkerboard, make_half_plane_classes, make_ripley
from protolearn.datasets._relational import (
    load_words,
    make_connectivity,
    make_pseudo_euclidean,
    make_string_classes,
    make_topic_texts,
)
from protolearn.datasets._shapes import (
    make_elongated_checkerboard,
    make_gaussian_ellipses,
    make_ring_line_square,
    make_spiral_gaussian,
    make_spiral_uniform,
    make_spirals,
    make_vortex,
)
from protolearn.datasets._surrogates import make_kdd_surrogate, make_landsat_surrogate
from protolearn.datasets._views import (
    make_evolved_sequences,
    make_noisy_histograms,
    make_spectra,
    make_three_gaussians,
    make_three_tip_star,
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
    "make_connectivity",
    "make_corner_planes",
    "make_dynamic_texture",
    "make_eleven_clouds",
    "make_elongated_checkerboard",
    "make_evolved_sequences",
    "make_four_clouds",
    "make_gaussian_ellipses",
    "make_gaussian_surface",
    "make_half_plane_classes",
    "make_hd_manifold",
    "make_kdd_surrogate",
    "make_label_image",
    "make_landsat_like",
    "make_landsat_surrogate",
    "make_lesion_images",
    "make_lesions",
    "make_magnification_control",
    "make_noisy_histograms",
    "make_oblique_classes",
    "make_pseudo_euclidean",
    "make_punctured_sphere",
    "make_ring_line_square",
    "make_ripley",
    "make_rotating_views",
    "make_spectra",
    "make_spiral_gaussian",
    "make_spiral_uniform",
    "make_spirals",
    "make_string_classes",
    "make_swiss_roll",
    "make_three_gaussians",
    "make_three_tip_star",
    "make_topic_texts",
    "make_toroidal_helix",
    "make_twin_peaks",
    "make_vortex",
    "texture_protocol",
]
