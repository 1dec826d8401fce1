"""The table of `python -m tests.attack`: what was tried against each threat of `ROWS`, and what was seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import shorten

import pytest

from tests.attack.rows import ELSEWHERE, ROWS

HELD, SUCCEEDED, NOT_TRIED = "held", "SUCCEEDED", "not tried"


@dataclass(slots=True)
class Attack:
    """One test: the rows that it holds, what it does, what it expects, and the outcomes of its cases."""

    rows: tuple[str, ...]
    what: str
    expected: str
    outcomes: list[str] = field(default_factory=list)
    seen: str = ""

    @property
    def verdict(self) -> str:
        """It holds if every case that was tried did, and one was."""
        if "failed" in self.outcomes:
            return SUCCEEDED
        return HELD if "passed" in self.outcomes else NOT_TRIED

    def note(self, outcome: str, words: str) -> None:
        """One case more: what is worst of it is kept."""
        self.outcomes.append(outcome)
        if outcome == "failed" or (outcome == "skipped" and not self.seen):
            self.seen = words

    def line(self, rows: Iterable[str]) -> str:
        """Its line of the table."""
        held = f"so, {len(self.outcomes)} times" if len(self.outcomes) > 1 else "so"
        seen = held if self.verdict == HELD else self.seen or "it was not run"
        cells = (", ".join(rows), self.what, self.expected, shorten(seen, 90), self.verdict)
        return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


class Table:
    """A plugin of pytest's: selects the attacks, gathers their outcomes, prints the table."""

    def __init__(self) -> None:
        self.attacks: dict[str, Attack] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tests that hold a row without being an attack are taken, too."""
        for item in items:
            rows = ELSEWHERE.get(function_of(item.nodeid))
            if rows:
                item.add_marker(pytest.mark.attack(*rows))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What is left after the selection is to be tried."""
        for item in session.items:
            self.attacks.setdefault(function_of(item.nodeid), attack_of(item))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A case counts once; where its setup or its end fails, that is its outcome."""
        if report.when == "call" or report.outcome != "passed":
            self.attacks[function_of(report.nodeid)].note(report.outcome, words_of(report))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table, and what is in the review and was not tested."""
        terminalreporter.write_line(text(list(self.attacks.values())))


def attack_of(item: pytest.Item) -> Attack:
    """What the marks of a test say of it; its name is what it expects."""
    said = [str(word) for mark in item.iter_markers("attack") for word in mark.args]
    rows = tuple(dict.fromkeys(word for word in said if word in ROWS))
    other = [word for word in said if word not in ROWS]
    expected = getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " ")
    return Attack(rows, other[0] if other else "; ".join(ROWS[row] for row in rows[:1]), expected)


def function_of(nodeid: str) -> str:
    """A test without its parameters."""
    return nodeid.partition("[")[0]


def words_of(report: pytest.TestReport) -> str:
    """Why a case was skipped, or the line on which it failed."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", report.longrepr)).split("\n")[0]


def text(attacks: list[Attack]) -> str:
    """The table in Markdown, in the order of `ROWS`, with the rows that no test holds."""
    by_row: Mapping[str, list[Attack]] = defaultdict(list)
    for attack in attacks:
        by_row[attack.rows[0] if attack.rows else ""].append(attack)
    held = {row for attack in attacks for row in attack.rows}
    lines = ["| row | attack | expected | seen | verdict |", "| --- | --- | --- | --- | --- |"]
    lines += [attack.line(attack.rows) for row in [*ROWS, ""] for attack in by_row.get(row, [])]
    lines += [f"| {row} | {words} | | | not tested |" for row, words in ROWS.items() if row not in held]
    counts = [
        f"{sum(attack.verdict == verdict for attack in attacks)} {verdict}" for verdict in (HELD, SUCCEEDED, NOT_TRIED)
    ]
    return "\n".join(["", *lines, "", f"{', '.join(counts)}; {len(set(ROWS) - held)} rows not tested"])
