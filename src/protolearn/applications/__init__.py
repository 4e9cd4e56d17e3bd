"""Applications: image compression, digit and texture classification, video synthesis and image retrieval."""

from protolearn.applications.color import (
    COLOR_SPACES,
    ColorDifference,
    ImageFolder,
    RegionColors,
    convert_color,
    read_image,
    read_image_folder,
    read_mask,
)
from protolearn.applications.color_textures import GrayPowers, gray_texture_classifier
from protolearn.applications.compression import ImageCompressor, decode_image
from protolearn.applications.retrieval import (
    ImageRetriever,
    Recommendation,
    RetrievalHits,
    RetrievalRates,
    contact_sheet,
    retrieval_rates,
)
from protolearn.applications.textures import (
    DynamicTexture,
    LinearDynamicTexture,
    Trajectory,
    frame_errors,
    read_video,
    write_video,
)
from protolearn.core.names import gone

__all__ = [
    "COLOR_SPACES",
    "ColorDifference",
    "DynamicTexture",
    "GrayPowers",
    "ImageCompressor",
    "ImageFolder",
    "ImageRetriever",
    "LinearDynamicTexture",
    "Recommendation",
    "RegionColors",
    "RetrievalHits",
    "RetrievalRates",
    "Trajectory",
    "contact_sheet",
    "convert_color",
    "decode_image",
    "frame_errors",
    "gray_texture_classifier",
    "read_image",
    "read_image_folder",
    "read_mask",
    "read_video",
    "retrieval_rates",
    "write_video",
]

__getattr__ = gone(
    __name__,
    {
        "digit_classifier": "Use protolearn.PrototypeClassifier(map, per_class=True) on pixels between 0 and 1.",
        "digit_pixels": "Divide the pixels by their largest value.",
    },
)
