"""Figures of finished tries: solved tasks, calls and characters, with and without the tools.

`DIR/{with,without}/{try}/{TASK}/` holds `solution/` (the changed files) and `transcript.jsonl`, one line of JSON for
each call of a tool: `{"tool": "bash", "arguments": {...}, "characters": 1234}`. `characters` counts what was read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.agents import work
from benchmarks.agents.runner import TRANSCRIPT

SIDES = ("with", "without")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try at a task."""

    tools: str
    number: str
    task: str
    solved: bool
    reason: str
    calls: int
    characters: int


def attempts(directory: Path) -> list[Attempt]:
    """Return all tries below a directory; a stored verdict spares a second check."""
    rows = []
    for tools in SIDES:
        for place in sorted((directory / tools).glob("*/*")):
            if place.name in work.task_names():
                verdict = _verdict(place)
                calls, characters = read_transcript(place / TRANSCRIPT)
                rows.append(
                    Attempt(tools, place.parent.name, place.name, verdict.solved, verdict.reason, calls, characters)
                )
    return rows


def read_transcript(path: Path) -> tuple[int, int]:
    """Return the calls and the characters of a transcript, 0 and 0 if the client wrote none."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    calls = [json.loads(line) for line in lines if line.strip()]
    return len(calls), sum(int(call["characters"]) for call in calls)


def write_table(directory: Path) -> str:
    """Write `table.json` and `table.md` into a directory; return the Markdown."""
    rows = attempts(directory)
    text = markdown(rows)
    (directory / "table.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    (directory / "table.md").write_text(text, encoding="utf-8")
    return text


def markdown(rows: list[Attempt]) -> str:
    """Return the tables, each kind and each task with and without tools; figures are means over tries."""
    lines = ["| tasks | tools | solved | calls | characters |", "| --- | --- | --- | --- | --- |"]
    groups = [(text, [row for row in rows if row.task.partition("_")[0] == kind]) for kind, text in work.KINDS.items()]
    for text, group in [*groups, ("all", rows)]:
        lines += [_line(text, tools, [row for row in group if row.tools == tools]) for tools in SIDES]
    lines += ["", "| task | with | without | reasons |", "| --- | --- | --- | --- |"]
    by_task: dict[str, list[Attempt]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    for name in sorted(by_task, key=work.task_names().index):
        shares = [_share([row for row in by_task[name] if row.tools == tools]) for tools in SIDES]
        reasons = sorted({row.reason.replace("|", "/")[:120] for row in by_task[name] if not row.solved})
        lines.append(f"| {name} | {shares[0]} | {shares[1]} | {'; '.join(reasons)} |")
    return "\n".join(lines) + "\n"


def _line(text: str, tools: str, rows: list[Attempt]) -> str:
    count = max(len(rows), 1)
    calls, characters = sum(row.calls for row in rows) / count, sum(row.characters for row in rows) / count
    return f"| {text} | {tools} | {_share(rows)} | {calls:.1f} | {characters:.0f} |"


def _share(rows: list[Attempt]) -> str:
    return f"{sum(row.solved for row in rows)} of {len(rows)}"


def _verdict(place: Path) -> work.TaskVerdict:
    stored = place / "verdict.json"
    if stored.exists():
        return work.TaskVerdict(**json.loads(stored.read_text(encoding="utf-8")))
    verdict = work.check(place.name, place / "solution")
    stored.write_text(json.dumps(asdict(verdict)), encoding="utf-8")
    return verdict
