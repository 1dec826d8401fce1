"""Resident memory of the server without a run or torch: after the first page, after all pages.

The memory of the fork server, which has imported torch, is reported without an aim.
"""

from __future__ import annotations

from pathlib import Path

import psutil

from benchmarks.homes import temporary_home
from benchmarks.server import LINKS, SETTLED, browser_page, dashboard
from benchmarks.table import Result

AIM_MB = 200
SETTLE_MS, PAGE_MS = 15_000, 800


def measure() -> list[Result]:
    """Open the first page, wait for the fork server, open the other pages, and measure the processes."""
    with temporary_home() as home, dashboard(home) as server, browser_page() as page:
        page.goto(server.url)
        page.wait_for_selector(SETTLED)
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_timeout(SETTLE_MS)
        process = psutil.Process(server.pid)
        first_mb = process.memory_info().rss / 1e6
        for index in range(page.locator(LINKS).count()):
            page.locator(LINKS).nth(index).click()
            page.wait_for_timeout(PAGE_MS)
            page.wait_for_selector(SETTLED)
        every_mb = process.memory_info().rss / 1e6
        libraries = Path(f"/proc/{server.pid}/maps").read_text(encoding="utf-8")
        without = "/torch/" not in libraries
        workers = sum(child.memory_info().rss for child in process.children()) / 1e6
    return [
        Result("server after the first page", f"{first_mb:.0f} MB", f"≤ {AIM_MB} MB", first_mb <= AIM_MB),
        Result("server after every page", f"{every_mb:.0f} MB", f"≤ {AIM_MB} MB", every_mb <= AIM_MB),
        Result("torch among its libraries", "no" if without else "yes", "no", without),
        Result("fork server beside it", f"{workers:.0f} MB"),
    ]
