"""Programs that a run leaves behind: detached, in a session of their own, and without a parent."""

import os

import psutil

# Of this process of tests: others may run beside it.
MARK = f"compileboard-test-left-{os.getpid()}"
# Code of a run; `leave()` leaves one.
LEAVE = f"""
import os, signal, subprocess, sys, time
import torch

@torch.compiler.disable
def leave():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "{MARK}"])
        os._exit(0)
    os.wait()
"""


def sleepers() -> list[psutil.Process]:
    """Those that are alive."""
    return [process for process in psutil.process_iter(["cmdline"]) if MARK in (process.info["cmdline"] or [])]
