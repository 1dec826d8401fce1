"""The command line: the same runs and reports as in the browser.

    python -m core samples [--json]
    python -m core run NAME | FILE.py[:NAME] | job.json [options] [--json]
    python -m core report RUN | LOG [--json]
    python -m core pipeline NAME | FILE.py[:NAME] | job.json [options] [--out FILE] [--json]
    python -m core aoti NAME | FILE.py[:NAME] | job.json [options] [--dim WHERE=MIN..MAX] [--out DIR] [--json]
    python -m core compare RUN | LOG RUN | LOG [--json]
    python -m core sweep NAME | FILE.py[:NAME] | job.json [--axis FIELD=VALUE,…] [--preset NAME] [options]
    python -m core sweep --resume ID
    python -m core sweeps [--json]
    python -m core backends [--json]

With --json the report alone goes to standard output; progress and messages go to standard error. Exit codes: 0 done, 1
the run, or each cell of the sweep, ended with an error, or the sweep stopped, 2 the command or the job is not right, 3
there is no such run, sweep or log, or it is no torch trace, 130 cancelled.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from types import ModuleType

from core import aoti, pipeline
from core.analysis import (
    UNEVEN,
    Work,
    aoti_sentence,
    compared_words,
    compile_seconds,
    compile_time_s,
    counted_words,
    difference_words,
    distinct_kernels,
    failures,
    memory_sentence,
    memory_unmeasured,
    results,
    rival_sentence,
    sentence,
    target_lines,
    traffic_words,
    verdict,
)
from core.analysis.backend import backend_lines
from core.analysis.findings import FIRST, findings
from core.analysis.numerics import numerics_lines
from core.comparing import add_command as add_compare
from core.comparing import log_at
from core.engine import LocalEngine
from core.errors import CompileboardError, JobError, StoreError, TraceError
from core.gallery import samples
from core.job import add_job_options, job_of
from core.parsers import GrowingReport, build_report
from core.pipeline import add_pipeline_options, pipeline_job
from core.report import Report, to_json
from core.runner import Runner
from core.store import Run, Store
from core.stored import open_report, store_graphs
from core.sweep.backends import list_backends
from core.sweep.command import add_sweep_options, list_sweeps, run_sweep
from core.trace import NO_RECORD
from core.words import count, duration_s

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
POLL_S = 0.1
MAX_DIFFERENCES = 20


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
    report = commands.add_parser("report", help="report on a stored run or a TORCH_TRACE log")
    report.set_defaults(function=_report)
    report.add_argument("what", metavar="RUN|LOG")
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
    sweeps = commands.add_parser("sweeps", help="list the sweeps of this home")
    sweeps.set_defaults(function=list_sweeps)
    backends = commands.add_parser("backends", help="try each backend that torch lists here")
    backends.set_defaults(function=list_backends)
    for command in (listing, run, report, piping, packaging, sweeps, backends):
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
    if arguments.json and report is not None:
        sys.stdout.write(to_json(report, indent=2).decode() + "\n")
    elif report is not None:
        _summarise(report)
    return _ended(run, report)


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
    if log is not None:
        report = build_report(log)
    else:
        run = Store().open(arguments.what)
        report = open_report(run)
        store_graphs(run, report)
    if not report.kinds:
        raise TraceError(NO_RECORD)
    if arguments.json:
        sys.stdout.write(to_json(report, indent=2).decode() + "\n")
    else:
        _summarise(report)
    return OK


def _summarise(report: Report) -> None:
    summed = verdict(report)
    print(sentence(summed))
    _summarise_traffic(summed.work)
    for failure in failures(report):
        place = f" at {failure.place.short}" if failure.place.file else ""
        print(f"  [{failure.compilation}] {failure.frame}{place}: {failure.reason}; {failure.consequence}")
    for line in target_lines(report):
        print(line)
    for note in report.notes:
        print(f"  {note}")
    if memory := memory_sentence(report):
        print("\n    ".join([f"  {memory}", *memory_unmeasured(report)]))
    _summarise_results(report)
    for call in report.calls:
        if call.raised:
            print(f"  call {call.index} raised: {call.raised.splitlines()[0]}")
    if report.rival is not None:
        print(f"  rival: {rival_sentence(report)}")
    package = filter(None, [aoti_sentence(report)])
    for line in (*numerics_lines(report), *backend_lines(report), *package):
        print(f"  {line}")
    seconds = compile_seconds(report.phases)
    if seconds:
        print(f"  {duration_s(compile_time_s(report.phases))} of compile time")
    for compilation in report.compilations:
        calls = sum(len(kernel.calls) for kernel in compilation.kernels)
        kernels = count(distinct_kernels(compilation.kernels), "kernel")
        graphs = count(len(compilation.graphs), "graph")
        made = f"{graphs}, {kernels} in {count(calls, 'call')}" if calls else f"{graphs}, no kernels"
        took = f", {duration_s(seconds[compilation.id])}" if compilation.id in seconds else ""
        print(f"  [{compilation.id}] {compilation.frame.name} ({compilation.status}): {made}{took}")
    for found in report.graph_breaks:
        met = count(len(found.compilations), "time")
        print(f"  graph break at {found.place}, met {met}: {found.reason}")
    for recompile in report.recompiles:
        print(f"  [{recompile.failed}] → [{recompile.compilation}]: {recompile.reason.splitlines()[0]}")
    for finding in findings(report)[:FIRST]:
        print(f"  → {finding.title} {' '.join(finding.advice.split())}")
    for problem in report.problems:
        print(f"  could not read: {problem.what}, {count(problem.count, 'time')}", file=sys.stderr)


def _summarise_traffic(found: Work) -> None:
    if found.traffic:
        print(f"  {traffic_words(found.traffic)}. {counted_words(found.traffic)}")
    elif found.uneven:
        print(f"  {UNEVEN}")


def _summarise_results(report: Report) -> None:
    """What was compared with eager, and what of it differs or could not be told."""
    found = results(report)
    if found is None:
        return
    compared = compared_words(found.compared)
    print(f"  result: {found.outcome}" + (f"; compared: {compared}" if compared else ""))
    for item in [*found.differing, *found.untold][:MAX_DIFFERENCES]:
        print(f"    {difference_words(item)}")


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code
