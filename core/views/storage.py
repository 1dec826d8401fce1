"""Storage of runs: a visitor's use of the limits, and the rules by which runs move to the archive or are deleted."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from core.base import words as fmt
from core.base.errors import CompileboardError
from core.runs.index import RunIndex
from core.runs.index.entry import Usage
from core.runs.limits import Limits
from core.runs.remote import RemoteArchive, remote_archive
from core.runs.retention import DELETES, Due, RetentionRules, due, rules_of

# Share of a limit from which on its use is a warning.
NEARLY = 0.8
STAY = "Pinned runs, cells of sweeps, and runs with notes or comments stay."


@dataclass(frozen=True, slots=True)
class UsageView:
    """Use of the limits that the server's owner has set; `is_named` is True for a visitor with limits of their own."""

    limits: Limits
    usage: Usage
    is_named: bool

    @property
    def words(self) -> str:
        """The used amount of each limit; empty without limits."""
        words = " · ".join(f"{used} of {most} {what}" for used, most, what, _ in self._parts)
        more = " When it is used up, nothing new is started or opened; what is here stays until it is deleted."
        return f"Used here: {words}.{more if self.is_nearly_used else ''}" if words else ""

    @property
    def is_nearly_used(self) -> bool:
        """True if little of a limit is left."""
        return max((share for *_, share in self._parts), default=0.0) >= NEARLY

    @property
    def _parts(self) -> list[tuple[str, str, str, float]]:
        """The used amount, the maximum, the name and the used share of each limit."""
        limits, usage = self.limits, self.usage
        known = (
            (limits.runs, usage.runs, fmt.number, "runs of yours"),
            (limits.visitor_bytes, usage.visitor_bytes, fmt.gib, "for your runs"),
            (limits.store_bytes, usage.store_bytes, fmt.gib, "for all"),
        )
        bounds = known if self.is_named else known[2:]
        return [(words(have), words(most), what, have / most) for most, have, words, what in bounds if most is not None]


@dataclass(frozen=True, slots=True)
class RetentionView:
    """The rules of a store, the archive, and the runs that are due."""

    rules: RetentionRules
    archive: RemoteArchive | None
    due: Due

    @property
    def rule_words(self) -> str:
        """The rules as a sentence; empty if there are none."""
        days, size = self.rules.days, self.rules.most_bytes
        parts = [
            *([f"are older than {fmt.exact(days)} days"] if days is not None else []),
            *([f"are the oldest of more than {fmt.gib(size)}"] if size is not None else []),
        ]
        return f"Runs that {' or '.join(parts)} {self.what_happens}." if parts else ""

    @property
    def what_happens(self) -> str:
        """The end of the sentence: where due runs go, or why they stay."""
        if self.archive is not None:
            return "move to the archive, and come back when they are opened"
        return "are deleted" if self.rules.deletes else f"stay: there is no archive, and {DELETES} is not 1"

    @property
    def due_words(self) -> str:
        """The number of due runs, or when the next one is due; empty if none ever is."""
        if self.due.runs:
            number, size = len(self.due.runs), fmt.bytes_(self.due.size_bytes)
            when = " within the hour" if self.archive is not None or self.rules.deletes else ""
            return f"{fmt.count(number, 'run')} ({size}) {fmt.agree(number, 'is', 'are')} due{when}."
        if self.due.next_s is None:
            return ""
        return f"The next is due on {time.strftime('%Y-%m-%d', time.localtime(self.due.next_s))}."

    @property
    def words(self) -> str:
        """The rules, the due runs and the exceptions; empty without rules."""
        return " ".join(filter(None, (self.rule_words, self.due_words, STAY))) if self.rule_words else ""


def retention_view(index: RunIndex) -> RetentionView:
    """Return the retention of a store, from the environment; raises SettingError, StoreError."""
    rules, archive = rules_of(os.environ), remote_archive(index.store)
    return RetentionView(rules, archive, due(index, rules, moves=archive is not None))


def retention_words(index: RunIndex) -> str:
    """Return the retention of a store in words; empty without rules. A wrong setting is said, too."""
    try:
        return retention_view(index).words
    except CompileboardError as error:
        return str(error)
