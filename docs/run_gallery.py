"""Run the programs of the gallery, each in a process of its own, and draw their figures; fail if one of them fails.

``python docs/run_gallery.py [NAME ...]``, such as ``plot_wine_map``; all by default.
"""

import io
import os
import runpy
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parent / "gallery_src"
AT_A_TIME = 2


def main(names: list[str]) -> int:
    """Run the programs and return how many failed."""
    paths = [FOLDER / f"{name}.py" for name in names] or sorted(FOLDER.glob("plot_*.py"))
    start = time.perf_counter()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        failed = [path.stem for path, passed in zip(paths, pool.map(passes, paths)) if not passed]
    print(f"{len(paths)} programs in {time.perf_counter() - start:.0f} s, failed: {', '.join(failed) or 'none'}")
    return len(failed)


def passes(path: Path) -> bool:
    """Run a program in another process, on one thread; tell its time, or what it printed if it fails."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--draw", path],
        env=os.environ | {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    outcome = "" if done.returncode == 0 else f"FAILED\n{done.stdout}"
    print(f"{path.stem:30}{time.perf_counter() - start:6.1f} s  {outcome}", flush=True)
    return done.returncode == 0


def draw(path: str) -> None:
    """Run a program here and draw all of its figures, because some faults only show then."""
    runpy.run_path(path, run_name="__main__")
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        plt.figure(number).savefig(io.BytesIO())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draw"]:
        draw(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
