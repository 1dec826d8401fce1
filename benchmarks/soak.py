"""python -m benchmarks.soak [--minutes 60]: simulated visitors use a public server at random.

Each visitor is a guest who opens pages, compiles, cancels, reloads and leaves, over Streamlit's WebSocket.
From time to time the server's owner deletes old runs. The exit code is 1 if a page or a run failed, or if
memory, descriptors or threads grew after the warm-up.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import WebSocketException

from benchmarks.homes import temporary_home
from benchmarks.server import Server, dashboard
from benchmarks.soak_record import Look, chart, flatness, look
from benchmarks.table import Result, print_table, tell
from benchmarks.visitors import PAGES, scenarios
from core import Store, StoreError
from tests.support.session import PageFailed, Session, session

EVERY_S = 10.0
READS_S = 5.0
KEPT_RUNS = 60
MOST_KNOWN = 12
LAST_RUNS_S = 180.0
SAMPLES = ("sin_cos", "mlp", "matmul_relu_softmax", "gelu_layernorm_residual")
PUBLIC = {"COMPILEBOARD_ALLOW_CODE": "0", "STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org 127.0.0.1"}
GOOD = ("done", "cancelled")


@dataclass(slots=True)
class Diary:
    """The events of all visitors since the start, and the samples of the server."""

    start_s: float = field(default_factory=time.monotonic)
    pages_s: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """Count an action of a visitor."""
        self.done[what] = self.done.get(what, 0) + 1


class Visitor:
    """A guest with a cookie and a list of runs to open: recorded runs, and the guest's own."""

    def __init__(self, server: Server, diary: Diary, runs: list[str], seed: int) -> None:
        self._server, self._diary = server, diary
        self._chance = random.Random(seed)
        self._runs = list(runs)
        name = f"compileboard-{urlsplit(server.url).port}-visitor={secrets.token_urlsafe(24)}"
        self._headers = {"Cookie": name, "X-Forwarded-For": f"10.0.0.{seed % 250 + 1}"}

    async def stay(self, until_s: float) -> None:
        """Open a tab, do some actions, close it, and repeat."""
        while time.monotonic() < until_s:
            try:
                async with session(self._server.url, self._headers) as tab:
                    for _ in range(self._chance.randint(1, 8)):
                        await self._act(tab)
                        if time.monotonic() > until_s:
                            return
                self._diary.count("left")
            except (PageFailed, OSError, WebSocketException, TimeoutError) as error:
                self._diary.errors.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(self._chance.expovariate(1 / READS_S))

    async def _act(self, tab: Session) -> None:
        """Do one random action of a visitor, then read for a while; the page polls meanwhile."""
        what = self._chance.choices((self._open, self._compile, self._reload), (6, 1, 2))[0]
        await what(tab)
        await tab.poll(self._chance.expovariate(1 / READS_S))

    async def _open(self, tab: Session) -> None:
        self._note("opened", (await tab.visit(self._chance.choice(PAGES), run=self._chance.choice(self._runs))).seconds)

    async def _reload(self, tab: Session) -> None:
        """Open the same page in a new tab."""
        async with session(self._server.url, self._headers) as fresh:
            query = {name: values[0] for name, values in parse_qs(tab.query).items()}
            self._note("reloaded", (await fresh.visit(tab.page, **query)).seconds)

    async def _compile(self, tab: Session) -> None:
        self._note("opened", (await tab.visit("")).seconds)
        self._note("compiled", (await tab.press(f"compile-{self._chance.choice(SAMPLES)}")).seconds)
        new_runs = parse_qs(tab.query).get("run", [])
        tab.page, self._runs = "overview" if new_runs else "", [*self._runs, *new_runs][-MOST_KNOWN:]
        await tab.poll(self._chance.uniform(0.5, 6))
        if "cancel" in tab.widgets and self._chance.random() < 0.4:
            self._note("cancelled", (await tab.press("cancel")).seconds)

    def _note(self, what: str, seconds: float) -> None:
        self._diary.count(what)
        self._diary.pages_s.append(seconds)


async def watch(server: Server, home: Path, diary: Diary, until_s: float) -> None:
    """Sample the server every few seconds, and delete old runs."""
    store, seen = Store(home), 0
    while time.monotonic() < until_s:
        await asyncio.sleep(EVERY_S)
        diary.looks.append(look(server.pid, diary.start_s, diary.pages_s[seen:], len(diary.errors)))
        seen = len(diary.pages_s)
        delete_old(store, diary)
        if len(diary.looks) % 6 == 0:
            tell(f"{diary.looks[-1]}")


def delete_old(store: Store, diary: Diary) -> None:
    """Delete the visitors' ended runs, except the newest `KEPT_RUNS`, as the server's owner.

    A deleted run that failed is recorded as an error.
    """
    ended = [(run, status) for run, status in store.list() if status.by and not status.live]
    for run, status in ended[KEPT_RUNS:]:
        with suppress(StoreError):
            judge(status.state, f"{run.id}: {status.reason}", diary)
            store.delete(run)


def judge(state: str, words: str, diary: Diary) -> None:
    """Count the state of an ended run, and record an error unless the state is done or cancelled."""
    diary.count(state)
    if state not in GOOD:
        diary.errors.append(f"run {state}: {words}")


async def soak(server: Server, home: Path, visitors: int, seconds: float) -> Diary:
    """Run all visitors and the sampling, wait for the last runs, and return the diary."""
    runs, diary = scenarios(home), Diary()
    until_s = diary.start_s + seconds
    guests = [Visitor(server, diary, runs, seed).stay(until_s) for seed in range(visitors)]
    await asyncio.gather(watch(server, home, diary, until_s), *guests)
    store = Store(home)
    left, moved_s = _live(store), time.monotonic()
    while left and time.monotonic() < moved_s + LAST_RUNS_S:
        await asyncio.sleep(1)
        if (now := _live(store)) != left:
            left, moved_s = now, time.monotonic()
    for run, status in store.list():
        if status.by:
            judge(status.state, f"{run.id}: {status.reason}", diary)
    return diary


def _live(store: Store) -> int:
    """Count the runs that are queued or running."""
    return sum(status.live for _, status in store.list())


def results(diary: Diary, warm_up_s: float) -> list[Result]:
    """Return the results of the table at the end."""
    did = ", ".join(f"{count} {what}" for what, count in sorted(diary.done.items()))
    first = f" {diary.errors[:3]}" if diary.errors else ""
    return [
        Result("visitors and their runs", did),
        Result("errors in all", f"{len(diary.errors)} in {len(diary.pages_s)} pages{first}", "0", not diary.errors),
        *flatness(diary.looks, warm_up_s),
    ]


@contextmanager
def public_server() -> Iterator[tuple[Server, Path]]:
    """Start a dashboard for guests, without visitors' code; yield the server and its home."""
    with temporary_home() as home, dashboard(home, **PUBLIC) as server:
        yield server, home


def main() -> int:
    """Run for the requested time, print a table and write a chart; return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--chart", type=Path, default=Path("docs/screenshots/soak.svg"))
    arguments = parser.parse_args()
    warm_up_s = min(600.0, arguments.minutes * 20)
    with public_server() as (server, home):
        diary = asyncio.run(soak(server, home, arguments.visitors, arguments.minutes * 60))
    figures = results(diary, warm_up_s)
    print_table(
        f"{arguments.visitors} visitors for {arguments.minutes:g} minutes; flat after {warm_up_s / 60:g}", figures
    )
    arguments.chart.write_text(chart(diary.looks, warm_up_s), encoding="utf-8")
    return int(any(figure.passed is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
