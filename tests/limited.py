"""Readers of files in processes of their own, with an upper limit on memory: what becomes of forged files.

`outcomes` starts this program once for a list of files. It imports the reader, and reads each file in a fork of itself,
which may set aside no more than `ALLOWED` bytes beyond those of the program, and compute no longer than `SECONDS`.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

ALLOWED = 400 * 2**20
SECONDS = 60
ROOT = Path(__file__).parents[1]


def outcomes(reader, good, paths):
    """Read files by a reader, and return for each "read", or the type and the message of the error.

    Parameters
    ----------
    reader : str
        Module and function, such as ``"protolearn:load"``.
    good : list of path
        Readable files, which are read first, outside the limits, to import and compile what reading needs.
    paths : list of path
        Files.

    Returns
    -------
    list of str
        A fork that breaks down is reported as "ended by" with the number of the signal.
    """
    command = [sys.executable, str(Path(__file__)), reader, str(len(good)), *map(str, [*good, *paths])]
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | single | {"PYTHONPATH": search}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(good) + len(paths)
    assert all(said == "read" for said in found[: len(good)]), found[: len(good)]
    return found[len(good) :]


def read_media(path):
    """Read an image, a compressed image, a video or an index of images, according to its suffix."""
    from protolearn.applications import decode_image, read_image, read_video
    from protolearn.applications.index_file import read_index

    readers = {".plc": lambda path: decode_image(path.read_bytes()), ".mp4": read_video, ".index": read_index}
    return readers.get(path.suffix, read_image)(path)


def main():
    from importlib import import_module

    module, _, name = sys.argv[1].partition(":")
    read = getattr(import_module(module), name)
    warnings.simplefilter("ignore")
    n_good, paths = int(sys.argv[2]), list(map(Path, sys.argv[3:]))
    for path in paths[:n_good]:
        read(path)
    for path in paths:
        print(json.dumps(in_a_fork(read, path)), flush=True)


def in_a_fork(read, path):
    """Return what becomes of one file."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sender, outcome(read, path).encode()[:4000])
        os._exit(0)
    os.close(sender)
    with open(receiver, "rb") as stream:
        said = stream.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    return f"ended by {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


def outcome(read, path):
    import resource

    size = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize:"))
    resource.setrlimit(resource.RLIMIT_AS, (1024 * int(size.split()[1]) + ALLOWED, -1))
    resource.setrlimit(resource.RLIMIT_CPU, (int(sum(os.times()[:2])) + SECONDS, -1))
    try:
        read(path)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "read"


if __name__ == "__main__":
    main()
