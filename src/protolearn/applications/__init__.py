"""Prototypes at work: compression of pictures, classification of digits, videos of moving textures."""

from protolearn.applications.compression import ImageCompressor, decode
from protolearn.applications.digits import digit_classifier, digit_pixels
from protolearn.applications.textures import (
    DynamicTexture,
    LinearDynamicTexture,
    Trajectory,
    frame_errors,
    read_video,
    write_video,
)

__all__ = [
    "DynamicTexture",
    "ImageCompressor",
    "LinearDynamicTexture",
    "Trajectory",
    "decode",
    "digit_classifier",
    "digit_pixels",
    "frame_errors",
    "read_video",
    "write_video",
]
