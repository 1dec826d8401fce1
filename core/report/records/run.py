"""Records about a run as a whole: its setting, its progress, its calls, and its end."""

from __future__ import annotations

from dataclasses import dataclass

from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord(Record):
    """A file as it was when it ran: logged once for each, first the user's own, then those of libraries
    that torch's stacks name.

    Python files alone, of at most 1 MB each and 8 MB together; neither Python's own library nor Compileboard.
    """

    path: str
    """the path under which torch's stacks name it"""
    text: str = ""
    """the file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Record):
    """A step that the worker begins; the live view shows the newest."""

    name: str
    """the step in words: `loading the model`, `call 0: compiled`, `measuring`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord(Record):
    """A note about how the run was made, such as that the file compiles its model itself, so that the
    job's options replaced its own.
    """

    text: str
    """a sentence or two"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord(Record):
    """The end of a complete log: logged once, last.

    A run with the status done, but without this record in its log, has crashed: it left early, or closed its log.
    Before each record the worker checks that the log is still the file that torch opened, no shorter and not deleted;
    if not, this record does not count either. Logs of older versions have none; the end of their runs is in
    `status.json`.
    """

    outcome: str
    """`done`, `failed` or `out of memory`"""
