"""`python -m core report`: print the report of a stored run or of a TORCH_TRACE log."""

from __future__ import annotations

import argparse
import sys

from core.analysis import ending_words
from core.base.errors import TraceError
from core.commands.output import FAILED, Commands, add_check_options, add_json_option, check_report, complain
from core.commands.run import WRONG_RESULTS
from core.commands.summary import print_run, summarise
from core.report import Report, as_json, to_json
from core.runs.store import Run, Store
from core.runs.stored import OpenedLog, open_report, opened_log, store_graphs
from core.trace import NO_RECORD
from core.trace.parsers import build_report
from core.views.prepared import summaries

GOES_WELL = ("queued", "running", "done")


def add_command(commands: Commands) -> None:
    """Add the command `report`."""
    command = commands.add_parser("report", help="report on a stored run or a TORCH_TRACE log")
    command.set_defaults(function=_report)
    command.add_argument("what", metavar="RUN|LOG", help="stored run, log, directory or archive of logs")
    command.add_argument("--rank", type=int, metavar="N", help="rank of several whose log is read (the lowest)")
    add_check_options(command, WRONG_RESULTS)
    add_json_option(command)


def _report(arguments: argparse.Namespace) -> int:
    with opened_log(arguments.what, arguments.rank) as log:
        if log is not None:
            return _report_log(log, arguments)
    run = Store().open(arguments.what)
    return _report_run(run if arguments.rank is None else run.of_rank(arguments.rank), arguments)


def _report_log(log: OpenedLog, arguments: argparse.Namespace) -> int:
    report = _with_records(build_report(log.path))
    if log.words:
        print(log.words, file=sys.stderr if arguments.json else sys.stdout)
    if arguments.json:
        sys.stdout.write(to_json(report, indent=2).decode() + "\n")
    else:
        summarise(report, ending_words("done", "", report))
    return FAILED if report.error is not None else check_report(report, arguments)


def _report_run(run: Run, arguments: argparse.Namespace) -> int:
    status = run.status()
    if run.log_path() is None and status.state not in GOES_WELL:
        if arguments.json:
            sys.stdout.write(as_json({"state": status.state, "reason": status.reason}).decode() + "\n")
        return complain(f"{ending_words(status.state, status.reason, None)}.", FAILED)
    report = _with_records(open_report(run, summaries(run)))
    store_graphs(run, report)
    print_run(run, report, as_json=arguments.json)
    if status.state in GOES_WELL and report.error is None:
        return check_report(report, arguments)
    return FAILED


def _with_records(report: Report) -> Report:
    if not report.kinds:
        raise TraceError(NO_RECORD)
    return report
