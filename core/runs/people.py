"""People of a server: audiences of runs, hourly limits of visitors, and the audit log.

Runs and kernel tool results count for the hourly limits as long as they are stored. If a visitor deletes one
within an hour, it is noted in `<home>/deleted.jsonl`, so that deleting does not evade the limits. The time to
read a visitor's files is noted there, too.

`<home>/audit.jsonl` is the audit log. Both files have one JSON object a line. When `audit.jsonl` is full, it
is renamed to `audit.1.jsonl` and replaces an earlier one. Several servers of one home may append at once.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import AccessError, CompileboardError, DecodeError, StoreError
from core.base.files import append_line, in_words, one_line, open_regular, read_line, write_atomically
from core.base.words import count, duration_s
from core.runs.status import Seconds, Status

HOUR_S = 3_600
NAME, EARLIER = "deleted.jsonl", "deleted.1.jsonl"
MOST_FILE_BYTES = 1_000_000  #: one of the two files of runs deleted in the last hour


@dataclass(frozen=True, slots=True)
class Rate:
    """Hourly limits of a visitor: started runs, and seconds that runs and kernel tools may execute.

    None for no limit.
    """

    runs: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ReachedLimit:
    """A limit in runs or seconds that is used up now.

    `until_s` is the time at which a request is permitted again; None if it is unknown.
    """

    name: Literal["runs an hour", "seconds an hour", "runs at once", "queue"]
    used: float
    most: float
    until_s: Seconds | None = None


class BusyError(AccessError):
    """Error for a limit that is reached only for now; `reached` is the limit."""

    def __init__(self, message: str, reached: ReachedLimit) -> None:
        super().__init__(message)
        self.reached = reached


class RateEntry(msgspec.Struct, frozen=True):
    """A visitor's run or kernel tool, as it counts for the hourly limits.

    `started_s` is None before the start, `ended_s` before the end.
    """

    by: str
    created_s: Seconds
    started_s: Seconds | None = None
    ended_s: Seconds | None = None
    is_run: bool = True

    def seconds_since(self, since_s: float, now_s: float) -> float:
        """Return the seconds of execution since a time."""
        if self.started_s is None:
            return 0.0
        return max(0.0, (now_s if self.ended_s is None else self.ended_s) - max(since_s, self.started_s))


def note_deleted(home: Path, status: Status, is_run: bool = True) -> None:
    """Record a visitor's young run or tool result that is deleted; a full disk prevents no deletion."""
    ended_s = status.ended_s if status.took_s is not None else status.started_s
    is_recent = max(status.created_s, ended_s or 0.0) > time.time() - HOUR_S
    if status.by and is_recent and was_executed(status):
        noted = RateEntry(status.by, status.created_s, status.started_s, ended_s, is_run)
        with suppress(OSError):
            append_line(home / NAME, msgspec.json.encode(noted), MOST_FILE_BYTES, home / EARLIER)


def note_reading(home: Path, by: str, started_s: float) -> None:
    """Record that a file of a visitor was read until now, so that its time counts for the hourly limits."""
    if by:
        noted = RateEntry(by, started_s, started_s, time.time(), is_run=False)
        with suppress(OSError):
            append_line(home / NAME, msgspec.json.encode(noted), MOST_FILE_BYTES, home / EARLIER)


def was_executed(status: Status) -> bool:
    """Return True for a run that this server executes or has queued; False for a log or a recording."""
    return status.kind == "run" and not status.recorded


def deleted_entries(home: Path, by: str) -> list[RateEntry]:
    """Return a visitor's recently deleted runs and tool results; damaged lines are left out."""
    executions = []
    for name in (EARLIER, NAME):
        with suppress(OSError), open_regular(home / name) as file:
            for line in file:
                with suppress(DecodeError):
                    executions.append(decoded_as(line, RateEntry))
    return [execution for execution in executions if execution.by == by]


