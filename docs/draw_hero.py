"""Draw the picture of the README: run its first example, and store the figure that it draws.

``python docs/draw_hero.py [FILE]``; docs/_static/digits-map.png by default.
"""

import doctest
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

README = Path(__file__).parents[1] / "README.md"
PICTURE = Path(__file__).parent / "_static" / "digits-map.png"


def main(path: Path = PICTURE) -> None:
    """Write the picture with 256 colors, which keeps the file small."""
    first = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(first):
        exec(compile(example.source, str(README), "single"), names)
    drawn = BytesIO()
    names["ax"].figure.savefig(drawn, dpi=200, transparent=True)
    Image.open(drawn).quantize(256, Image.Quantize.FASTOCTREE).save(path, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
