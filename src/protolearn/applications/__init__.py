"""Prototypes at work: compression of pictures, classification of digits."""

from protolearn.applications.compression import ImageCompressor, decode
from protolearn.applications.digits import digit_classifier, digit_pixels

__all__ = ["ImageCompressor", "decode", "digit_classifier", "digit_pixels"]
