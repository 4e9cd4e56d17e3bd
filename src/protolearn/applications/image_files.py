"""Images from files: one, or a folder of them with a sub-folder for each class and a mask for each image."""

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
    """Labeled images of a folder, as `read_image_folder` returns them.

    Attributes
    ----------
    images : list of ndarray of shape (height, width, 3), of uint8
        Red, green and blue.
    labels : ndarray of shape (n_images,), of str
        The sub-folder of each image. There may be one only, but a metric can only be learned from two or more.
    paths : list of Path
        The file of each image.
    masks : list of (ndarray of shape (height, width), of bool, or None), or None
        The region of interest of each image, None where there is no mask; None if there are no masks at all.
    skipped : list of tuple (Path, str)
        Files that were left out, and why.

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
        """Images with their masks, as `RegionColors` takes them."""
        return list(zip(self.images, self.masks or [None] * len(self.images)))


def read_image(path: FilePath) -> Image:
    """Read an image in color.

    Needs Pillow, which comes with ``pip install 'protolearn[images]'``.

    Parameters
    ----------
    path : str or path
        A file of type BMP, GIF, JPEG, PNG, PPM, TIFF or WebP; of several frames or pages, the first is read.

    Returns
    -------
    image : ndarray of shape (height, width, 3), of uint8
        Red, green and blue, upright as the camera says. What is transparent is laid over white, palettes are replaced
        by their colors, of 16 bits the upper 8 are kept, and color profiles are not used: colors are taken as sRGB.

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of another type or too large, or if it is gray, so that it has no colors.
        Too large are 90 million pixels, and more pixels than bytes can hold: beyond 8 million, 1000 for each byte.

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
            f"{path} is gray (Pillow's mode {picture.mode}), but red, green and blue are needed; leave it out, or "
            "store it in color."
        )
    if picture.has_transparency_data:
        picture = _over_white(picture)
    return np.array(picture if picture.mode == "RGB" else picture.convert("RGB"))


