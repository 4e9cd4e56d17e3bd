"""Documents with arrays as text that a page can hold: JSON and the bytes of the arrays, compressed, in base64."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import Any

import numpy as np

from protolearn.core.types import Array

__all__ = ["narrowed", "pack"]

FLOATS = ("float32", "float64")
STORED = ("uint8", "int8", "uint16", "int16", "int32", *FLOATS)  # a typed array of JavaScript for each
WORD = 8  # bytes; arrays begin at multiples, as typed arrays must


def pack(document: dict[str, Any]) -> str:
    """Return a document of dicts, lists, strings, numbers and arrays as one line of letters.

    Compressed are four bytes with the length of the JSON, the JSON, and the arrays one after another. In the JSON, an
    array is ``{"#": [type, place, shape]}``. Infinite numbers and NaN are allowed in arrays only.

    Examples
    --------
    >>> text = pack({"title": "Iris", "numbers": np.array([1.0, 2.5])})
    >>> from base64 import b64decode
    >>> gzip.decompress(b64decode(text))[4:54]
    b'{"title":"Iris","numbers":{"#":["float32",0,[2]]}}'
    """
    blocks: list[bytes] = []
    size = 0

    def stored(value: Any) -> Any:
        nonlocal size
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{type(value).__name__} cannot be part of a page")
        data = narrowed(value)
        place = size
        block = data.astype(data.dtype.newbyteorder("<")).tobytes()
        blocks.append(block + bytes(-len(block) % WORD))
        size += len(blocks[-1])
        return {"#": [data.dtype.name, place, list(data.shape)]}

    text = json.dumps(document, default=stored, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % WORD)
    return b64encode(gzip.compress(len(text).to_bytes(4, "little") + text + b"".join(blocks), 6, mtime=0)).decode()


def narrowed(values: Array) -> Array:
    """Return the same numbers in the smallest type that holds them all.

    Examples
    --------
    >>> narrowed(np.array([0.0, 255.0])).dtype, narrowed(np.array([0.5, 0.1])).dtype
    (dtype('uint8'), dtype('float64'))
    """
    broken = values.dtype.kind == "f" and bool((values != np.rint(values)).any())
    for name in FLOATS if broken else STORED:
        with np.errstate(all="ignore"):
            smaller = values.astype(name)
        if np.array_equal(smaller, values, equal_nan=values.dtype.kind == "f"):
            return smaller
    return values.astype(np.float64)
