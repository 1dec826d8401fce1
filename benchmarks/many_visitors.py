"""200 simultaneous visitors of four server processes over one store: time per page, failures, and memory.

The visitors are shared out as a proxy with sticky sessions does.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from benchmarks.homes import temporary_home
from benchmarks.server import dashboard
from benchmarks.table import Result
from benchmarks.visitors import crowd, pages, resident_mb, scenarios, visit_pages
from tests.support.session import Visit

PROCESSES, ROUNDS = 4, 3
AIM_S = 1.5


def measure() -> list[Result]:
    """Open every page once in each process, then run rounds of visitors in all of them at once."""
    with ExitStack() as stack:
        home = stack.enter_context(temporary_home())
        runs = scenarios(home)
        servers = [stack.enter_context(dashboard(home, COMPILEBOARD_ALLOW_CODE="0")) for _ in range(PROCESSES)]

        async def crowds(seed: int) -> list[list[Visit | str]]:
            return await asyncio.gather(
                *(crowd(server, runs, seed * PROCESSES + index) for index, server in enumerate(servers))
            )

        for server in servers:
            asyncio.run(visit_pages(server, runs))
        before_mb = sum(map(resident_mb, servers))
        rounds = [[visit for visits in asyncio.run(crowds(seed)) for visit in visits] for seed in range(ROUNDS)]
        after_mb = sum(map(resident_mb, servers))
    memory = Result("servers before and with", f"{before_mb:.0f} → {after_mb:.0f} MB")
    return [*pages(rounds, AIM_S, PROCESSES), memory]
