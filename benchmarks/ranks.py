"""Ranks: time to group the logs of 1,024 ranks, 5 MB each, from the logs and from stored fingerprints.

Each log is a separate file: 14 copies of the recorded log of a GPU job, each with other frame ids, with the
device and object ids of the rank. One rank has another batch size, and one rank has another cache outcome.
The logs are written just before, so that most of them are in the system's page cache.
"""

from __future__ import annotations

import gzip
import os
import re
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.homes import PROJECT
from benchmarks.table import Result, at_most, tell
from core.runs.ranks import read_ranks

RANKS, COPIES, DEVICES = 1_024, 14, 8
AIM_S, AIM_STORED_S, AIM_BYTES = 60.0, 1.0, 300_000_000
RECORDED = PROJECT / "tests" / "ranks" / "nccl" / "rank_0.log.gz"
FRAME = re.compile(rb'"frame_id": (\d+)')
OBJECT_ID = re.compile(rb"(?<![\d.])1[34]\d{13}(?![\d.])")
LONE, UNLIKE = 777, 500
WHOSE = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
PLACED = b"140000000000000"


def measure() -> list[Result]:
    """Write the logs, group them, and group them again from the stored fingerprints; the logs are removed."""
    with _logs() as (logs, directory):
        total = sum(path.stat().st_size for path in logs.values())
        tell(f"{len(logs):,} logs of {total / len(logs) / 1e6:.1f} MB written")
        stored = directory / "stored"
        start, before_s = perf_counter(), sum(map(_cpu_s, WHOSE))
        ranks = read_ranks(logs, stored, os.cpu_count() or 1)
        seconds, cpu_s = perf_counter() - start, sum(map(_cpu_s, WHOSE)) - before_s
        start = perf_counter()
        read_ranks(logs, stored)
        again_s = perf_counter() - start
        found = [group.ranks for group in ranks.groups[1:]]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    what = f"{RANKS:,} ranks of {total / RANKS / 1e6:.1f} MB"
    return [
        at_most(f"{what}: in groups, {os.cpu_count()} CPUs", [seconds], AIM_S, 1, " s"),
        Result(f"{what}: CPU seconds of all processes", f"{cpu_s:.1f} s"),
        at_most(f"{what}: again, from what is stored", [again_s], AIM_STORED_S, 3, " s"),
        at_most(f"{what}: peak memory of this process", [peak / 1e6], AIM_BYTES / 1e6, 0, " MB"),
        Result("the two ranks that differ", str(found), str([(UNLIKE,), (LONE,)]), found == [(UNLIKE,), (LONE,)]),
    ]


def _cpu_s(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def _logs() -> Iterator[tuple[dict[int, Path], Path]]:
    directory = Path(tempfile.mkdtemp(prefix="ranks-"))
    try:
        variants = [_variant(device) for device in range(DEVICES)]
        logs = {rank: directory / f"rank_{rank}.log" for rank in range(RANKS)}
        for rank, path in logs.items():
            path.write_bytes(_of_rank(variants[rank % DEVICES], rank))
        yield logs, directory
    finally:
        shutil.rmtree(directory)


def _variant(device: int) -> bytes:
    """Return a log of 5 MB on one device, with one object id for all objects."""
    log = OBJECT_ID.sub(PLACED, gzip.decompress(RECORDED.read_bytes()))
    log = log.replace(b"cuda:0", b"cuda:%d" % device)
    return b"".join(
        FRAME.sub(lambda match, copy=copy: b'"frame_id": %d' % (int(match[1]) + 100 * copy), log)  # type: ignore[misc]
        for copy in range(COPIES)
    )


def _of_rank(log: bytes, rank: int) -> bytes:
    log = log.replace(PLACED, b"14%013d" % (rank * 7_919)).replace(b'"rank": 0', b'"rank": %d' % rank)
    if rank == UNLIKE:
        return log.replace(b'"fx_graph_cache_miss", "enc', b'"fx_graph_cache_hit", "enc', 1)
    return log.replace(b"[64, 256]", b"[65, 256]") if rank == LONE else log
