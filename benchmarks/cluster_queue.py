"""Simulated queue of a cluster: waiting times on many nodes, and CPU time of the server per start.

    python -m benchmarks.cluster_queue [--nodes 4 100 1000]

The queue is the server's own; nodes, people and clock are simulated. Every run is measured, so it has its GPU
to itself, and takes 20 s to 220 s. Half of the work is single runs, which people submit at random moments.
The other half is sweeps of 200 cells. Each sweep has as many queued and running cells as there are nodes, at
most 200.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from benchmarks.table import Result, print_table
from core.base import words as fmt
from core.runs.engine.queues import Assignment, Lane
from core.runs.store import Run

NODES = (4, 100, 1_000)
LOAD = 0.9
SHORTEST_S, LONGEST_S = 20.0, 220.0
MEAN_S = (SHORTEST_S + LONGEST_S) / 2
CELLS = 200
PEOPLE_A_NODE = 2
SWEEPERS = 5
# Runs that each simulation starts, after as many as fill the nodes.
STARTS = 6_000
DEVICE = "cuda:0"


@dataclass(slots=True)
class Cluster:
    """A simulated cluster: its queue, the events to come, and the waiting times of each kind of run.

    If `fair` is False, all runs belong to one person, so the queue starts them in order of arrival.
    """

    nodes: int
    fair: bool = True
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    events: list[tuple[float, int, str, str]] = field(default_factory=list)
    arrived_s: dict[str, float] = field(default_factory=dict)
    cells: Counter[str] = field(default_factory=Counter)
    waited_s: dict[str, list[float]] = field(default_factory=lambda: {"single": [], "cell": []})
    numbers: count[int] = field(default_factory=count)
    lane: Lane = field(init=False)

    def __post_init__(self) -> None:
        self.lane = Lane(1, lambda device, alike: self._free_first())

    def simulate(self, starts: int) -> float:
        """Simulate until `nodes + starts` runs have started; return the CPU seconds per start."""
        self._in(self._gap_s(1.0), "single", "")
        self._in(0.0, "sweep", "")
        began_s, begun = time.process_time(), self.nodes + starts
        while sum(map(len, self.waited_s.values())) < begun:
            now_s, _, what, name = heapq.heappop(self.events)
            self._happen(now_s, what, name)
            while (started := self.lane.take()) is not None:
                self._start(now_s, started)
        return (time.process_time() - began_s) / begun

    def _happen(self, now_s: float, what: str, name: str) -> None:
        if what == "single":
            self._add(now_s, f"person-{self.rng.randrange(self.nodes * PEOPLE_A_NODE)}", "single")
            self._in(now_s + self._gap_s(1.0), "single", "")
        elif what == "sweep":
            by = f"sweeper-{self.rng.randrange(SWEEPERS)}-{next(self.numbers)}"
            self.cells[by] = CELLS
            for _ in range(min(self.nodes, CELLS)):
                self._add_cell(now_s, by)
            self._in(now_s + self._gap_s(CELLS), "sweep", "")
        else:
            ended = self.lane.going[name]
            self.lane.forget(ended.run)
            self._add_cell(now_s, ended.alike)

    def _add_cell(self, now_s: float, by: str) -> None:
        if self.cells[by] > 0:
            self.cells[by] -= 1
            self._add(now_s, by, "cell", by)

    def _add(self, now_s: float, by: str, kind: str, alike: str = "") -> None:
        name = f"{kind}-{next(self.numbers)}"
        self.arrived_s[name] = now_s
        person = by.rpartition("-")[0] if alike else by
        run = Run(name, Path(name))
        self.lane.add(Assignment(run, device=DEVICE, measures=True, by=person if self.fair else "", alike=alike))

    def _start(self, now_s: float, started: Assignment) -> None:
        name = started.run.id
        self.waited_s[name.partition("-")[0]].append(now_s - self.arrived_s.pop(name))
        self._in(now_s + self.rng.uniform(SHORTEST_S, LONGEST_S), "end", name)

    def _in(self, at_s: float, what: str, name: str) -> None:
        heapq.heappush(self.events, (at_s, next(self.numbers), what, name))

    def _gap_s(self, runs: float) -> float:
        """Return a random time between arrivals of `runs` runs each, which make up half of the load."""
        return self.rng.expovariate(LOAD / 2 * self.nodes / MEAN_S / runs)

    def _free_first(self) -> tuple[str, ...]:
        taken = {assignment.node for assignment in self.lane.going.values()}
        return tuple(sorted(map(str, range(self.nodes)), key=lambda name: (name in taken, name)))


def measure(sizes: tuple[int, ...] = NODES, starts: int = STARTS) -> list[Result]:
    """Simulate a cluster of each size, and the middle size again with all runs by one person."""
    results = []
    for nodes in sizes:
        results += _results(Cluster(nodes), starts)
    return [*results, *_results(Cluster(sizes[len(sizes) // 2], fair=False), starts)]


def _results(cluster: Cluster, starts: int) -> list[Result]:
    each_s = cluster.simulate(starts)
    title = f"{fmt.count(cluster.nodes, 'node')}{'' if cluster.fair else ', first come, first served'}"
    waits = [Result(f"{title}: a {kind} waits", _spread(waited_s)) for kind, waited_s in cluster.waited_s.items()]
    return [*waits, Result(f"{title}: CPU of the queue for a start", f"{each_s * 1e3:.2f} ms")]


def _spread(waited_s: list[float]) -> str:
    median_s, late_s = statistics.median(waited_s), statistics.quantiles(waited_s, n=20)[-1]
    return f"{median_s:.0f} s, one in twenty {late_s:.0f} s or more ({len(waited_s)} runs)"


def main() -> None:
    """Simulate clusters of the sizes in `--nodes`, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--starts", type=int, default=STARTS)
    arguments = parser.parse_args()
    print_table("Queue of a cluster", measure(tuple(arguments.nodes), arguments.starts))


if __name__ == "__main__":
    main()