def check_executions(rate: Rate, executions: Sequence[RateEntry], now_s: float) -> None:
    """Raise BusyError, with the next permitted time, if a visitor has reached a limit."""
    if rate.runs is not None:
        most_runs = rate.runs
        wait_s = _wait_s(lambda since_s: _runs(executions, since_s) < most_runs, now_s)
        if wait_s:
            used = _runs(executions, now_s - HOUR_S)
            raise BusyError(
                f"you started {count(used, 'run')} within the last hour, and this server starts {most_runs} an hour "
                f"for one person. Try again in {duration_s(wait_s)}",
                ReachedLimit("runs an hour", used, most_runs, now_s + wait_s),
            )
    if rate.seconds is not None:
        most_s = rate.seconds
        wait_s = _wait_s(lambda since_s: _seconds(executions, since_s, now_s) < most_s, now_s)
        if wait_s:
            used_s = _seconds(executions, now_s - HOUR_S, now_s)
            raise BusyError(
                f"your runs and kernel tools executed for {duration_s(used_s)} within the last hour, and this server "
                f"gives one person {duration_s(most_s)} an hour. Try again in {duration_s(wait_s)}, or later if some "
                "are still running",
                ReachedLimit("seconds an hour", used_s, most_s, now_s + wait_s),
            )


def _wait_s(fits: Callable[[float], bool], now_s: float) -> int:
    """Return the seconds until `fits` is True; 0 if it already is.

    `fits` gets the begin of the last hour, and is asked for later and later hours.
    """
    return bisect_left(range(HOUR_S), True, key=lambda wait_s: fits(now_s - HOUR_S + wait_s))


def _runs(executions: Iterable[RateEntry], since_s: float) -> int:
    return sum(execution.is_run and execution.created_s > since_s for execution in executions)


def _seconds(executions: Iterable[RateEntry], since_s: float, now_s: float) -> float:
    return sum(execution.seconds_since(since_s, now_s) for execution in executions)


AUDIENCE = "audience.txt"
PRIVATE = "private"
# Nobody, whoever has its address, or all in their lists.
AUDIENCES = (PRIVATE, "link", "all")
MOST_CHARS = 80  #: the name of an audience of a run or sweep


def read_audience(directory: Path) -> str:
    """Return one of AUDIENCES; empty if the author did not choose. An unknown value counts as private."""
    text = read_line(directory / AUDIENCE, MOST_CHARS)
    return text if text in ("", *AUDIENCES) else PRIVATE


def write_audience(directory: Path, audience: str) -> None:
    """Set who may see the run or sweep in a directory; raises StoreError."""
    if audience not in AUDIENCES:
        raise StoreError(f"a run or a sweep is for one of {', '.join(AUDIENCES)}")
    with in_words(directory):
        write_atomically(directory / AUDIENCE, audience.encode())


AUDIT, EARLIER_EVENTS = "audit.jsonl", "audit.1.jsonl"
MOST_AUDIT_BYTES = 16_000_000  #: limit: one of the two files of the audit log
MOST_TEXT_CHARS = 300  #: a text of an audit event
Outcome = Literal["done", "refused", "failed"]


class Event(msgspec.Struct, frozen=True):
    """An event of the audit log: its time, person, action, run or sweep, and outcome.

    `reason` is the message of an action that was refused or failed.
    """

    at_s: Seconds
    by: str
    action: str
    subject: str = ""
    outcome: Outcome = "done"
    reason: str = ""


def append_event(home: Path, event: Event) -> None:
    """Append an event to the audit log in a store's home; raises StoreError."""
    path = home / AUDIT
    with in_words(path):
        append_line(path, msgspec.json.encode(_bounded(event)), MOST_AUDIT_BYTES, home / EARLIER_EVENTS)


def audit_events(home: Path) -> Iterator[Event]:
    """Yield the events of the audit log in a store's home, oldest first; damaged lines are left out."""
    for name in (EARLIER_EVENTS, AUDIT):
        with suppress(OSError), open_regular(home / name) as file:
            for line in file:
                with suppress(DecodeError):
                    yield decoded_as(line, Event)


@contextmanager
def audited(home: Path, by: str, action: str) -> Iterator[MutableSequence[str]]:
    """Log the action that the context executes; the caller adds subjects to the yielded list.

    Raises the action's errors, and StoreError if the action cannot be logged.
    """
    subject: list[str] = []
    try:
        yield subject
    except CompileboardError as error:
        outcome: Outcome = "refused" if isinstance(error, AccessError) else "failed"
        append_event(home, Event(time.time(), by, action, " ".join(subject), outcome, str(error)))
        raise
    append_event(home, Event(time.time(), by, action, " ".join(subject)))


def _bounded(event: Event) -> Event:
    texts = {name: one_line(getattr(event, name), MOST_TEXT_CHARS) for name in ("by", "action", "subject", "reason")}
    return msgspec.structs.replace(event, **texts)
