"""Build Inductor's precompiled C++ header while the user is still choosing: 10 to 18 s the first time on a machine."""

from __future__ import annotations

import ctypes
import os
import signal

import torch


def die_with_parent(signal_number: int) -> None:
    """Ask Linux to send a signal to this process when its parent ends; elsewhere nothing happens."""
    pr_set_pdeathsig = 1
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(pr_set_pdeathsig, signal_number)


def warm_up() -> None:
    """Compile the smallest C++ kernel there is."""
    die_with_parent(signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.compile(lambda x: x.sin() + 1)(torch.ones(64))
