"""200 simultaneous visitors of four server processes: time per page, failures, CPU time and memory.

All processes use one store. The visitors are distributed as by a proxy with sticky sessions. First they never
pause, so that each always waits for a page. Then each reads a page for some seconds, as people do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.homes import temporary_home
from benchmarks.server import Server, dashboard
from benchmarks.table import Result
from benchmarks.visitors import cpu_s, crowd, pages, resident_mb, scenarios, visit_pages
from tests.support.session import Visit

PROCESSES, ROUNDS = 4, 3
AIM_S = 1.5
READS_S = 5.0


def measure() -> list[Result]:
    """Open every page once in each process, then run both kinds of visitors in all processes at once."""
    with ExitStack() as stack:
        home = stack.enter_context(temporary_home())
        runs = scenarios(home)
        servers = [stack.enter_context(dashboard(home, COMPILEBOARD_ALLOW_CODE="0")) for _ in range(PROCESSES)]
        for server in servers:
            asyncio.run(visit_pages(server, runs))
        before = _memory(servers)
        without = _visits(servers, runs, "visitors without pauses", 0.0)
        between = _memory(servers)
        reading = _visits(servers, runs, f"visitors who read for {READS_S:g} s", READS_S)
        after = _memory(servers)
    figure = f"{before} → {between} → {after} MB"
    return [*without, *reading, Result("processes before, after the first, and after the second", figure)]


def _visits(servers: Sequence[Server], runs: Sequence[str], who: str, reads_s: float) -> list[Result]:
    """Run rounds of visitors; return page times, and CPU time per page of the servers and the visitors."""

    async def crowds(seed: int) -> list[list[Visit | str]]:
        return await asyncio.gather(
            *(crowd(server, runs, seed * PROCESSES + index, reads_s) for index, server in enumerate(servers))
        )

    before_s, own_before_s = _cpu_s(servers), cpu_s(os.getpid())
    rounds = [[visit for visits in asyncio.run(crowds(seed)) for visit in visits] for seed in range(ROUNDS)]
    count = sum(map(len, rounds))
    served_ms = 1e3 * (_cpu_s(servers) - before_s) / count
    own_ms = 1e3 * (cpu_s(os.getpid()) - own_before_s) / count
    cpu = Result("page, CPU time of the servers and of the visitors", f"{served_ms:.1f} and {own_ms:.1f} ms")
    return [*pages(rounds, AIM_S, PROCESSES, who), cpu]


def _cpu_s(servers: Sequence[Server]) -> float:
    return sum(cpu_s(server.pid) for server in servers)


def _memory(servers: Sequence[Server]) -> str:
    """Return the resident memory of each process, in MB."""
    return " + ".join(f"{resident_mb(server):.0f}" for server in servers)
