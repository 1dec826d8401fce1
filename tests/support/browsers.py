"""Which browser the tests and benchmarks drive: Chromium, Chrome or Edge where one is installed, else Playwright's
own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Playwright

COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
)
APPLICATIONS = tuple(
    Path(f"/Applications/{name}.app/Contents/MacOS/{name}") for name in ("Chromium", "Google Chrome", "Microsoft Edge")
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL = (sys.executable, "-m", "playwright", "install", "chromium")
INSTALL_LIMIT_S = 600.0


class NoBrowser(Exception):
    """There is no browser here, and none could be fetched."""


def executable(playwright: Playwright) -> str:
    """The path of a browser's program; one is fetched if there is none. Raises NoBrowser."""
    own = Path(playwright.chromium.executable_path)
    return installed() or (str(own) if own.exists() else _fetched(own))


def installed(path: str | None = None) -> str | None:
    """What the environment's CHROMIUM names, else the first browser on the PATH (or on `path`), else a Mac's
    application.
    """
    if named := os.environ.get("CHROMIUM"):
        return named
    found = (shutil.which(command, path=path) for command in COMMANDS)
    applications = (str(program) for program in APPLICATIONS if program.exists())
    return next(filter(None, found), None) or next(applications, None)


def _fetched(own: Path, command: tuple[str, ...] = INSTALL) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode or not own.exists():
        raise NoBrowser(
            "no browser to test with, and `playwright install chromium` could not get one: install Chromium, Chrome "
            "or Edge "
            "(apt-get install chromium), or name one in CHROMIUM"
        )
    return str(own)
