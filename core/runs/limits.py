"""Limits of a server for each visitor and for all together, set by its owner."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.base.errors import AccessError, JobError, SettingError
from core.base.words import bytes_, gib, limit_s
from core.job import GIB, CompileJob
from core.runs.index.database import RunIndex
from core.runs.index.entry import Usage
from core.runs.people import HOUR_S, BusyError, Rate, ReachedLimit, check_executions
from core.runs.processes.reading import ReadLimits
from core.runs.store import MAX_LOG_BYTES

MB = 1_000_000
DELETE = "delete some of yours on the page Runs"
# Kernel tool results that one visitor may store: each is small, but each is counted at every admission.
MAX_ANSWERS = 1_000  #: limit: stored tool results of one visitor, on a public server


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server; None for no limit.

    Per run: `time_s` and `memory_bytes`. Per visitor: `live_runs` (queued or running), stored `runs`, and
    `visitor_bytes`. Per visitor and hour: `runs_an_hour` limits the started runs, and `seconds_an_hour` the time for
    which runs and kernel tools execute. For all visitors: `queue` (queued or running) and `store_bytes`. `upload_bytes`
    is the limit of one log.
    """

    time_s: float | None = None
    memory_bytes: int | None = None
    live_runs: int | None = None
    runs: int | None = None
    visitor_bytes: int | None = None
    queue: int | None = None
    store_bytes: int | None = None
    upload_bytes: int = MAX_LOG_BYTES
    runs_an_hour: int | None = None
    seconds_an_hour: float | None = None

    @property
    def rate(self) -> Rate:
        """The hourly limits of a visitor."""
        return Rate(self.runs_an_hour, self.seconds_an_hour)

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
    runs_an_hour=60,
    seconds_an_hour=3_600.0,
)

# Time and memory to read one file of a visitor of a public server.
READ_S, READ_BYTES = 60.0, 2 * GIB


def read_limits(limits: Limits) -> ReadLimits:
    """Return the limits of a process that reads a visitor's file."""
    if limits.time_s is None:
        return ReadLimits(unpacked_bytes=limits.upload_bytes)
    return ReadLimits(
        min(READ_S, limits.time_s), min(READ_BYTES, limits.memory_bytes or READ_BYTES), limits.upload_bytes
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
    "runs_an_hour": ("COMPILEBOARD_MAX_RUNS_AN_HOUR", 1),
    "seconds_an_hour": ("COMPILEBOARD_MAX_MINUTES_AN_HOUR", 60),
}


def limits_of(environment: Mapping[str, str], code_allowed: bool) -> Limits:
    """Return the limits from the environment; by default no limits if code is allowed, otherwise PUBLIC.

    Raises SettingError.
    """
    texts = {name: environment.get(variable, "") for name, (variable, _) in VARIABLES.items()}
    numbers = {name: _number(*VARIABLES[name], text) for name, text in texts.items() if text.strip()}
    return replace(Limits() if code_allowed else PUBLIC, **numbers)  # type: ignore[arg-type]


def _number(variable: str, unit: int, text: str) -> int | float:
    number = positive_number(variable, text)
    return number if variable.endswith("_S") else max(1, int(number * unit))


def positive_number(variable: str, text: str, below: float = math.inf) -> float:
    """Return the number in a variable's text; raises SettingError unless it is above 0 and below a bound."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < below:
        raise SettingError(f"{variable} is `{text[:60]}`, and must be a number above 0")
    return number


def check_job(limits: Limits, job: CompileJob) -> None:
    """Raise JobError if a job's time or memory limit exceeds the server's."""
    if limits.time_s is not None and job.time_limit_s > limits.time_s:
        raise JobError("time_limit_s", f"this server gives a run at most {limit_s(limits.time_s)}")
    if limits.memory_bytes is not None and job.memory_limit_bytes > limits.memory_bytes:
        raise JobError("memory_limit_bytes", f"this server gives a run at most {gib(limits.memory_bytes)}")


def check_room(limits: Limits, index: RunIndex, by: str) -> None:
    """Raise AccessError without room for another run, BusyError if there will be room."""
    if limits == Limits():
        return
    used = index.usage(by)
    _check_stored(limits, used)
    if by and limits.live_runs is not None and used.live_runs >= limits.live_runs:
        raise BusyError(
            f"{used.live_runs} of your runs are queued or running, the limit for one visitor. Wait for one to end, or "
            "cancel it",
            ReachedLimit("runs at once", used.live_runs, limits.live_runs),
        )
    if limits.queue is not None and used.queue >= limits.queue:
        raise BusyError(
            f"{used.queue} runs are queued or running, the limit of this server. Try again when some have ended",
            ReachedLimit("queue", used.queue, limits.queue),
        )


def check_tool(limits: Limits, index: RunIndex, by: str) -> None:
    """Raise AccessError if there is no room for another kernel tool request or its result."""
    if limits == Limits():
        return
    used = index.usage(by)
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


def check_rate(rate: Rate, index: RunIndex, by: str) -> None:
    """Raise BusyError, with the next permitted time, if a visitor has reached an hourly limit."""
    if by and rate != Rate():
        now_s = time.time()
        check_executions(rate, index.executions(by, now_s - HOUR_S), now_s)


def check_storage(limits: Limits, index: RunIndex, by: str, more_bytes: int = 0) -> None:
    """Raise AccessError if there is no room for a log of `more_bytes`."""
    if limits != Limits():
        used = index.usage(by)
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
