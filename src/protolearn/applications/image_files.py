"""Reading images from files, and from folders with a sub-folder for each class and masks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolearn.core.files import FilePath, file_size, most_pixels
from protolearn.core.parameters import constrained, integer, none, option
from protolearn.core.types import Array, Bools

__all__ = [
    "ImageFolder",
    "check_mask",
    "image_candidates",
    "mask_beside",
    "open_image",
    "read_each",
    "read_image",
    "read_image_folder",
    "read_mask",
    "read_pair",
]

Image = NDArray[np.uint8]
Mask = Bools
Pair = tuple[Image, Mask | None]

# Few formats, all of pixels: others that Pillow opens start programs (EPS) or hold no pictures.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".pnm", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
COLORED = ("CMYK", "HSV", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "YCbCr")  # modes of Pillow
NAMED = 5  # files that a warning names; all are in ImageFolder.skipped


@dataclass(frozen=True)
class ImageFolder:
    """Labeled images of a folder, as returned by `read_image_folder`.

    Attributes
    ----------
    images : list of ndarray of shape (height, width, 3), of uint8
        Images with red, green and blue channels.
    labels : ndarray of shape (n_images,), of str
        Label of each image: the name of its sub-folder. Learning a metric requires at least two labels.
    paths : list of Path
        File of each image.
    masks : list of (ndarray of shape (height, width), of bool, or None), or None
        Region of interest of each image, None for images without a mask; None if there are no masks at all.
    skipped : list of tuple (Path, str)
        Files that were skipped, with the reasons.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from protolearn.applications import ImageFolder
    >>> picture, region = np.zeros((2, 2, 3), np.uint8), np.eye(2, dtype=bool)
    >>> found = ImageFolder([picture, picture], np.array(["leaf", "rose"]), [Path("1"), Path("2")], [region, None], [])
    >>> [mask is not None for image, mask in found.pairs]
    [True, False]
    """

    images: list[Image]
    labels: Array
    paths: list[Path]
    masks: list[Mask | None] | None
    skipped: list[tuple[Path, str]]

    @property
    def pairs(self) -> list[Pair]:
        """Images with their masks, in the input format of `RegionColors`."""
        return list(zip(self.images, self.masks or [None] * len(self.images)))


def read_image(path: FilePath) -> Image:
    """Read a color image.

    This function needs Pillow (``pip install 'protolearn[images]'``).

    Parameters
    ----------
    path : str or path
        File of type BMP, GIF, JPEG, PNG, PPM, TIFF or WebP. If it has several frames or pages, the first is read.

    Returns
    -------
    image : ndarray of shape (height, width, 3), of uint8
        Red, green and blue, rotated according to the orientation tag of the file. Transparent pixels are composited
        over white, palettes are expanded, and 16-bit values are reduced to their upper 8 bits. Color profiles are
        ignored; colors are interpreted as sRGB.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, gray, of another type or too large. The limits are 90 million pixels and, for
        images beyond 8 million pixels, 1000 pixels for each byte of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from PIL import Image
    >>> from protolearn.applications import read_image
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "red.png"
    ...     Image.fromarray(np.full((2, 3, 3), (255, 0, 0), np.uint8)).save(file)
    ...     read_image(file).shape
    (2, 3, 3)
    """
    picture = open_image(path)
    if picture.mode not in COLORED:
        raise ValueError(
            f"{path} is gray (Pillow's mode {picture.mode}), but a color image is needed; remove it, or "
            "store it in color."
        )
    if picture.has_transparency_data:
        picture = _over_white(picture)
    return np.array(picture if picture.mode == "RGB" else picture.convert("RGB"))


def read_mask(path: FilePath) -> Mask:
    """Read a mask.

    This function needs Pillow (``pip install 'protolearn[images]'``).

    Parameters
    ----------
    path : str or path
        Image with two levels, such as black and white, in a file of one of the types of `read_image`.

    Returns
    -------
    mask : ndarray of shape (height, width), of bool
        True inside the region: pixels brighter than the midpoint between the darkest and the brightest pixel.

    See Also
    --------
    RegionColors : Color features inside and outside a mask.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from PIL import Image
    >>> from protolearn.applications import read_mask
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mask.png"
    ...     Image.fromarray(np.array([[0, 255, 255], [0, 0, 255]], np.uint8)).save(file)
    ...     read_mask(file)
    array([[False,  True,  True],
           [False, False,  True]])
    """
    picture = open_image(path)
    levels = np.asarray(picture if picture.mode.startswith(("I", "F")) else picture.convert("L"))
    return levels > (np.float64(levels.min()) + np.float64(levels.max())) / 2


@constrained(on_error=option("raise", "skip"), masks=option("auto") | none, max_size=integer(1) | none)
def read_image_folder(
    folder: FilePath, *, on_error: str = "raise", masks: str | None = "auto", max_size: int | None = None
) -> ImageFolder:
    """Read the images of a folder that has a sub-folder for each class.

    Files are read in the order of their names, including files in nested folders of a class. Hidden files and files
    without an image suffix are ignored. This function needs Pillow (``pip install 'protolearn[images]'``).

    Parameters
    ----------
    folder : str or path
        Folder whose sub-folders are named after the labels.
    on_error : {"raise", "skip"}, default="raise"
        How to handle a file that cannot be used, for example because it is damaged or gray, or because its mask has
        another size. ``"raise"`` raises an error; ``"skip"`` skips such files and issues one warning with their number.
        Symbolic links are not followed and count as files that cannot be used.
    masks : {"auto", None}, default="auto"
        ``"auto"`` reads the masks that exist: the mask of the image ``class/name.jpg`` is ``class/name_mask.png``, or
        ``masks/class/name.png`` in a folder ``masks`` next to the classes. White is inside. None ignores masks.
    max_size : int, optional
        Maximum height and width. Larger images are reduced by an integer factor, together with their masks, as soon as
        they are read. Mean colors hardly change, and thousands of photographs fit into memory.

    Returns
    -------
    ImageFolder
        Images, labels, paths, masks and skipped files.

    See Also
    --------
    read_image : Reads a single image.
    RegionColors : Color features of images.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from PIL import Image
    >>> from protolearn.applications import read_image_folder
    >>> with TemporaryDirectory() as folder:
    ...     for name, color in {"rose": (255, 0, 0), "leaf": (0, 128, 0)}.items():
    ...         (Path(folder) / name).mkdir()
    ...         Image.fromarray(np.full((4, 4, 3), color, np.uint8)).save(Path(folder) / name / "1.png")
    ...     found = read_image_folder(folder)
    >>> found.labels.tolist(), found.images[1][0, 0].tolist(), found.masks
    (['leaf', 'rose'], [255, 0, 0], None)
    """
    pairs, labels, paths, skipped = read_each(folder, _as_it_is, on_error, masks is not None, max_size)
    regions = [region for _, region in pairs]
    any_mask = any(region is not None for region in regions)
    return ImageFolder([image for image, _ in pairs], labels, paths, regions if any_mask else None, skipped)


def read_each(
    folder: FilePath, use: Callable[[Pair], Any], on_error: str, masks: bool = True, max_size: int | None = None
) -> tuple[list[Any], Array, list[Path], list[tuple[Path, str]]]:
    """Apply a function to each image and mask of a folder, with one image in memory at a time.

    Parameters
    ----------
    folder : str or path
        Folder that has a sub-folder for each class.
    use : callable
        Function of a pair (image, mask), where the mask may be None. Its results are collected.
    on_error : {"raise", "skip"}
        How to handle a file that cannot be used, see `read_image_folder`.
    masks : bool, default=True
        Whether masks are read.
    max_size : int, optional
        Maximum height and width, see `read_image_folder`.

    Returns
    -------
    made : list
        Result of ``use`` for each image.
    labels : ndarray of shape (n_images,), of str
        Label of each image: the name of its sub-folder.
    paths : list of Path
        File of each image.
    skipped : list of tuple (Path, str)
        Files that were skipped, with the reasons.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from protolearn.applications.image_files import read_each
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("red", "blue"):
    ...         (Path(folder) / name).mkdir()
    ...         Image.new("RGB", (4, 4), name).save(f"{folder}/{name}/1.png")
    ...     colors, labels, _, _ = read_each(folder, lambda pair: pair[0].mean(axis=(0, 1)).tolist(), "raise")
    >>> colors, labels.tolist()
    ([[0.0, 0.0, 255.0], [255.0, 0.0, 0.0]], ['blue', 'red'])
    """
    root = Path(folder)
    files = _labeled_files(root)
    made, paths, skipped = [], [], []
    for path, mask_path in files:
        try:
            made.append(use(_image_and_mask(root, path, mask_path if masks else None, max_size)))
            paths.append(path)
        except (OSError, ValueError) as error:
            reason = str(error) if str(path.parent) in str(error) else f"{path}: {error}"
            if on_error == "raise":
                raise ValueError(reason) from error
            skipped.append((path, reason))
    if not made:
        raise ValueError(f"None of the {len(files)} images in {root} can be used; the first: {skipped[0][1]}")
    if skipped:
        _warn_of_skipped(skipped, len(files))
    return made, np.array([path.relative_to(root).parts[0] for path in paths]), paths, skipped


def read_pair(path: FilePath, mask: FilePath | None = None) -> Pair:
    """Read an image and its mask: the given one, or the file with the suffix ``_mask``, if it exists.

    Parameters
    ----------
    path : str or path
        Image file, see `read_image`.
    mask : str or path, optional
        Mask file, see `read_mask`.

    Returns
    -------
    image : ndarray of shape (height, width, 3), of uint8
        Red, green and blue.
    mask : ndarray of shape (height, width), of bool, or None
        Region of interest; None if there is no mask.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from PIL import Image
    >>> from protolearn.applications.image_files import read_pair
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("RGB", (2, 2), "red").save(f"{folder}/rose.png")
    ...     Image.fromarray(np.array([[0, 255], [255, 255]], np.uint8)).save(f"{folder}/rose_mask.png")
    ...     image, mask = read_pair(f"{folder}/rose.png")
    >>> image[mask].tolist()
    [[255, 0, 0], [255, 0, 0], [255, 0, 0]]
    """
    image, found = read_image(path), mask or mask_beside(path)
    return image, None if found is None else read_mask(found)


def mask_beside(path: FilePath) -> Path | None:
    """Return the mask file next to an image, named like the image with the suffix ``_mask``, if it exists.

    Parameters
    ----------
    path : str or path
        Image file.

    Returns
    -------
    Path or None
        Path of the mask, of any image type.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.applications.image_files import mask_beside
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "rose_mask.png").touch()
    ...     mask_beside(f"{folder}/rose.jpg").name, mask_beside(f"{folder}/leaf.jpg")
    ('rose_mask.png', None)
    """
    file = Path(path)
    beside = (file.with_name(f"{file.stem}_mask{suffix}") for suffix in SUFFIXES)
    return next((one for one in beside if one.is_file()), None)


def open_image(path: FilePath) -> Any:
    """Open an image file with Pillow, upright and fully loaded; the type is determined by the content.

    Parameters
    ----------
    path : str or path
        File of type BMP, GIF, JPEG, PNG, PPM, TIFF or WebP, with any name.

    Returns
    -------
    PIL.Image.Image
        The first frame or page.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of another type or too large.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from protolearn.applications.image_files import open_image
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "gray.png"
    ...     Image.new("L", (3, 2)).save(file)
    ...     picture = open_image(file)
    >>> picture.size, picture.mode
    ((3, 2), 'L')
    """
    pillow, operations = _pillow()
    size = file_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on metadata
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(path, formats=FORMATS) as picture:
                if picture.width * picture.height > most_pixels(size):
                    raise ValueError(f"{picture.width} x {picture.height} pixels are more than {size:,} bytes can hold")
                return operations.exif_transpose(picture)
    except PermissionError:
        raise
    except Exception as error:  # decoders raise many kinds, SyntaxError and struct.error among them
        raise ValueError(f"{path} is damaged, too large, or not an image of a supported type: {error}") from error


def image_candidates(root: FilePath) -> Iterator[Path]:
    """Yield all files with an image suffix, and links to folders, which are reported rather than followed.

    Parameters
    ----------
    root : str or path
        Folder to search, including sub-folders; hidden files are ignored.

    Yields
    ------
    Path
        Path of a file or link, in no particular order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from protolearn.applications.image_files import image_candidates
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("rose.jpg", "notes.txt", ".hidden.png"):
    ...         (Path(folder) / name).touch()
    ...     [path.name for path in image_candidates(folder)]
    ['rose.jpg']
    """
    for folder, subfolders, names in os.walk(root, onerror=_raise):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        links = [name for name in subfolders if (Path(folder) / name).is_symlink()]
        images = [name for name in names if Path(name).suffix.lower() in SUFFIXES and not name.startswith(".")]
        yield from (Path(folder) / name for name in (*links, *images))


def check_mask(mask: ArrayLike, shape: tuple[int, ...]) -> Mask:
    """Validate that a mask has the size of its image, an inside (not 0) and an outside (0).

    Parameters
    ----------
    mask : array-like of shape (height, width)
        Booleans, or numbers that are nonzero inside.
    shape : tuple of int
        Shape of the image; only height and width are used.

    Returns
    -------
    ndarray of shape (height, width), of bool
        Mask that is True inside.

    Examples
    --------
    >>> from protolearn.applications.image_files import check_mask
    >>> check_mask([[0, 255], [255, 255]], (2, 2, 3))
    array([[False,  True],
           [ True,  True]])
    >>> check_mask([[1, 1], [1, 1]], (2, 2, 3))
    Traceback (most recent call last):
    ...
    ValueError: The mask has no outside; mark some pixels and leave some unmarked.
    """
    values = np.asarray(mask)
    if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and np.isnan(values).any()):
        raise ValueError("The mask must contain booleans, or numbers without NaN; use True for the inside.")
    if values.shape != shape[:2]:
        raise ValueError(
            f"The mask has shape {values.shape}, but its image has height and width {shape[:2]}; both must be the same."
        )
    inside = values != 0
    if inside.all() or not inside.any():
        missing = "outside" if inside.all() else "inside"
        raise ValueError(f"The mask has no {missing}; mark some pixels and leave some unmarked.")
    return inside


def _as_it_is(pair: Pair) -> Pair:
    return pair


def _labeled_files(root: Path) -> list[tuple[Path, Path | None]]:
    """Return the images of a folder in the order of their names, each with its mask."""
    if not root.is_dir():
        raise ValueError(
            f"{root} is neither an image file nor a folder; give a folder with a sub-folder of images for each class."
        )
    files = sorted(image_candidates(root))
    by_stem = {path.with_suffix(""): path for path in files}

    def mask_of(path: Path) -> Path | None:
        beside, apart = path.with_name(f"{path.stem}_mask"), root / "masks" / path.relative_to(root).with_suffix("")
        return by_stem.get(beside) or by_stem.get(apart)

    beside = {by_stem.get(path.with_name(f"{path.stem}_mask")) for path in files}
    images = [path for path in files if path not in beside and root / "masks" not in path.parents]
    if not images:
        raise ValueError(f"{root} contains no images; give a folder with a sub-folder of images for each class.")
    if all(path.parent == root and not path.is_dir() for path in images):
        raise ValueError(
            f"{root} contains images but no sub-folders, which name the labels; move the images of each class to one."
        )
    return [(path, mask_of(path)) for path in images]


def _raise(error: OSError) -> None:
    raise error


def _image_and_mask(root: Path, path: Path, mask_path: Path | None, max_size: int | None) -> Pair:
    """Read an image of a class and its mask."""
    for one in filter(None, (path, mask_path)):
        if one.is_symlink() or not one.is_file():
            raise ValueError(f"{one} is a symbolic link or not a regular file; replace it by the file itself.")
    if path.parent == root:
        raise ValueError(f"{path} has no label, because it is not in a sub-folder; move it to that of its class.")
    image = read_image(path)
    small = image if max_size is None else _shrunk(image, max_size)
    if mask_path is None:
        return small, None
    try:
        mask = check_mask(read_mask(mask_path), image.shape)
        if max_size is not None:
            mask = check_mask(_shrunk(255 * mask.astype(np.uint8), max_size) > 127, small.shape)
        return small, mask
    except ValueError as error:
        raise ValueError(f"{mask_path}: {error}") from error


def _shrunk(image: Image, max_size: int) -> Image:
    """Average squares of pixels so that height and width are at most of a size."""
    factor = -(-max(image.shape[:2]) // max_size)
    return np.array(_pillow()[0].fromarray(image).reduce(factor))


def _warn_of_skipped(skipped: list[tuple[Path, str]], n_files: int) -> None:
    reasons = [reason for _, reason in skipped[:NAMED]]
    if len(skipped) > NAMED:
        reasons.append(f"... and {len(skipped) - NAMED} more; see skipped, or skipped_ of a retriever.")
    warnings.warn("\n".join([f"Skipped {len(skipped)} of {n_files} images:", *reasons]), UserWarning, stacklevel=5)


def _over_white(picture: Any) -> Any:
    """Lay a Pillow image with transparency over white."""
    layers = picture.convert("RGBA")
    ground = _pillow()[0].new("RGBA", layers.size, "white")
    ground.alpha_composite(layers)
    return ground


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise ImportError(
            "Images are read with Pillow, which could not be imported; install it with: "
            "pip install 'protolearn[images]'"
        ) from error
    return Image, ImageOps
