"""The command line: the same runs and reports as in the browser.

    python -m core samples [--json]
    python -m core run NAME | FILE.py[:NAME] | job.json [options] [--check] [--least-speedup X] [--json]
    python -m core measure RUN [--check] [--least-speedup X] [--json]
    python -m core report RUN | LOG [--check] [--least-speedup X] [--json]
    python -m core pipeline NAME | FILE.py[:NAME] | job.json [options] [--out FILE] [--json]
    python -m core aoti NAME | FILE.py[:NAME] | job.json [options] [--dim WHERE=MIN..MAX] [--out DIR] [--json]
    python -m core compare RUN | LOG RUN | LOG [--check] [--least-speedup X] [--json]
    python -m core sweep NAME | FILE.py[:NAME] | job.json [--axis FIELD=VALUE,…] [--preset NAME] [options]
    python -m core sweep --resume ID
    python -m core sweeps [ID] [--json | --csv]
    python -m core backends [--json]

With --json the report alone goes to standard output; progress and messages go to standard error. Exit codes: 0 done, 1
the run, or each cell of the sweep, ended with an error, or the sweep stopped, 2 the command or the job is not right, 3
there is no such run, sweep or log, or it is no torch trace, 4 a --check failed, 5 it is slower than --least-speedup,
130 cancelled, 141 whoever read the output has closed it. `report` of a run that was not done ends with 1, too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from types import ModuleType

from core.analysis import ending_words
from core.base.errors import CompileboardError, JobError, StoreError, TraceError
from core.commands import aoti, pipeline
from core.commands.checks import add_check_options, check_report
from core.commands.compare import add_command as add_compare
from core.commands.compare import log_at
from core.commands.pipeline import add_pipeline_options, pipeline_job
from core.commands.summary import report_data, summarise
from core.commands.sweep import add_sweep_options, list_sweeps, run_sweep
from core.job import CompileJob, add_job_options, job_of
from core.job.gallery import samples
from core.job.prepared import measured_again
from core.report import Report, as_json, to_json
from core.runs.engine import LocalEngine
from core.runs.runner import Runner
from core.runs.store import Run, Store
from core.runs.stored import open_report, store_graphs
from core.sweep.backends import list_backends
from core.trace import NO_RECORD
from core.trace.parsers import GrowingReport, build_report

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
POLL_S = 0.1
GOES_WELL = ("queued", "running", "done")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.function(arguments))
    except JobError as error:
        return _complain(str(error), USAGE)
    except (StoreError, TraceError) as error:
        return _complain(str(error), MISSING)
    except CompileboardError as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        return _complain("cancelled", CANCELLED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description="What torch.compile did to a model.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("samples", help="list the sample models")
    listing.set_defaults(function=_samples)
    run = commands.add_parser("run", help="compile a model and report")
    run.set_defaults(function=_run, job=job_of, finish=_finish)
    add_job_options(run)
    add_check_options(run, "results differ from eager's, or nothing was compared")
    again = commands.add_parser("measure", help="measure a stored run's job again, as a run of its own")
    again.set_defaults(function=_run, job=_measured_again, finish=_finish)
    again.add_argument("what", metavar="RUN")
    add_check_options(again, "results differ from eager's, or nothing was compared")
    report = commands.add_parser("report", help="report on a stored run or a TORCH_TRACE log")
    report.set_defaults(function=_report)
    report.add_argument("what", metavar="RUN|LOG")
    add_check_options(report, "results differ from eager's, or nothing was compared")
    piping = commands.add_parser("pipeline", help="build a model into programs of the accelerator, and run them")
    piping.set_defaults(function=_run, job=pipeline_job, finish=partial(_finish_told, pipeline))
    add_pipeline_options(piping)
    packaging = commands.add_parser("aoti", help="export a model, package it by AOTInductor, and run it without Python")
    packaging.set_defaults(function=_run, job=aoti.aoti_job, finish=partial(_finish_told, aoti))
    aoti.add_aoti_options(packaging)
    add_compare(commands)
    sweep = commands.add_parser("sweep", help="change a model's job along axes, and compare")
    sweep.set_defaults(function=run_sweep)
    add_sweep_options(sweep)
    sweeps = commands.add_parser("sweeps", help="list the sweeps of this home, or print one")
    sweeps.set_defaults(function=list_sweeps)
    sweeps.add_argument("id", nargs="?", default="", metavar="ID", help="print this sweep: its answer and its table")
    sweeps.add_argument("--csv", action="store_true", help="with an ID: the table as CSV, and nothing else")
    backends = commands.add_parser("backends", help="try each backend that torch lists here")
    backends.set_defaults(function=list_backends)
    for command in (listing, run, again, report, piping, packaging, sweeps, backends):
        command.add_argument("--json", action="store_true", help="JSON on standard output, and nothing else")
    return parser


def _samples(arguments: argparse.Namespace) -> int:
    found = samples()
    if arguments.json:
        names = ("name", "title", "teaches", "group", "training", "twin")
        print(json.dumps([{name: getattr(item, name) for name in names} for item in found], indent=2))
        return OK
    width = max(len(item.name) for item in found)
    for item in found:
        print(f"{item.name:<{width}}  {item.title}: {item.teaches}")
    return OK


def _run(arguments: argparse.Namespace) -> int:
    store = Store()
    engine = LocalEngine(store.cache_dir)
    try:
        runner = Runner(store, engine)
        run = runner.submit(arguments.job(arguments))
        try:
            _follow(run)
        except KeyboardInterrupt:
            runner.cancel(run)
            _follow(run)
        return int(arguments.finish(run, arguments))
    finally:
        engine.close()


def _measured_again(arguments: argparse.Namespace) -> CompileJob:
    return measured_again(Store().open(arguments.what).job())


def _follow(run: Run) -> None:
    """Tell each step on standard error as it begins."""
    told = 0
    growing: GrowingReport | None = None
    while True:
        live, log = run.status().live, run.log_path()
        growing = growing or (GrowingReport(log) if log else None)
        report = (growing.look() if live else open_report(run)) if growing else None
        steps = report.steps if report else ()
        for step in steps[told:]:
            print(f"  {step}", file=sys.stderr)
        told = len(steps)
        if not live:
            return
        time.sleep(POLL_S)


def _finish(run: Run, arguments: argparse.Namespace) -> int:
    report = open_report(run) if run.log_path() else None
    if report is not None:
        _print_run(run, report, arguments)
    code = _ended(run, report)
    return check_report(report, arguments) if code == OK and report is not None else code


def _print_run(run: Run, report: Report, arguments: argparse.Namespace) -> None:
    status = run.status()
    if arguments.json:
        sys.stdout.write(as_json(report_data(report, status)).decode() + "\n")
    else:
        summarise(report, ending_words(status.state, status.reason, report), run.output_tail())


def _finish_told(what: ModuleType, run: Run, arguments: argparse.Namespace) -> int:
    """Tell what a run made of its model, `what` is for, and write it where it was asked for."""
    report = open_report(run) if run.log_path() else None
    if report is not None:
        print(what.as_json(report) if arguments.json else what.told(report))
    code = _ended(run, report)
    if report is not None and arguments.out and code == OK:
        for path in what.export(run, report, arguments.out):
            print(f"wrote {path}", file=sys.stderr)
    problem = what.went_wrong(report) if report is not None and code == OK else ""
    return _complain(problem, FAILED) if problem else code


def _ended(run: Run, report: Report | None) -> int:
    """The exit code of a run, which is told why it was not done."""
    status = run.status()
    if status.state == "done":
        return OK
    reason = (
        f"{report.error.type} while {report.error.stage}: {report.error.message}" if report and report.error else ""
    )
    last = f" while {report.steps[-1]}" if report and report.steps and not reason else ""
    _complain(f"{status.state}{last}: {reason or status.reason}", FAILED)
    if not reason:
        print(run.output_tail(2_000), file=sys.stderr)
    return CANCELLED if status.state == "cancelled" else FAILED


def _report(arguments: argparse.Namespace) -> int:
    log = log_at(arguments.what)
    if log is None:
        return _report_run(Store().open(arguments.what), arguments)
    report = _read(build_report(log))
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
        return _complain(f"{ending_words(status.state, status.reason, None)}.", FAILED)
    report = _read(open_report(run))
    store_graphs(run, report)
    _print_run(run, report, arguments)
    if status.state in GOES_WELL and report.error is None:
        return check_report(report, arguments)
    return FAILED


def _read(report: Report) -> Report:
    if not report.kinds:
        raise TraceError(NO_RECORD)
    return report


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
