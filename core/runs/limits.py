"""Limits of a server for each visitor and for all together, set by its owner."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from core.base.errors import AccessError, JobError, SettingError, StoreError
from core.base.words import bytes_, gib, limit_s
from core.job import GIB, CompileJob
from core.runs.store import MAX_LOG_BYTES, Run, Store

MB = 1_000_000
DELETE = "delete some of yours on the page Runs"
# Kernel tool results that one visitor may store: each is small, but each is counted at every admission.
MAX_ANSWERS = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server; None for no limit.

    Per run: `time_s` and `memory_bytes`. Per visitor: `live_runs` (queued or running), and stored `runs` and
    `visitor_bytes`. For all visitors: `queue` (queued or running), and `store_bytes`. `upload_bytes` is the limit of
    one log.
    """

    time_s: float | None = None
    memory_bytes: int | None = None
    live_runs: int | None = None
    runs: int | None = None
    visitor_bytes: int | None = None
    queue: int | None = None
    store_bytes: int | None = None
    upload_bytes: int = MAX_LOG_BYTES

    def fitted(self, job: CompileJob) -> CompileJob:
        """Return the job with its time and memory reduced to the limits of a run."""
        time_s = min(job.time_limit_s, self.time_s or math.inf)
        memory_bytes = min(job.memory_limit_bytes, self.memory_bytes or job.memory_limit_bytes)
        return replace(job, time_limit_s=time_s, memory_limit_bytes=memory_bytes)


# Limits of public servers, which do not run user code.
PUBLIC = Limits(
    time_s=600.0,
    memory_bytes=8 * GIB,
    live_runs=4,
    runs=100,
    visitor_bytes=2 * GIB,
    queue=40,
    store_bytes=20 * GIB,
    upload_bytes=256 * MB,
)

# The variable of each limit, and the unit of its number.
VARIABLES: dict[str, tuple[str, int]] = {
    "time_s": ("COMPILEBOARD_MAX_TIME_S", 1),
    "memory_bytes": ("COMPILEBOARD_MAX_MEMORY_GIB", GIB),
    "live_runs": ("COMPILEBOARD_MAX_LIVE_RUNS", 1),
    "runs": ("COMPILEBOARD_MAX_RUNS", 1),
    "visitor_bytes": ("COMPILEBOARD_MAX_VISITOR_GIB", GIB),
    "queue": ("COMPILEBOARD_MAX_QUEUE", 1),
    "store_bytes": ("COMPILEBOARD_MAX_STORE_GIB", GIB),
    "upload_bytes": ("COMPILEBOARD_MAX_UPLOAD_MB", MB),
}


def limits_of(environment: Mapping[str, str], code_allowed: bool) -> Limits:
    """Return the limits from the environment, over no limits if code is allowed, else over PUBLIC.

    Raises SettingError.
    """
    texts = {name: environment.get(variable, "") for name, (variable, _) in VARIABLES.items()}
    numbers = {name: _number(*VARIABLES[name], text) for name, text in texts.items() if text.strip()}
    return replace(Limits() if code_allowed else PUBLIC, **numbers)  # type: ignore[arg-type]


