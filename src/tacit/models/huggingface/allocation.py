"""Memory that one pass through a model gives back, kept by this process for the next.

A pass takes and frees tensors of some megabytes by the thousand. The C library of Linux gives such
memory back to the system each time, which fills it with zeros when it hands it out again: 6 % of a
small model's time.
"""

from __future__ import annotations

import ctypes
import os

WHOLE = 256 * 2**20
"""Bytes: what is larger is given back as soon as it is freed."""

KEPT = 512 * 2**20
"""So many bytes are kept at most; what is free beyond them is given back."""

_TOLD = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
# As malloc.h of glibc numbers them.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed() -> bool:
    """Has this process keep freed memory; whether it does.

    Only glibc can be told, and where the environment tells it something of its own, that holds.
    """
    tell = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if tell is None or any(name in os.environ for name in _TOLD):
        return False
    return bool(tell(_MMAP_THRESHOLD, WHOLE) and tell(_TRIM_THRESHOLD, KEPT))
