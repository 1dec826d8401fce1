"""Commands whose run produces files: they report on the files, and write them to `--out`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.commands.output import FAILED, OK, complain
from core.commands.run import exit_code
from core.report import Report
from core.runs.store import Run
from core.runs.stored import open_report


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
