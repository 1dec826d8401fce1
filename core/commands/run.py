"""`python -m core run`, `bisect` and `measure`: run a job, and print its report as text or data."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.base.errors import NodeWaitError
from core.base.machine import Environment
from core.base.words import limit_s
from core.commands.output import (
    CANCELLED,
    FAILED,
    OK,
    complain,
)
from core.commands.summary import check_report, print_run
from core.job import CompileJob, job_of
from core.job.prepared import measured_again
from core.report import Report, as_json
from core.runs.engine.opening import VARIABLE, open_engine
from core.runs.engine.queues import CPU, Assignment, Shortage
from core.runs.progress import ending_words
from core.runs.runner import Runner, Wait
from core.runs.store import Run, Store
from core.runs.stored import open_report, read_trials
from core.trace.parsers.build import GrowingReport
from core.views.overview import OutcomeView
from core.views.printed import as_data, as_text
from core.views.progress import answers_words, silent_words, waiting_words
from core.views.proofs import TrialsView, trials_page
from core.views.texts import source_of
from core.views.verdict import fitted

POLL_S = 0.1


def add_measure_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", metavar="RUN", help="stored run to measure again")


def add_try_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", metavar="RUN", help="stored run whose fixes are tried")
    command.add_argument("--together", action="store_true", help="apply all fixes together, and confirm the result")


def run_job(job: CompileJob, arguments: argparse.Namespace, finish: Callable[[Run, argparse.Namespace], int]) -> int:
    """Run a job to its end or Ctrl-C, and print its steps to standard error; return `finish`'s exit code."""
    store = Store()
    engine = open_engine(store, address=arguments.engine)
    try:
        runner = Runner(store, engine)
        watch = NodeWatch(runner, arguments)
        run = runner.submit(job)
        try:
            _follow(run, watch)
        except KeyboardInterrupt:
            runner.cancel(run)
            _follow(run, watch)
        except NodeWaitError:
            runner.cancel(run)
            raise
        return finish(run, arguments)
    finally:
        engine.close()


def exit_code(run: Run, report: Report | None) -> int:
    """Return the exit code of an ended run; the reason of a failure goes to standard error."""
    status = run.status()
    if status.state == "done":
        return OK
    reason = (
        f"{report.error.type} while {report.error.stage}: {report.error.message}" if report and report.error else ""
    )
    last = f" while {report.steps[-1]}" if report and report.steps and not reason else ""
    if report is not None and (ending := ending_words(run, report)):
        print(ending.replace("`", ""), file=sys.stderr)
    last_line = f"{status.state}{last}: {reason or status.reason}"
    complain(fitted(last_line) if report is not None else last_line, FAILED)
    if not reason:
        print(run.output_tail(2_000), file=sys.stderr)
    return CANCELLED if status.state == "cancelled" else FAILED


def run_command(arguments: argparse.Namespace) -> int:
    return run_job(job_of(arguments), arguments, _finish)


def bisect_command(arguments: argparse.Namespace) -> int:
    return run_job(replace(job_of(arguments), bisect=True, measure=False), arguments, _finish_bisection)


def _finish_bisection(run: Run, arguments: argparse.Namespace) -> int:
    code = _finish(run, arguments)
    if run.log_path() and not arguments.json and (script := OutcomeView(run.status(), open_report(run), run).script):
        print(f"\n{script}", end="")
    return code


def measure_command(arguments: argparse.Namespace) -> int:
    return run_job(measured_again(Store().open(arguments.what).job()), arguments, _finish)


def try_command(arguments: argparse.Namespace) -> int:
    """Try the fixes of a run, print their number to standard error, then what the trials showed."""
    store = Store()
    engine = open_engine(store, address=arguments.engine)
    try:
        runner = Runner(store, engine)
        run, decided = store.open(arguments.what), -1
        runner.try_fixes(run, arguments.together)
        while (progress := runner.prover.progress(run)) is not None:
            if progress.decided > decided:
                print(f"  {TrialsView(progress).words}", file=sys.stderr)
            decided = progress.decided
            time.sleep(POLL_S)
        shown = read_trials(run)
        if shown.applied is not None and shown.applied.run:
            runner.wait(store.open(shown.applied.run))
    finally:
        engine.close()
    page = trials_page(shown, source_of(run.log_path(), open_report(run)))
    print(as_json(as_data(page)).decode() if arguments.json else "\n".join(as_text(page)))
    return OK


def _follow(run: Run, watch: NodeWatch) -> None:
    """Print each step to standard error as it begins, and what the run waits for; raises NodeWaitError."""
    printed = 0
    growing: GrowingReport | None = None
    while True:
        watch.look()
        live, log = run.status().live, run.log_path()
        growing = growing or (GrowingReport(log) if log else None)
        report = (growing.look() if live else open_report(run)) if growing else None
        steps = report.steps if report else ()
        for step in steps[printed:]:
            print(f"  {step}", file=sys.stderr)
        printed = len(steps)
        if not live:
            return
        time.sleep(POLL_S)


def _finish(run: Run, arguments: argparse.Namespace) -> int:
    report = open_report(run) if run.log_path() else None
    if report is not None:
        print_run(run, report, as_json=arguments.json)
    code = exit_code(run, report)
    return check_report(report, arguments) if code == OK and report is not None else code


@dataclass(frozen=True, slots=True)
class Product:
    """Functions for the product of a run: its text, its data for JSON, and the export of its files.

    `problem` returns why the command fails although the run is done; empty if it succeeds.
    """

    text: Callable[[Report], str]
    data: Callable[[Report], dict[str, Any]]
    export: Callable[[Run, Report, str], list[Path]]
    problem: Callable[[Report], str]

    def finish(self, run: Run, arguments: argparse.Namespace) -> int:
        """Report on an ended run and export its files; returns the exit code."""
        report = open_report(run) if run.log_path() else None
        if report is not None:
            print(json.dumps(self.data(report), indent=2) if arguments.json else self.text(report))
        code = exit_code(run, report)
        if report is None or code != OK:
            return code
        if arguments.out:
            for path in self.export(run, report, arguments.out):
                print(f"wrote {path}", file=sys.stderr)
        problem = self.problem(report)
        return complain(problem, FAILED) if problem else code


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
