"""An engine that compiles nothing: each run ends as soon as it may, as a test says."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from core import Environment, Run
from core.runs.engine import Assignment

TOOK_S = 2.0
ENDS: dict[str, str] = {"cancelled": "cancelled by the user", "failed": "a failure"}


class PromptEngine:
    """Ends each run at once as `outcome` says of it, or holds it until it is released or cancelled."""

    def __init__(self, outcome: Callable[[Run], str] = lambda run: "done", hold_after: int | None = None) -> None:
        self.outcome = outcome
        self.hold_after = hold_after
        self.started: list[Run] = []
        self.at_once: list[tuple[str, ...]] = []
        self._going: dict[str, tuple[Assignment, Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def prepare(self, _: Assignment) -> None:
        return

    def lacks(self, _: Assignment) -> str:
        return ""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        run = assignment.run
        run.write_status(replace(run.status(), state="running", started_s=time.time() - TOOK_S))
        with self._lock:
            self.started.append(run)
            self._going[run.id] = assignment, ended
            self.at_once.append(tuple(item.device for item, _ in self._going.values()))
        if self.hold_after is None or len(self.started) <= self.hold_after:
            threading.Thread(target=self.end, args=(run,), daemon=True).start()

    def end(self, run: Run, state: str = "") -> None:
        """End a run that goes."""
        with self._lock:
            _, ended = self._going.pop(run.id, (None, None))
        if ended is not None:
            state = state or self.outcome(run)
            signal, state = (state, "crashed") if state.startswith("SIG") else (None, state)
            told = replace(run.status(), state=state, reason=ENDS.get(state, ""), signal=signal)  # type: ignore[arg-type]
            if state != "killed":
                run.write_status(replace(told, ended_s=(told.started_s or 0.0) + TOOK_S, pid=None))
            ended()

    def cancel(self, run: Run) -> None:
        self.end(run, "cancelled")

    def warm_up(self) -> None:
        return

    def environment(self) -> Environment:
        return Environment()

    def close(self) -> None:
        return
