"""Retention in words: which runs go, when and where to, for *Runs* and the command line."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from core.base import words as fmt
from core.base.errors import CompileboardError
from core.runs.index import RunIndex
from core.runs.remote import RemoteArchive, remote_archive
from core.runs.retention import DELETES, Due, RetentionRules, due, rules_of
from core.runs.retention import keep_retaining as keep_retaining

STAY = "Pinned runs, cells of sweeps, and runs with notes or comments stay."


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