def read_mask(path: FilePath) -> Mask:
    """Read a mask.

    Needs Pillow, which comes with ``pip install 'protolearn[images]'``.

    Parameters
    ----------
    path : str or path
        An image of two levels, such as black and white, in a file of one of the types of `read_image`.

    Returns
    -------
    mask : ndarray of shape (height, width), of bool
        Inside: what is brighter than the middle of the darkest and the brightest pixel.

    See Also
    --------
    RegionColors : What masks are for.

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

    Files are taken in the order of their names, those in sub-folders of a class as well. Hidden files and those that
    are no images by their name are left out. Needs Pillow, which comes with ``pip install 'protolearn[images]'``.

    Parameters
    ----------
    folder : str or path
        The folder. The names of its sub-folders are the labels.
    on_error : {"raise", "skip"}, default="raise"
        What to do about a file that cannot be used, because it is damaged or gray, say, or because its mask does not
        fit: raise an error, or leave it out, with one warning that counts such files. Symbolic links are not followed,
        and count as files that cannot be used.
    masks : {"auto", None}, default="auto"
        "auto" reads masks where there are any: that of the image ``class/name.jpg`` is ``class/name_mask.png``, or
        ``masks/class/name.png`` in a folder ``masks`` beside the classes; white is inside. None leaves masks out.
    max_size : int, optional
        Largest height or width. Images that are larger are shrunk by a whole factor, together with their masks, as soon
        as they are read. Mean colors hardly change by that, and thousands of photographs fit into memory.

    Returns
    -------
    ImageFolder
        Images, labels, paths, masks, and which files were skipped.

    See Also
    --------
    read_image : How a file becomes an array.
    RegionColors : Colors of such images.

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
    """Return what ``use`` makes of each image and mask of a folder, one in memory at a time; labels, paths, skipped.

    Parameters
    ----------
    folder : str or path
        A folder that has a sub-folder for each class.
    use : callable
        Takes an image and its mask, or None, as a pair; what it returns is kept.
    on_error : {"raise", "skip"}
        What to do about a file that cannot be used, see `read_image_folder`.
    masks : bool, default=True
        Whether masks are read.
    max_size : int, optional
        Largest height or width, see `read_image_folder`.

    Returns
    -------
    made : list
        What ``use`` has returned for each image.
    labels : ndarray of shape (n_images,), of str
        The sub-folder of each.
    paths : list of Path
        The file of each.
    skipped : list of tuple (Path, str)
        Files that were left out, and why.

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
    """Return an image and its mask: the given one, or what is called like the image with ``_mask``, or None.

    Parameters
    ----------
    path : str or path
        An image, as `read_image` takes it.
    mask : str or path, optional
        Its mask, as `read_mask` takes it.

    Returns
    -------
    image : ndarray of shape (height, width, 3), of uint8
        Red, green and blue.
    mask : ndarray of shape (height, width), of bool, or None
        The region of interest.

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
    """Return the file that is called like an image with ``_mask``, if there is one.

    Parameters
    ----------
    path : str or path
        An image.

    Returns
    -------
    Path or None
        The mask, of any type of image.

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
    """Return a Pillow image with all its pixels, upright; only a few types are read, whatever the file is called.

    Parameters
    ----------
    path : str or path
        A file of type BMP, GIF, JPEG, PNG, PPM, TIFF or WebP.

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
        raise ValueError(f"{path} is damaged, too large, or no image of a known type: {error}") from error


def image_candidates(root: FilePath) -> Iterator[Path]:
    """Yield all that is an image by its name, and links to folders, which are reported rather than followed.

    Parameters
    ----------
    root : str or path
        A folder; sub-folders are searched, too, and hidden files are left out.

    Yields
    ------
    Path
        A file or a link, in no particular order.

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
    """Require a mask of an image's height and width that has an inside (not 0) and an outside (0).

    Parameters
    ----------
    mask : array-like of shape (height, width)
        Truth values, or numbers that are not 0 inside.
    shape : tuple of int
        Shape of the image, of which height and width count.

    Returns
    -------
    ndarray of shape (height, width), of bool
        True where it is inside.

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
        raise ValueError("The mask must be of truth values, or of numbers without NaN; give True where it is inside.")
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
            f"{root} is neither an image file nor a folder; give one that has a sub-folder of images for each class."
        )
    files = sorted(image_candidates(root))
    by_stem = {path.with_suffix(""): path for path in files}

    def mask_of(path: Path) -> Path | None:
        beside, apart = path.with_name(f"{path.stem}_mask"), root / "masks" / path.relative_to(root).with_suffix("")
        return by_stem.get(beside) or by_stem.get(apart)

    beside = {by_stem.get(path.with_name(f"{path.stem}_mask")) for path in files}
    images = [path for path in files if path not in beside and root / "masks" not in path.parents]
    if not images:
        raise ValueError(f"{root} has no images; give a folder that has a sub-folder of images for each class.")
    if all(path.parent == root and not path.is_dir() for path in images):
        raise ValueError(
            f"{root} has images but no classes, so they have no labels; move those of each class to a sub-folder."
        )
    return [(path, mask_of(path)) for path in images]


def _raise(error: OSError) -> None:
    raise error


def _image_and_mask(root: Path, path: Path, mask_path: Path | None, max_size: int | None) -> Pair:
    """Read an image of a class and its mask."""
    for one in filter(None, (path, mask_path)):
        if one.is_symlink() or not one.is_file():
            raise ValueError(f"{one} is a symbolic link or no ordinary file; put the file itself there.")
    if path.parent == root:
        raise ValueError(f"{path} has no label, since it is in no sub-folder; move it to that of its class.")
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
        reasons.append(f"... and {len(skipped) - NAMED} more, see skipped, or skipped_ of a retriever.")
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