def _number(variable: str, unit: int, text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise SettingError(f"{variable} is `{text[:60]}`, and must be a number above 0")
    return number if variable.endswith("_S") else max(1, int(number * unit))


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a store by one visitor, and by all. Kernel tool results count for the visitor who requested them."""

    live_runs: int = 0
    runs: int = 0
    visitor_bytes: int = 0
    queue: int = 0
    store_bytes: int = 0
    live_tools: int = 0
    answers: int = 0
    tool_queue: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A kernel tool result, finished or in progress: its requester, and its bytes on disk."""

    by: str
    live: bool
    size: int


def usage(store: Store, by: str = "") -> Usage:
    """Return the usage of a store; the server's owner, who has no name, has no runs of a visitor."""
    listed = [(status, bytes_of(run), tuple(_tools_of(run))) for run, status in store.list()]
    mine = [(status, size, tools) for status, size, tools in listed if by and status.by == by]
    every_tool = [tool for _, _, tools in listed for tool in tools]
    my_tools = [tool for tool in every_tool if by and tool.by == by]
    without_tools = sum(size - sum(tool.size for tool in tools) for _, size, tools in mine)
    return Usage(
        live_runs=sum(status.live for status, _, _ in mine),
        runs=len(mine),
        visitor_bytes=without_tools + sum(tool.size for tool in my_tools),
        queue=sum(status.live for status, _, _ in listed),
        store_bytes=sum(size for _, size, _ in listed),
        live_tools=sum(tool.live for tool in my_tools),
        answers=len(my_tools),
        tool_queue=sum(tool.live for tool in every_tool),
    )


def _tools_of(run: Run) -> Iterator[ToolUse]:
    """Yield the tool results of a run; an unreadable one counts only for the run's owner."""
    try:
        names = os.listdir(run.path / "tools")
    except OSError:
        return
    for name in names:
        tool = Run(f"{run.id}/{name}", run.path / "tools" / name, run.liveness)
        with suppress(StoreError):
            status = tool.status()
            yield ToolUse(status.by, status.live, bytes_of(tool))


def bytes_of(run: Run) -> int:
    """Return a run's bytes on disk; files that disappear meanwhile count as 0."""
    return sum(_file_sizes(run))


def bytes_within(run: Run, most_files: int) -> int | None:
    """Return a run's bytes on disk; None for a directory with more files than are counted."""
    sizes = list(islice(_file_sizes(run), most_files + 1))
    return sum(sizes) if len(sizes) <= most_files else None


def _file_sizes(run: Run) -> Iterator[int]:
    for directory, _, names in os.walk(run.path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(directory, name)).st_size


def check_job(limits: Limits, job: CompileJob) -> None:
    """Raise JobError if a run may not use so much time or memory."""
    if limits.time_s is not None and job.time_limit_s > limits.time_s:
        raise JobError("time_limit_s", f"this server gives a run at most {limit_s(limits.time_s)}")
    if limits.memory_bytes is not None and job.memory_limit_bytes > limits.memory_bytes:
        raise JobError("memory_limit_bytes", f"this server gives a run at most {gib(limits.memory_bytes)}")


def check_room(limits: Limits, store: Store, by: str) -> None:
    """Raise AccessError if there is no room for another run; existing runs are never deleted for it."""
    if limits == Limits():
        return
    used = usage(store, by)
    _check_stored(limits, used)
    if by and _full(limits.live_runs, used.live_runs):
        raise AccessError(
            f"{used.live_runs} of your runs are queued or running, the limit for one visitor. Wait for one to end, or "
            "cancel it"
        )
    if _full(limits.queue, used.queue):
        raise AccessError(
            f"{used.queue} runs are queued or running, the limit of this server. Try again when some have ended"
        )


def check_tool(limits: Limits, store: Store, by: str) -> None:
    """Raise AccessError if there is no room for another kernel tool request or its result."""
    if limits == Limits():
        return
    used = usage(store, by)
    _check_stored(replace(limits, runs=None), used)
    if by and _full(limits.live_runs, used.live_tools):
        raise AccessError(
            f"{used.live_tools} of your tool requests are queued or running, the limit for one visitor. Wait for one "
            "to end, or cancel it"
        )
    if by and used.answers >= MAX_ANSWERS:
        raise AccessError(f"{used.answers} of your tool results are stored, the limit for one visitor")
    if _full(limits.queue, used.tool_queue):
        raise AccessError(
            f"{used.tool_queue} tool requests are queued or running, the limit of this server. Try again later"
        )


def check_storage(limits: Limits, store: Store, by: str, more_bytes: int = 0) -> None:
    """Raise AccessError if there is no room for a log of so many bytes."""
    if limits != Limits():
        used = usage(store, by)
        grown = used.visitor_bytes + more_bytes, used.store_bytes + more_bytes
        _check_stored(limits, replace(used, visitor_bytes=grown[0], store_bytes=grown[1]))


def check_upload(limits: Limits, size: int) -> None:
    """Raise AccessError if a log is larger than this server accepts."""
    if size > limits.upload_bytes:
        raise AccessError(f"the log is larger than the {bytes_(limits.upload_bytes)} that this server takes")


def _check_stored(limits: Limits, used: Usage) -> None:
    if _full(limits.runs, used.runs):
        raise AccessError(
            f"{used.runs} of your runs are stored, as many as this server keeps for one visitor; {DELETE}"
        )
    if _full(limits.visitor_bytes, used.visitor_bytes):
        most = gib(limits.visitor_bytes or 0)
        raise AccessError(f"your runs would take more than the {most} that this server keeps for one visitor; {DELETE}")
    if _full(limits.store_bytes, used.store_bytes):
        raise AccessError(f"the store of this server is full; {DELETE}, or ask its owner for room")


def _full(most: int | None, used: int) -> bool:
    return most is not None and used >= most
