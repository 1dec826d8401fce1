"""Fifty simultaneous visitors: time per page, and the server's memory during and after their visits.

Each visitor opens a tab and switches between pages of a recorded run without pauses, so that every visitor always waits
for a page: more load than from fifty real people. The server does not run visitors' code.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmarks.homes import temporary_home
from benchmarks.server import Server, dashboard
from benchmarks.table import Result, tell
from pages import menu
from tests.support.homes import add_scenario
from tests.support.places import TRACES
from tests.support.session import PageFailed, Visit, session

VISITORS, PAGES_EACH = 50, 4
AIM_S = 3.0
ROUNDS = 3
# Streamlit keeps the session of a closed tab for two minutes, in case the tab reconnects.
KEPT_S = 150.0
MORE_MB = 40.0
MENU = tuple(menu.PAGES)
PAGES = ("", *MENU[1:])


def measure() -> list[Result]:
    """Open every page once, then run rounds of visitors, and wait until their memory is freed."""
    with temporary_home() as home, dashboard(home, COMPILEBOARD_ALLOW_CODE="0") as server:
        runs = scenarios(home)
        asyncio.run(visit_pages(server, runs))
        before_mb = resident_mb(server)
        rounds = [asyncio.run(crowd(server, runs, seed)) for seed in range(ROUNDS)]
        during_mb = resident_mb(server)
        tell(f"all have left; in {KEPT_S:.0f} s nothing is kept for them")
        time.sleep(KEPT_S)
        after_mb = resident_mb(server)
    return [*pages(rounds), *memory(before_mb, during_mb, after_mb)]


def scenarios(home: Path) -> list[str]:
    """Store the recorded runs; return their ids."""
    return [add_scenario(home, path.name) for path in sorted(TRACES.iterdir()) if (path / "report.json").exists()]


async def visit_pages(server: Server, runs: Sequence[str]) -> None:
    """Open every page of every run, one after another, to fill the caches."""
    async with session(server.url) as tab:
        for run in runs:
            for page in PAGES:
                await tab.visit(page, run=run)


async def crowd(server: Server, runs: Sequence[str], seed: int, reads_s: float = 0.0) -> list[Visit | str]:
    """Run all visitors at once; return the time or the error of each page visit."""
    seeds = (seed * VISITORS + index for index in range(VISITORS))
    rounds = await asyncio.gather(*(visitor(server, runs, each, reads_s) for each in seeds))
    return [visit for visits in rounds for visit in visits]


async def visitor(server: Server, runs: Sequence[str], seed: int, reads_s: float = 0.0) -> list[Visit | str]:
    """Visit random pages as one visitor; return the visits, and the error that ended them.

    The visitor reads each page for `reads_s` seconds on average, and starts after a random delay.
    """
    rng, pauses = random.Random(seed), random.Random(seed)
    visits: list[Visit | str] = []
    try:
        await asyncio.sleep(pauses.uniform(0, 2 * reads_s))
        async with session(server.url) as tab:
            for _ in range(PAGES_EACH):
                visits.append(await tab.visit(rng.choice(PAGES), run=rng.choice(runs)))
                await asyncio.sleep(pauses.expovariate(1 / reads_s) if reads_s else 0)
    except (PageFailed, OSError) as error:
        visits.append(str(error))
    return visits


def pages(
    rounds: Sequence[Sequence[Visit | str]], aim_s: float = AIM_S, processes: int = 1, who: str = "visitors"
) -> list[Result]:
    """Return page times, mean page size and failed pages, for `processes` servers with VISITORS each."""
    took = [sorted(visit.seconds for visit in visits if isinstance(visit, Visit)) for visits in rounds]
    errors = [visit for visits in rounds for visit in visits if isinstance(visit, str)]
    middle = [statistics.median(visits) for visits in took]
    late = [visits[int(len(visits) * 0.95)] for visits in took]
    figure = ", ".join(f"{value:.1f}" for value in middle)
    sizes = [visit.size for visits in rounds for visit in visits if isinstance(visit, Visit)]
    return [
        Result(f"page, median of {VISITORS * processes} {who}", f"{figure} s", f"≤ {aim_s:g} s", max(middle) <= aim_s),
        Result("page, 95th percentile", f"{', '.join(f'{value:.1f}' for value in late)} s"),
        Result("page, mean size", f"{statistics.fmean(sizes) / 1e3:.0f} kB"),
        Result("pages that failed", f"{len(errors)} of {sum(map(len, rounds))} {errors[:3] or ''}", "0", not errors),
    ]


def memory(before_mb: float, during_mb: float, after_mb: float) -> list[Result]:
    """Return the server's memory before the visits, after the last round, and after sessions expired."""
    figure = f"{before_mb:.0f} → {during_mb:.0f} → {after_mb:.0f} MB"
    return [Result("server before, with, after", figure, f"≤ +{MORE_MB:.0f} MB", after_mb - before_mb <= MORE_MB)]


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process, without its children."""
    return float(sum(psutil.Process(pid).cpu_times()[:2]))


def resident_mb(server: Server) -> float:
    """Return the resident memory of the server's own process."""
    return float(psutil.Process(server.pid).memory_info().rss) / 1e6
