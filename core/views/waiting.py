"""Why a run has not started, and why a sweep starts none now, in words."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.base import words as fmt
from core.runs.rates import ReachedLimit
from core.runs.runner import Wait
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line


def waiting_words(wait: Wait) -> str:
    """Return what a queued run waits for, as plain text."""
    if wait.node_for:
        return f"Waiting for a node with {one_line(wait.node_for, LONGEST_NAME)}: none answers now…"
    if wait.earlier:
        return f"Waiting for {fmt.count(wait.earlier, 'earlier run')}…"
    if wait.is_blocked:
        return "Waiting for another server that measures on this device…"
    if wait.is_elsewhere:
        return "Waiting in the queue of another server…"
    if wait.starts.startswith("torch"):
        return f"Starting {one_line(wait.starts, LONGEST_LINE)}, once…"
    return f"Waiting for {one_line(wait.starts, LONGEST_LINE)}…" if wait.starts else "Starting…"


def starting_words(nodes: Sequence[str]) -> str:
    """Return what the first run waits for while torch has not started; `nodes` are the engine's."""
    if nodes:
        return "torch is starting in the background."
    return "No node is ready yet: none has connected, or torch is starting there."


def reached_words(reached: ReachedLimit) -> str:
    """Return which limit is reached by how much, and when there is room again."""
    used, most = reached.used, reached.most
    match reached.name:
        case "runs an hour":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} an hour for one person"
        case "seconds an hour":
            words = f"executed {fmt.duration_s(used)} of {fmt.duration_s(most)} an hour for one person"
        case "runs at once":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} at once for one person"
        case "queue":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} in the queue of this server"
    return f"{words}; the next {at_words(reached)}" if reached.until_s is not None else words


def at_words(reached: ReachedLimit) -> str:
    """Return when there is room again, by the server's clock; empty if nobody knows."""
    return "" if reached.until_s is None else time.strftime("at %H:%M", time.localtime(reached.until_s + 59))
