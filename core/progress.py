"""Where a run stands while it runs: read from the end of its growing log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.parsers.draft import ReportDraft
from core.parsers.events import chromium_event
from core.report import Phase
from core.trace import TraceReader


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a run so far; `steps` are the worker's own words, the newest last."""

    steps: tuple[str, ...]
    phases: tuple[Phase, ...]
    compilations: int
    graphs: int
    kernels: int
    log_bytes: int

    @property
    def now(self) -> tuple[Phase, ...]:
        """The phases that have begun and not ended, outermost first."""
        return tuple(phase for phase in self.phases if phase.end_us is None)


def progress(log: Path | None) -> Progress:
    """Read a log that is still being written; before torch has opened it there is nothing to tell."""
    if log is None or not log.exists():
        return Progress((), (), 0, 0, 0, 0)
    steps: list[str] = []
    graphs = kernels = 0
    compilations: set[str] = set()
    with TraceReader(log, growing=True) as reader:
        draft = ReportDraft(reader)
        for record in reader.records():
            if record.compile_id:
                compilations.add(record.compile_id)
            if record.kind == "chromium_event":
                chromium_event(draft, record)
            elif record.kind == "artifact:compileboard_step":
                data = reader.json(record)
                steps.append(str(data.get("name", "")) if isinstance(data, dict) else "")
            graphs += record.kind == "dynamo_output_graph"
            kernels += record.kind == "artifact:compileboard_kernel"
        return Progress(tuple(steps), tuple(draft.phases), len(compilations), graphs, kernels, log.stat().st_size)
