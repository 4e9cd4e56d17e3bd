"""Pages that programs of the gallery write, shown live beneath the block that writes them.

A block that sets ``page`` to the path that ``explore`` returns is followed by the page itself, in a frame.
"""

from pathlib import Path
from shutil import copyfile
from typing import Any

LIVE = Path(__file__).parents[1] / "_static" / "live"  # copied with all else in _static when the build ends
FRAME = """
.. raw:: html

    <iframe class="live" src="../_static/live/{name}" title="{name}" loading="lazy"></iframe>
    <p><a href="../_static/live/{name}">Open this page in full</a></p>

"""


def scraper(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Return the page that a block has written, if any, as reStructuredText."""
    page = variables["example_globals"].pop("page", None)
    if page is None:
        return ""
    LIVE.mkdir(parents=True, exist_ok=True)
    copyfile(page, LIVE / page.name)
    return FRAME.format(name=page.name)
