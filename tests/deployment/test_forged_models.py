"""Forged files of models: none gets more memory than its own bytes justify, and no class is called but by its rule."""

import inspect
import json
from importlib import import_module
from io import BytesIO
from pkgutil import walk_packages
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protolearn
from protolearn import GMLVQ, SOM
from protolearn.deployment._contents import Contents
from tests.limited import outcomes

pytest.importorskip("skops")
LIBRARY = "protolearn.lvq.spectral.HalfSpectrum"
CALLED = ("ConstructorFromReduceNode", "NdArrayNode", "ListNode", "SetNode", "DictNode", "LossNode", "RandomStateNode")


def node(loader, name, **content):
    module, _, attribute = name.rpartition(".")
    return {"__class__": attribute, "__module__": module, "__loader__": loader, **content}


def plain(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def listed(*nodes):
    return node("ListNode", "builtins.list", content=list(nodes))


def pair(*nodes):
    return node("TupleNode", "builtins.tuple", content=list(nodes))


def mapping(**nodes):
    types = listed(*[node("TypeNode", "builtins.str") for _ in nodes])
    return node("DictNode", "builtins.dict", key_types=types, content=nodes)


def called(name, *arguments):
    return node("ConstructorFromReduceNode", name, content=pair(*arguments))


def stored(file, name="numpy.ndarray"):
    return node("NdArrayNode", name, type="numpy", file=file)


def array(values):
    stream = BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def header(shape, dtype="<f8"):
    stream = BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def packed(**arrays):
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            archive.writestr(f"{name}.npy", array(values))
    return stream.getvalue()


def sparse(n_zeros):
    """Return a sparse array of zeros, which are stored."""
    zeros = np.zeros(n_zeros, dtype=np.int32)
    parts = {"indices": zeros, "indptr": np.array([0, n_zeros]), "data": zeros.astype(float)}
    return packed(**parts, format=np.array(b"csr"), shape=np.array([1, 1]), _is_array=np.array(True))


def sparse_node(file):
    return node("SparseMatrixNode", "scipy.sparse._csr.csr_array", type="scipy", file=file)


def nested_references():
    """Return an object array of lists of the same lists."""
    inner, levels = listed(*[plain(0)] * 300) | {"__id__": 9001}, []
    for level in range(3):
        levels.append(inner)
        again = {"__id__": inner["__id__"], "__loader__": "ListNode", "__module__": "builtins", "__class__": "list"}
        inner = listed(inner, *[again] * 299) | {"__id__": 9002 + level}
    shape = pair(*[plain(300)] * 4)
    return node("NdArrayNode", "numpy.ndarray", type="json", content=inner["content"], shape=shape)


def generator(pool_size):
    state = np.random.default_rng(0).bit_generator.state
    words = {name: plain(value) for name, value in state["state"].items()}
    bits = mapping(bit_generator=plain("PCG64"), state=mapping(**words), has_uint32=plain(0), uinteger=plain(0))
    seed = mapping(entropy=plain(1), spawn_key=pair(), pool_size=plain(pool_size), n_children_spawned=plain(0))
    return node(
        "RandomGeneratorNode", "numpy.random._generator.Generator", content={"bit_generator": bits, "seed_seq": seed}
    )


def random_state(position):
    state = mapping(key=stored("key.npy"), pos=plain(position))
    content = mapping(bit_generator=plain("MT19937"), state=state, has_gauss=plain(0), gauss=plain(0.0))
    return node("RandomStateNode", "numpy.random.mtrand.RandomState", content=content)


def void_keys():
    types = listed(node("TypeNode", "numpy.void"))
    return node("DictNode", "builtins.dict", key_types=types, content={"1000000000": plain(0)})


KEY = array(np.zeros(624, dtype=np.uint32))
FORGED = {
    "sparse array under another name": (sparse_node("a.bin"), {"a.bin": sparse(3_000_000)}),
    "sparse array as an array": (sparse_node("a.npy"), {"a.npy": sparse(3_000_000)}),
    "many sparse arrays": (
        listed(*[sparse_node(f"{i}.npz") for i in range(6)]),
        {f"{i}.npz": sparse(800_000) for i in range(6)},
    ),
    "rows of a sparse array": (called("scipy.sparse._csr.csr_array", pair(plain(500_000_000), plain(3))), {}),
    "grid of frequencies": (called(LIBRARY, plain(20_000), plain(20_000)), {}),
    "array under another name": (stored("a.bin"), {"a.bin": header((10**10,)) + bytes(64)}),
    "blank of a number of bytes": (stored("a.npy", "numpy.void"), {"a.npy": array(np.array(2**31 - 1))}),
    "keys": (void_keys(), {}),
    "object array of references": (nested_references(), {}),
    "one member, many arrays": (listed(*[stored("a.npy")] * 500), {"a.npy": array(np.zeros(2**17))}),
    "one member, many texts": (
        listed(*[node("BytesNode", "builtins.bytes", file="a.npy")] * 500),
        {"a.npy": array(np.zeros(2**17))},
    ),
    "pool of a seed": (generator(2**30), {}),
    "position of a generator": (random_state(10**9), {"key.npy": KEY}),
    "lattice of lists": (called("protolearn.core.lattices.Lattice", plain(None), nested_references()), {}),
    "indices beyond the columns": (
        sparse_node("a.npz"),
        {
            "a.npz": packed(
                indices=np.array([10**8]), indptr=np.array([0, 1]), data=np.ones(1), format=np.array(b"csr"),
                shape=np.array([1, 3]), _is_array=np.array(True),
            )
        },
    ),
}  # fmt: skip
SOUND = {
    "sparse array": (sparse_node("a.npz"), {"a.npz": sparse(1000)}),
    "generator": (generator(4), {}),
    "state": (random_state(624), {"key.npy": KEY}),
    "number": (stored("a.npy", "numpy.float64"), {"a.npy": array(np.float64(3))}),
    "array": (stored("a.npy"), {"a.npy": array(np.ones((3, 4), order="F"))}),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "good.skops"
    X, y = load_iris(return_X_y=True)
    protolearn.save(GMLVQ().fit(X[::5], y[::5]), path)
    return path


def forged(good, path, value, members):
    """Write a model whose label of rejected samples is something else."""
    with ZipFile(good) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(old.pop("schema.json"))
    assert "reject_label" in schema["content"]["content"]
    schema["content"]["content"]["reject_label"] = value
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for name, data in {**old, **members, "schema.json": json.dumps(schema)}.items():
            archive.writestr(name, data)
    return path


def test_forged_files_are_refused_in_little_memory(good, tmp_path):
    paths = [forged(good, tmp_path / f"{i}.skops", *parts) for i, parts in enumerate(FORGED.values())]
    assert max(path.stat().st_size for path in paths) < 3_000_000
    found = dict(zip(FORGED, outcomes("protolearn:load", [good], paths)))
    wrong = {name: said for name, said in found.items() if "is not a model that protolearn" not in said}
    assert not wrong


@pytest.mark.parametrize("name", SOUND)
def test_the_same_parts_are_read_if_they_are_sound(good, tmp_path, name):
    protolearn.load(forged(good, tmp_path / "a.skops", *SOUND[name]))


def classes():
    """Return all classes of the library."""
    for module in walk_packages(protolearn.__path__, "protolearn."):
        if not module.name.endswith("__main__"):
            for _, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
                if kind.__module__ == module.name:
                    yield f"{module.name}.{kind.__name__}"


def test_no_class_is_called_but_lattices():
    """Every class of this library may be referred to; a file cannot call it, with whatever arguments."""
    names = set(classes())
    assert len(names) > 200
    for name in sorted(names - {"protolearn.core.lattices.Lattice"}):
        with pytest.raises(ValueError, match="is not loaded by"):
            Contents(None, 0, ()).check(called(name))


@pytest.mark.parametrize("loader", CALLED)
def test_no_loader_calls_a_class_of_the_library(good, tmp_path, loader):
    content = {"NdArrayNode": {"type": "numpy", "file": "a.npy"}, "LossNode": {"__reduce__": {"args": pair()}}}
    entries = {"content": {}, "key_types": listed()} if loader == "DictNode" else {"content": []}
    value = node(loader, LIBRARY, **{**entries, **content.get(loader, {})})
    with pytest.raises(ValueError, match="is not loaded by"):
        protolearn.load(forged(good, tmp_path / "a.skops", value, {"a.npy": array(np.ones(2))}))


def test_lattices_sparse_arrays_and_losses_come_back(tmp_path):
    X, y = load_iris(return_X_y=True)
    models = [SOM((3, 3), random_state=np.random.RandomState(3)), make_pipeline(StandardScaler(), SGDClassifier())]
    for model in models:
        protolearn.save(model.fit(X, y), tmp_path / "a.skops")
        again = protolearn.load(tmp_path / "a.skops")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_sparse_array_of_two_objects_is_one(tmp_path, good):
    matrix, stream = csr_array(np.eye(3)), BytesIO()
    save_npz(stream, matrix)
    value = sparse_node("a.npz") | {"__id__": 77}
    protolearn.load(forged(good, tmp_path / "a.skops", listed(value, value), {"a.npz": stream.getvalue()}))
    other = sparse_node("a.npz") | {"__id__": 78}
    with pytest.raises(ValueError, match=r"two of its objects read a\.npz"):
        protolearn.load(forged(good, tmp_path / "a.skops", listed(value, other), {"a.npz": stream.getvalue()}))
