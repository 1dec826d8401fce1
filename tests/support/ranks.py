"""Logs of ranks: the recorded ones, the same as if another rank had written them, and with a planted difference."""

import gzip
import random
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from core.trace.reader import HEADER
from tests.record import normalised
from tests.support.places import RANKS

COLLECTIVE = b'" = torch.ops._c10d_functional.all_reduce'
GRAPH = b'{"dynamo_output_graph": '


@lru_cache(maxsize=16)
def recorded(scenario: str, rank: int = 0) -> bytes:
    """The recorded log of a rank."""
    return gzip.decompress((RANKS / scenario / f"rank_{rank}.log.gz").read_bytes())


def recorded_logs(scenario: str, directory: Path) -> dict[int, Path]:
    """All logs of a scenario, written to a directory."""
    ranks = range(len(list((RANKS / scenario).glob("*.log.gz"))))
    return written({rank: recorded(scenario, rank) for rank in ranks}, directory)


def written(logs: dict[int, bytes], directory: Path) -> dict[int, Path]:
    """The files of logs, named as in a run."""
    directory.mkdir(parents=True, exist_ok=True)
    for rank, log in logs.items():
        (directory / f"rank_{rank}.log").write_bytes(log)
    return {rank: directory / f"rank_{rank}.log" for rank in logs}


def as_rank(log: bytes, rank: int, rng: random.Random) -> bytes:
    """The log as an equal rank writes it: on another device, in another folder, at another time, slower."""
    digits = [str(rng.randrange(10)).encode() for _ in range(12)]
    log = re.sub(rb'"rank": \d+', b'"rank": %d' % rank, log)
    log = re.sub(
        rb"(?m)^(V\d{4} \d\d:\d\d:)\d\d\.\d{6} \d+ ", rb"\g<1>%02d.%06d %d " % (rank % 60, rank, 4_000 + rank), log
    )
    log = re.sub(rb"0x[0-9a-f]{4,}", b"0x7f%010x" % rng.randrange(16**10), log)
    log = re.sub(rb"(?<![\d.])\d{3}\d{12}(?![\d.])", b"140" + b"".join(digits), log)
    log = re.sub(rb"(?<=\])cpu\b", b"cuda:%d" % rank, log)
    log = re.sub(rb"device\(type='cpu'\)", b"device(type='cuda', index=%d)" % rank, log)
    log = re.sub(rb"(?<=device=)None", b"%d" % rank, log)
    log = log.replace(b"/compileboard/", b"/home/worker%d/job/" % rank)
    log = re.sub(rb'(compile_time_us": )\d+', rb"\g<1>%d" % rng.randrange(1, 10**8), log)
    return log.replace(b"Guard latency = ", b"Guard latency = %d" % rank)


def records(log: bytes) -> list[bytes]:
    """The records of a log, each with its payload."""
    starts = [match.start() for match in HEADER.finditer(log)]
    return [log[start:end] for start, end in zip(starts, [*starts[1:], len(log)], strict=True)]


def joined(parts: Iterable[bytes]) -> bytes:
    """The log of records, with checksums that fit."""
    return normalised(b"".join(parts), {"\0": ""})


def with_two_collectives(log: bytes, swapped: bool = False) -> bytes:
    """The log with a second collective after the first in Dynamo's graphs, or before it."""
    return joined(_second_collective(part, swapped) if GRAPH in part else part for part in records(log))


def _second_collective(record: bytes, swapped: bool) -> bytes:
    lines = record.split(b"\n")
    at = next((index for index, line in enumerate(lines) if COLLECTIVE in line), None)
    if at is None:
        return record
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    second = indent + b"gathered: \"f32[8][1]cpu\" = torch.ops._c10d_functional.all_gather_into_tensor(loss, 2, '0')"
    lines.insert(at if swapped else at + 1, second)
    return b"\n".join(lines)


def with_size(log: bytes, compile_id: str, old: bytes, new: bytes) -> bytes:
    """The log with another size of the inputs in the graphs and guards of a compilation."""
    frame, count = compile_id.split("/")
    of_it = b'"frame_id": %d, "frame_compile_id": %d' % (int(frame), int(count))
    return joined(part.replace(old, new) if of_it in part else part for part in records(log))


def with_hit(log: bytes, compile_id: str) -> bytes:
    """The log with a hit of Inductor's cache instead of a miss in a compilation."""
    frame, count = compile_id.split("/")
    of_it = b'"frame_id": %d, "frame_compile_id": %d' % (int(frame), int(count))
    miss, hit = b'"name": "fx_graph_cache_miss"', b'"name": "fx_graph_cache_hit"'
    return joined(part.replace(miss, hit) if of_it in part else part for part in records(log))


def cut(log: bytes, compile_id: str, rng: random.Random) -> bytes:
    """The log of a rank that stopped within a compilation, at a record's end or in the middle of a record."""
    frame, count = compile_id.split("/")
    of_it = b'"frame_id": %d, "frame_compile_id": %d' % (int(frame), int(count))
    parts = records(log)
    start = next(index for index, part in enumerate(parts) if of_it in part and b'{"dynamo_start"' in part)
    end = next(index for index, part in enumerate(parts) if of_it in part and b'{"compilation_metrics"' in part)
    last = rng.randrange(start + 1, end)
    return b"".join(parts[:last]) + parts[last][: rng.choice([0, len(parts[last]) // 2])]


def damaged(log: bytes, rng: random.Random) -> bytes:
    """The log with a few bytes changed, removed, doubled or moved."""
    data = bytearray(log)
    for _ in range(rng.randrange(1, 30)):
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice([1, 1, 2, 40, 3_000]))
        part = bytes(data[start:end])
        match rng.randrange(4):
            case 0:
                data[start:end] = rng.randbytes(len(part))
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = part
            case _:
                del data[start:end]
                place = rng.randrange(len(data) + 1)
                data[place:place] = part
    return bytes(data)
