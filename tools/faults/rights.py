"""The right of root to write where nobody may, given up, so that root can try what other users meet."""

from __future__ import annotations

import ctypes

VERSION_3 = 0x20080522
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
"""Numbers of capabilities, from capabilities(7)."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def give_up_rights() -> None:
    """Let the permissions of files and folders hold for this process; other users have nothing to give up."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(VERSION_3, 0), (_Sets * 2)()
    if libc.capget(ctypes.byref(header), sets) == 0:
        sets[0].effective &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
        libc.capset(ctypes.byref(header), sets)
