"""Matrix products of which one triangle says it all, for half of the work: BLAS routines that NumPy does not offer.

They are those of SciPy for Cython, called without the lock of the interpreter, which ``scipy.linalg.blas`` holds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas

from protolearn.core.types import Floats

__all__ = ["add_squares", "times_triangle"]


def times_triangle(X: Floats, R: Floats) -> Floats:
    """Return ``X @ R.T`` for an upper triangle R (N, N), in the type of X (n, N); entries below are not read.

    Examples
    --------
    >>> times_triangle(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0], [np.nan, 3.0]]))
    array([[3., 6.]])
    """
    Z = np.array(X, order="C")
    R = np.ascontiguousarray(R, Z.dtype)  # column-major: its transpose, a lower triangle
    n, N = Z.shape
    if n:
        _call(Z.dtype, "trmm", b"L", b"L", b"T", b"N", N, n, 1.0, R, N, Z, N)
    return Z


def add_squares(Q: Floats, X: Floats, factor: float = 1.0) -> None:
    """Add ``factor * X.T @ X`` to the upper triangle of Q (N, N), in place; both are contiguous and of one type.

    Examples
    --------
    >>> Q = np.zeros((2, 2))
    >>> add_squares(Q, np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> Q
    array([[1., 2.],
           [0., 5.]])
    """
    n, N = X.shape
    if not (Q.flags.c_contiguous and X.flags.c_contiguous and Q.dtype == X.dtype and Q.shape == (N, N)):
        raise ValueError("Q and X must be contiguous, of one type, and have the same columns.")
    if n:
        _call(Q.dtype, "syrk", b"L", b"N", N, n, factor, X, N, 1.0, Q, N)


def _call(dtype: Any, name: str, *args: Any) -> None:
    """Call a routine with pointers to its arguments: letters, integers, numbers of a type, and arrays."""
    kinds = {bytes: ctypes.c_char, int: ctypes.c_int, float: np.ctypeslib.as_ctypes_type(dtype)}
    held = [arg if isinstance(arg, np.ndarray) else kinds[type(arg)](arg) for arg in args]
    pointers = (arg.ctypes.data if isinstance(arg, np.ndarray) else ctypes.addressof(arg) for arg in held)
    _routine({"f": "s", "d": "d"}[dtype.char] + name, len(args))(*pointers)


@cache
def _routine(name: str, n_args: int) -> Callable[..., None]:
    """Return a routine of BLAS that takes so many pointers."""
    capsule = cython_blas.__pyx_capi__[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_args)(get_pointer(capsule, get_name(capsule)))
