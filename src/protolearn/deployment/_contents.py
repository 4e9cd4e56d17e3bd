"""What the file of a model may ask for: nothing is unpacked or constructed that its own bytes do not justify.

skops describes a model as a tree of nodes. Each node names a loader and a class, and may refer to a member of the
archive. A loader can call the class with arguments from the file, and a constructor can allocate any amount of memory.
Therefore every class that is called is listed here, with a check of its arguments; all other classes of models are only
given the attributes in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from scipy.sparse import load_npz

from protolearn.core.files import check_unpacked, stored_array

__all__ = ["check_members", "check_nodes"]

Node = dict[str, Any]
Check = Callable[["Contents", Node], None]
MOST_POOLED = 32  # words of the pool of a seed; NumPy uses four
ADMITTED = ("protolearn.", "numpy.", "scipy.")  # beginnings of names of classes that need no word of the caller
LATTICE = "protolearn.core.lattices.Lattice"
N_LATTICE_ARRAYS = 3  # first arguments of a lattice, which are arrays; the others are plain values
KEYS = ("builtins.str", "builtins.int", "builtins.float", "builtins.bool")
BUFFERS = {"pos": 624, "buffer_pos": 4}  # words that the random generators of NumPy draw in advance


def check_members(archive: ZipFile, size: int) -> None:
    """Require that the members of an archive are not compressed, and no larger together than the file."""
    members = archive.infolist()
    if any(member.compress_type != ZIP_STORED for member in members) or sum(m.file_size for m in members) > size:
        raise ValueError("it is compressed, which models are not")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two of its members have the same name")


def check_nodes(archive: ZipFile, size: int, trusted: Collection[str]) -> None:
    """Require that no node of a model is larger than its part of the file, and none calls what it should not.

    Parameters
    ----------
    archive : ZipFile
        The file of a model.
    size : int
        Its number of bytes.
    trusted : collection of str
        Full names of types whose construction is left to the caller.
    """
    Contents(archive, size, trusted).check(json.loads(archive.read("schema.json")))


class Contents:
    """Walk over the nodes of a model file.

    Parameters
    ----------
    archive : ZipFile
        The file, whose members are not compressed.
    size : int
        Its number of bytes.
    trusted : collection of str
        Full names of types whose construction is left to the caller.
    """

    def __init__(self, archive: ZipFile, size: int, trusted: Collection[str]) -> None:
        self.archive = archive
        self.size = size
        self.trusted = trusted
        self.packed: list[Any] = []  # members of all sparse arrays, which are compressed
        self._known: dict[Any, tuple[str, str, int]] = {}  # loader, class and number of nodes below each identity
        self._readers: dict[str, Any] = {}  # identity of the node that reads each member

    def check(self, value: Any) -> int:
        """Check a node and all below it, and return their number.

        Nodes of the same identity become one object. `save` writes each of them in full. A mere reference to a large
        node would make nested lists grow exponentially.
        """
        if isinstance(value, list):
            return sum(map(self.check, value))
        if not isinstance(value, dict):
            return 0
        n_nodes = sum(map(self.check, value.values()))
        if "__loader__" not in value:
            return n_nodes
        identity, found = value.get("__id__"), (value["__loader__"], name_of(value), n_nodes)
        if identity and self._known.setdefault(identity, found) != found:
            raise ValueError("two of its objects have the same identity")
        CHECKS.get(value["__loader__"], _only())(self, value)
        return n_nodes + 1

    def member(self, node: Node) -> bytes:
        """Return the member of the archive that a node reads, which no other node may read."""
        name, identity = node["file"], node.get("__id__") or object()
        if self._readers.setdefault(name, identity) != identity:
            raise ValueError(f"two of its objects read {name}")
        return self.archive.read(name)


def name_of(node: Node) -> str:
    """Return the full name of the class of a node."""
    return f"{node['__module__']}.{node['__class__']}"


def _only(*names: str) -> Check:
    """Return a check that a class that `load` admits is one of these, or one that the caller trusts.

    All others are reported by `load`, which asks the caller.
    """

    def check(contents: Contents, node: Node) -> None:
        name = name_of(node)
        if name.startswith(ADMITTED) and name not in names and name not in contents.trusted:
            raise ValueError(f"{name} is not loaded by {node['__loader__']}")

    return check


def _named(_: Contents, node: Node) -> None:
    """Allow what is not called: types and functions that are referred to, and tuples.

    Of named tuples, skops admits only those of this library, which hold their arguments.
    """


def _attributes(contents: Contents, node: Node) -> None:
    """Allow objects of this library, which are given their attributes without a call of the constructor."""
    if not name_of(node).startswith("protolearn."):
        _only()(contents, node)


def _array(contents: Contents, node: Node) -> None:
    """Require as many bytes as the array has, and of a scalar an array of one value of its type."""
    name = name_of(node)
    kind = _scalar_type(name, np.generic)
    if kind is None:
        _only("numpy.ndarray")(contents, node)
    values = stored_array(contents.member(node)) if node["type"] == "numpy" else None
    if kind is not None and (values is None or values.shape != () or values.dtype.kind != np.dtype(kind).kind):
        raise ValueError(f"its {name} is something else")


def _scalar_type(name: str, *allowed: type) -> type | None:
    """Return a type of NumPy if it is a kind of the allowed ones."""
    module, _, attribute = name.rpartition(".")
    kind = getattr(np, attribute, None) if module == "numpy" else None
    return kind if isinstance(kind, type) and issubclass(kind, allowed) else None


def _sparse_array(contents: Contents, node: Node) -> None:
    """Require a compressed matrix whose unpacked parts are not too large, and whose indices lie within its shape."""
    _only("scipy.sparse._csr.csr_array")(contents, node)
    packed = contents.member(node)
    with ZipFile(BytesIO(packed)) as archive:
        contents.packed += archive.infolist()
        check_unpacked(contents.packed, contents.size, (ZIP_STORED, ZIP_DEFLATED))
        for member in archive.infolist():
            stored_array(archive.read(member))
    matrix = load_npz(BytesIO(packed))
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)


def _mapping(contents: Contents, node: Node) -> None:
    """Require keys of plain types, since skops calls the types of keys."""
    _only("builtins.dict", "collections.OrderedDict")(contents, node)
    for key in node["key_types"]["content"]:
        name = name_of(key)
        if key["__loader__"] != "TypeNode" or (
            name not in KEYS and not _scalar_type(name, np.number, np.bool_, np.str_)
        ):
            raise ValueError(f"{name} is not the type of a key")


def _value(node: Node) -> Any:
    """Return the number, text or truth value of a node, or None."""
    if node["__loader__"] != "JsonNode":
        raise ValueError(f"{name_of(node)} is not a plain value")
    value = json.loads(node["content"])
    if isinstance(value, list | dict):
        raise ValueError("a plain value is a list")
    return value


def _plain(_: Contents, node: Node) -> None:
    _value(node)


def _constructed(contents: Contents, node: Node) -> None:
    """Allow lattices, of arrays in the file and plain values: others of our classes may allocate what they are told."""
    _only(LATTICE)(contents, node)
    if name_of(node) != LATTICE:
        return
    for place, argument in enumerate(node["content"]["content"]):
        if argument["__loader__"] == "NdArrayNode" and place < N_LATTICE_ARRAYS:
            continue
        for part in argument["content"] if argument["__loader__"] == "TupleNode" else [argument]:
            _value(part)


def _loss(contents: Contents, node: Node) -> None:
    """Allow losses of scikit-learn, of plain values."""
    _only()(contents, node)
    for argument in node["__reduce__"]["args"]["content"]:
        _value(argument)


def _random_state(contents: Contents, node: Node) -> None:
    _only("numpy.random.mtrand.RandomState")(contents, node)
    _check_position(node["content"])


def _generator(contents: Contents, node: Node) -> None:
    """Require a seed with a small pool, all of whose words are mixed with each other."""
    _only("numpy.random._generator.Generator")(contents, node)
    _check_position(node["content"]["bit_generator"])
    seed = node["content"].get("seed_seq", {"content": {}})
    if "pool_size" in seed["content"] and _value(seed["content"]["pool_size"]) > MOST_POOLED:
        raise ValueError("its random generator has a large pool")


def _check_position(state: Node) -> None:
    """Require that a generator of random numbers stands within its buffer, beyond which NumPy would read on."""
    for values in (state["content"], state["content"]["state"]["content"]):
        for name in BUFFERS.keys() & values.keys():
            if not 0 <= _value(values[name]) <= BUFFERS[name]:
                raise ValueError("its random generator is at an impossible position")


def _bytes(contents: Contents, node: Node) -> None:
    _only("builtins.bytes", "builtins.bytearray")(contents, node)
    contents.member(node)


CHECKS: dict[str, Check] = {
    "BytearrayNode": _bytes,
    "BytesNode": _bytes,
    "ConstructorFromReduceNode": _constructed,
    "DTypeNode": _only("numpy.dtype"),
    "DefaultDictNode": _only("collections.defaultdict"),
    "DictNode": _mapping,
    "FunctionNode": _named,
    "JsonNode": _plain,
    "ListNode": _only("builtins.list"),
    "LossNode": _loss,
    "MaskedArrayNode": _only("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"),
    "NdArrayNode": _array,
    "ObjectNode": _attributes,
    "RandomGeneratorNode": _generator,
    "RandomStateNode": _random_state,
    "SetNode": _only("builtins.set"),
    "SliceNode": _only("builtins.slice"),
    "SparseMatrixNode": _sparse_array,
    "TupleNode": _named,
    "TypeNode": _named,
}
