"""Server of the dashboard for benchmarks, and a browser for it."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks.homes import PROJECT
from tests.support.browsers import FLAGS, executable

START_LIMIT_S = 60.0
IDLE_S, IDLE_SHARE = 2.0, 0.1
LINKS = '[data-testid="stSidebarNavLink"]'
SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@dataclass(frozen=True, slots=True)
class Server:
    """A running dashboard: its address and the id of its process."""

    url: str
    pid: int


@contextmanager
def dashboard(home: Path, script: str = "dashboard.py", **variables: str) -> Iterator[Server]:
    """Start `streamlit run` on a free port, yield the server, and stop it at the end.

    `variables` are added to its environment. Raises OSError if the server is not healthy after 60 s.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)],
        cwd=PROJECT,
        env={**os.environ, "COMPILEBOARD_HOME": str(home), **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(f"http://127.0.0.1:{port}", process.pid)
    try:
        _wait_until_healthy(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextmanager
def browser_page(width: int = 1600, height: int = 1000) -> Iterator[Page]:
    """Yield a page of a headless Chromium with an empty profile."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=executable(playwright),
            args=list(FLAGS),
            headless=True,
            viewport={"width": width, "height": height},
        )
        yield context.pages[0]
        context.close()


def wait_until_idle(server: Server) -> None:
    """Wait until the server and its children use at most 10 % of a CPU; raises TimeoutError after 60 s."""
    deadline = time.monotonic() + START_LIMIT_S
    used = -math.inf
    while (now := _cpu_s(server)) - used > IDLE_S * IDLE_SHARE:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the server was busy for {START_LIMIT_S:.0f} s")
        used = now
        time.sleep(IDLE_S)


def _cpu_s(server: Server) -> float:
    """Return CPU seconds of the server and its children, ended processes included."""
    total = 0.0
    root = psutil.Process(server.pid)
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


def _wait_until_healthy(server: Server) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
