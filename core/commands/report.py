"""`python -m core report` and `check`: the report of a run or a log, and checks against a budget."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from core.analysis.budget import Budget, compare_sides, judge, read_budget
from core.analysis.comparison.matching import RunSide
from core.analysis.results import ending_words
from core.analysis.work import heaviest
from core.base.errors import CompileboardError, JobError, StoreError, TraceError
from core.commands.output import (
    FAILED,
    OK,
    WRONG,
    complain,
    write_file,
)
from core.commands.run import run_job
from core.commands.summary import check_report, print_run, summarise
from core.job import CompileJob, job_of
from core.job.notebook import SUFFIX
from core.job.prepared import model_code
from core.job.text import code_of
from core.report import Compilation, Report, as_json, to_json
from core.runs.status import Status
from core.runs.store import Run, Store
from core.runs.stored import OpenedLog, open_report, opened_log, opened_side, side_of_run, store_graphs
from core.trace.parsers.build import build_report
from core.trace.reader import NO_RECORD
from core.views.blocks import PageBlock
from core.views.comparison import comparison_sentence
from core.views.prepared import summaries
from core.views.printed import as_data, as_text
from core.views.sharing import BudgetView
from core.views.texts import source_of

GOES_WELL = ("queued", "running", "done")


def add_report_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", metavar="RUN|LOG", help="stored run, log, directory or archive of logs")
    command.add_argument("--rank", type=int, metavar="N", help="rank of several whose log is read (the lowest)")
    command.add_argument("--page", choices=PAGES, help="print the content of one page of the dashboard")
    command.add_argument("--compilation", metavar="ID", help="compilation that the page shows (the one with most ops)")


def report_command(arguments: argparse.Namespace) -> int:
    if arguments.page:
        with opened_side(arguments.what if arguments.rank is None else f"{arguments.what}@{arguments.rank}") as side:
            return _print_page(side, arguments)
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
        summarise(report, Status("done", 0.0), source=source_of(log.path, report))
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


# Page → the module in core/views with its blocks, and the function that makes them.
PAGES: Mapping[str, tuple[str, Callable[[Any, RunSide, Compilation], Iterable[PageBlock]]]] = {
    "accelerator": ("accelerator.run", lambda views, side, it: views.accelerator(side.report, it, side.nodes)),
    "aotinductor": ("aotinductor.run", lambda views, side, _: views.aotinductor(side.report, side.text)),
    "backend": ("backend.run", lambda views, side, it: views.backend(side.report, it, side.text)),
    "bytecode": ("compilations", lambda views, side, it: views.bytecode(side.report, it, side.text)),
    "captures": (
        "capture",
        lambda views, side, it: views.captures(views.CaptureView(side.report, it, partial(side.nodes, it), side.text)),
    ),
    "compilations": ("compilations", lambda views, side, it: views.compilations(side.report, it)),
    "compile_time": ("compile_time", lambda views, side, _: views.compile_time(side.report, side.text)),
    "decisions": (
        "decisions",
        lambda views, side, it: views.op_decisions(side.report, it, partial(side.nodes, it), side.text),
    ),
    "dynamic_shapes": ("dynamic_shapes", lambda views, side, it: views.dynamic_shapes(side.report, it, None)),
    "glossary": ("glossary", lambda views, *_: views.glossary()),
    "graph_breaks": (
        "graph_breaks",
        lambda views, side, _: views.graph_breaks(side.report, views.FixesView.of_side(side), side.text),
    ),
    "guards": ("guards", lambda views, side, it: views.guards(side.report, it)),
    "kernel": (
        "kernels.kernel",
        lambda views, side, it: views.one_kernel(views.KernelView.generated(side.report, it), side.text),
    ),
    "kernels": (
        "kernels.kernel",
        lambda views, side, it: views.kernel_launches(views.KernelsView.load(side.report, it, side.text), side.text),
    ),
    "landmarks": ("glossary", lambda views, side, _: views.landmarks(side.report)),
    "logs": ("texts", lambda views, side, _: views.torch_logs(side.report, side.text)),
    "memory": ("memory", lambda views, side, it: views.memory(side.report, it, side.text)),
    "neighbours": ("neighbours", lambda views, side, _: views.neighbours(side.report)),
    "numerics": ("numerics", lambda views, side, it: views.numerics(side.report, it, side.nodes)),
    "partition": (
        "passes",
        lambda views, side, it: views.partition(views.PartitionView.of(it, partial(side.nodes, it))),
    ),
    "passes": (
        "passes",
        lambda views, side, it: views.passes(views.PassesView.of(side.report, it, partial(side.nodes, it))),
    ),
    "recompiles": (
        "recompiles",
        lambda views, side, it: views.recompiles(side.report, views.FixesView.of_side(side), it),
    ),
    "speedup": ("speedup", lambda views, side, _: views.speedup(side.report)),
    "vllm": ("vllm", lambda views, side, _: views.vllm(side.report, side.text)),
}


def page_blocks(name: str, side: RunSide, compilation: Compilation) -> Iterable[PageBlock]:
    """Return the blocks of a page about a compilation of a run; no module of another page is imported."""
    module, make = PAGES[name]
    return make(import_module(f"core.views.{module}"), side, compilation)


def compilation_of(report: Report, wanted: str | None) -> Compilation:
    """Return a compilation by its id, by default that with most ops; raises StoreError."""
    compilation = report.compilation(wanted) if wanted else heaviest(report)
    if compilation is None:
        known = ", ".join(each.id for each in report.compilations) or "none"
        raise StoreError(f"the log has no compilation {wanted}: {known}" if wanted else "nothing was compiled")
    return compilation


def _print_page(side: RunSide, arguments: argparse.Namespace) -> int:
    """Print a page about a compilation, as text or as JSON; raises StoreError for an unknown one."""
    page = page_blocks(arguments.page, side, compilation_of(side.report, arguments.compilation))
    if arguments.json:
        sys.stdout.write(as_json(as_data(page)).decode() + "\n")
    else:
        print("\n".join(as_text(page)))
    return OK


def _with_records(report: Report) -> Report:
    if not report.kinds:
        raise TraceError(NO_RECORD)
    return report


FILE = "compileboard.toml"
MAX_BUDGET_BYTES = 256 * 1024  #: limit: a budget file
MOST_REPEATS = 50  #: limit: repetitions of a model by `check`
Opened = Callable[[], RunSide]


def add_check_command(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("budget")
    group.add_argument("--budget", default=FILE, metavar="FILE", help=f"file with the limits ({FILE})")
    group.add_argument(
        "--baseline", metavar="RUN|LOG|MODEL", help="what limits of [more-than-baseline] are relative to"
    )
    group.add_argument(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="times that models are run, alternately with the baseline (1)",
    )
    group.add_argument("--strict", action="store_true", help="fail for what is undecided, too")
    group.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    group.add_argument("--markdown", metavar="FILE", help="add Markdown to a file, such as $GITHUB_STEP_SUMMARY")
    group.add_argument("--github", action="store_true", help="print annotations for GitHub Actions")


def check_command(arguments: argparse.Namespace) -> int:
    if not 1 <= arguments.repeat <= MOST_REPEATS:
        raise JobError("repeat", f"must be between 1 and {MOST_REPEATS}")
    name = budget_name(arguments.model)
    budget = read_budget(code_of(arguments.budget, "budget", MAX_BUDGET_BYTES), name)
    with ExitStack() as stack:
        base = _opener(stack, arguments, arguments.baseline) if arguments.baseline else None
        checked = _opener(stack, arguments, arguments.model)
        if isinstance(checked, CompileJob) and isinstance(base, CompileJob):
            checked = _interleaved(checked, base)
            base = replace(base, measure=False) if checked.rival_code else base
        runs, baseline = [], []
        for _ in range(arguments.repeat):
            baseline.extend([_open(base, arguments)] if base else [])
            runs.append(_open(checked, arguments))
        view = budget_view(name, budget, runs, baseline)
    _write(view, arguments)
    undecided = any(judgement.standing == "undecided" for judgement in view.judgements)
    return WRONG if view.failed or (arguments.strict and undecided) else OK


def budget_view(name: str, budget: Budget, runs: list[RunSide], baseline: list[RunSide]) -> BudgetView:
    """Return the judgement of runs, compared with those of a baseline, by a budget."""
    comparison = compare_sides(runs, baseline)
    sentence = comparison_sentence(comparison) if comparison else ""
    return BudgetView(name, judge(budget, runs, baseline, comparison), sentence)


def _write(view: BudgetView, arguments: argparse.Namespace) -> None:
    """Print the result of a budget, and write the requested files."""
    if arguments.json:
        sys.stdout.write(as_json(view.data).decode() + "\n")
    else:
        print("\n".join(view.lines))
    if arguments.github:
        print("\n".join(view.annotations), file=sys.stderr if arguments.json else sys.stdout)
    if arguments.junit:
        write_file(arguments.junit, view.junit)
    if arguments.markdown:
        write_file(arguments.markdown, view.markdown.encode(), mode="ab")


def budget_name(what: str) -> str:
    """Return a model's name for a budget's tables.

    The name is that of a file without suffix, or of the sample or file of a stored run. Any other text is the
    name itself.
    """
    path = Path(what.partition(".py:")[0])
    if path.suffix or path.exists():
        return path.stem
    try:
        job = Store().open(what).job()
    except StoreError:
        return what
    return Path(job.model.value).stem if job and job.model.kind != "code" else what


def _opener(stack: ExitStack, arguments: argparse.Namespace, what: str) -> Opened | CompileJob:
    """Return a function that opens a stored run or a log; for a model, return the job to run."""
    if not what.endswith((".py", ".json", SUFFIX)) and ".py:" not in what:
        try:
            side = stack.enter_context(opened_side(what))
        except StoreError:
            pass
        else:
            return lambda: side
    options = copy(arguments)
    options.model = what
    return job_of(options)


def _interleaved(job: CompileJob, baseline: CompileJob) -> CompileJob:
    """Return the job with the baseline's code, to time both in one process, or unchanged."""
    can_be = job.measure and not job.target and not job.rival and job.model.name == baseline.model.name != ""
    return replace(job, rival_code=model_code(baseline)) if can_be else job


def _open(side: Opened | CompileJob, arguments: argparse.Namespace) -> RunSide:
    """Open one side of the report, or run it to its end first; raises CompileboardError without a log."""
    if not isinstance(side, CompileJob):
        return side()
    ended: list[Run] = []

    def finish(run: Run, _: argparse.Namespace) -> int:
        ended.append(run)
        return OK

    run_job(side, arguments, finish)
    run = ended[0]
    status = run.status()
    if run.log_path() is None or status.state == "cancelled":
        raise CompileboardError(f"{run.id}: {status.state}: {status.reason}")
    return side_of_run(run)
