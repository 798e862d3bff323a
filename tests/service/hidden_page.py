# SPDX-License-Identifier: BSD-3-Clause
"""Load Open MPI's library, and put another file's page where it keeps whether MPI has begun.

Usage: hidden_page.py LIBRARY FILE READY. Makes READY when that is done, and waits to be killed.
"""
import ctypes
import mmap
import os
import signal
import sys

library = ctypes.CDLL(sys.argv[1])
at = ctypes.addressof(ctypes.c_int.in_dll(library, "ompi_mpi_state"))
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
MAP_FIXED = 16
page = at - at % mmap.PAGESIZE
found = libc.mmap(page, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_PRIVATE | MAP_FIXED, os.open(sys.argv[2], os.O_RDONLY), 0)
if found != page:
    raise OSError(ctypes.get_errno(), "mmap")
os.close(os.open(sys.argv[3], os.O_CREAT | os.O_WRONLY))
signal.pause()
