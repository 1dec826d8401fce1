"""Progress lines of a command whose runs have not started, and the end of its wait for a node."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time

from core.base.errors import NodeWaitError
from core.base.machine import Environment
from core.base.words import limit_s
from core.runs.engine.opening import VARIABLE
from core.runs.engine.queues import CPU, Assignment, Shortage
from core.runs.runner import Runner, Wait
from core.runs.store import Run
from core.views.progress import answers_words, silent_words, waiting_words

POLL_S = 0.1
# Nodes of a reachable engine answer within so many seconds, and no line is printed.
QUIET_S = 2.0


class NodeWatch:
    """Reporter of what the runs of a command wait for."""

    def __init__(self, runner: Runner, arguments: argparse.Namespace) -> None:
        self._runner, self._engine = runner, runner.engine
        self._limit_s: float = arguments.node_wait
        self._address = arguments.engine or os.environ.get(VARIABLE, "")
        self._since_s = math.inf
        self._printed = ""
        self._silent: frozenset[str] = frozenset()

    def look(self) -> None:
        """Print what has changed; raises NodeWaitError if the runs have waited too long for a node."""
        self._look_at(self._runner.stalled() or Wait())
        silent = frozenset(self._engine.silent())
        for name in sorted(silent - self._silent):
            _print(silent_words(name))
        for name in sorted(self._silent - silent):
            _print(answers_words(name))
        self._silent = silent

    def environment(self) -> Environment:
        """Return the capabilities of the engine's nodes; raises NodeWaitError if none answers in time."""
        while not self._engine.nodes(CPU):
            shortage = self._engine.shortage(CPU) or Shortage("")
            self._look_at(Wait(CPU, shortage.reason, starts="torch" if shortage.is_starting else ""))
            time.sleep(POLL_S)
        self._look_at(Wait(starts=self._engine.lacks(Assignment(Run("", self._runner.store.runs_dir)))))
        return self._engine.environment()

    def _look_at(self, wait: Wait) -> None:
        now = time.monotonic()
        # A start of torch may take minutes, and ends by itself.
        self._since_s = min(self._since_s, now) if wait.node_for and not wait.starts else math.inf
        waited_s = now - self._since_s
        if waited_s > self._limit_s:
            of = f" of {self._address}" if self._address else ""
            raise NodeWaitError(
                f"no node{of} could execute a run on {wait.node_for} within {limit_s(self._limit_s)}"
                f"{wait.reason and f': {wait.reason}'}; --node-wait S waits longer"
            )
        words = waiting_words(wait, self._address) if wait.starts or wait.is_blocked or waited_s > QUIET_S else ""
        if words and words != self._printed:
            _print(words)
        self._printed = words or self._printed


def _print(words: str) -> None:
    print(f"  {words[:1].lower()}{words[1:]}", file=sys.stderr, flush=True)
