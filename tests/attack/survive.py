"""A log opened in a process of its own, with all that pages compute from it: how long that took, how much, and what
broke.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

from core import Run, as_json, from_json, load_text, open_graph, open_report, sentence, speed, to_json, verdict
from core.analysis.comparison.kernels import Side, compare
from core.analysis.durations import compile_seconds, phase_totals
from core.analysis.dynamo.failures import failures
from core.analysis.film import film, graph_at
from core.analysis.kernels.ledger import ledger
from core.analysis.memory import partitions
from core.analysis.results import difference_words, results
from core.analysis.speed import break_even_calls, summary
from core.analysis.verdict import target_words
from core.analysis.work import (
    groups_after,
    reasons_between,
    refused_pair,
    rejections,
    steps,
    traffic_within,
    work,
)
from core.code.cpp import cpp_facts
from core.graph.fusion import fusion_model
from core.graph.fx import film_model, source_path
from core.graph.launches import fusion_frames
from core.graph.levels import as_dot, digest, levels_below
from core.graph.levels import as_json as graph_json
from core.report import Compilation, FxGraph, FxNode, Report
from core.runs.stored import open_model, store_graphs
from core.views.verdict import ended_words, traffic_words, work_words
from pages import menu
from tests.support.homes import add_run
from tests.support.places import APP

MOST_S = 60
MOST_BYTES = 3 * 1024**3
MOST_TEXTS = 40


@dataclass(frozen=True, slots=True)
class EndMessage:
    """How it went: the exception or signal that ended it, empty if none did, with seconds of CPU and the peak of
    memory.
    """

    harm: str
    seconds: float
    peak_bytes: int


def survive(log: bytes, pages: bool = False) -> EndMessage:
    """Open a log within bounds of memory and time, on every page, too, if asked for."""
    home = Path(tempfile.mkdtemp(prefix="compileboard-mutant-"))
    try:
        return _in_a_process(home, log, pages)
    finally:
        shutil.rmtree(home)


def _in_a_process(home: Path, log: bytes, pages: bool) -> EndMessage:
    harm = home / "harm.txt"
    pid = os.fork()
    if not pid:
        _bounded(home, log, harm, pages)
    _, status, used = os.wait4(pid, 0)
    said = harm.read_text() if harm.exists() else ""
    if os.WIFSIGNALED(status):
        said = f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return EndMessage(said, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _bounded(home: Path, log: bytes, harm: Path, pages: bool) -> None:
    """The whole life of the process; it leaves without what a fork should not do twice."""
    try:
        most_s = MOST_S * (10 if pages else 1)
        resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        opened(add_run(home, "mutant", log, kind="log"))
        if pages:
            visit(home)
    except BaseException as error:
        trace = traceback.extract_tb(error.__traceback__)
        where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(trace[-4:]))
        harm.write_text(f"{type(error).__name__}: {str(error)[:300]} at {where}")
    finally:
        os._exit(0)


def opened(run: Run) -> None:
    """All that the command line and the pages compute from a log."""
    report = open_report(run)
    assert from_json(to_json(report)) == report
    store_graphs(run, report)
    log = run.log_path()
    assert log is not None
    _whole(report)
    texts = [kernel.output_code for compilation in report.compilations for kernel in compilation.kernels]
    for payload in list(dict.fromkeys(texts))[:MOST_TEXTS]:
        cpp_facts(load_text(log, payload))
    for compilation in report.compilations:
        _compilation(run, report, compilation)
    if report.compilations:
        first, last = report.compilations[0], report.compilations[-1]
        as_json(compare(Side(report, first), Side(report, last)))


def _whole(report: Report) -> None:
    found = verdict(report)
    told = results(report)
    differing = [difference_words(item) for item in (*told.differing, *told.untold)] if told else []
    words = [sentence(found), work_words(work(report)), differing, target_words(report), ended_words(report)]
    figures = [failures(report), speed(report.timing), break_even_calls(report), compile_seconds(report)]
    as_json([*words, *figures, phase_totals(report), summary(report), source_path(report)])


def _compilation(run: Run, report: Report, compilation: Compilation) -> None:
    parsed = {graph.id: open_graph(run, compilation, graph) for graph in compilation.graphs}

    def nodes_of(graph: FxGraph) -> tuple[FxNode, ...]:
        return parsed[graph.id]

    as_json(ledger(report, compilation))
    as_json(partitions(compilation, nodes_of))
    for graph in compilation.graphs:
        model = open_model(run, report, compilation, graph, nodes_of)
        as_dot(model)
        digest(model)
        as_json(list(levels_below(model)))
        graph_json(model)
    for segment in film(compilation, nodes_of):
        states = {node.name: node.states for node in segment.nodes if len(node.states) > 1}
        edges = [(edge.source, edge.target, edge.frames) for edge in segment.edges]
        graph_json(film_model([(node.node, node.frames) for node in segment.nodes], edges, states=states))
        as_json([graph_at(segment, frame) for frame in range(min(len(segment.frames), 20))])
    for schedule in compilation.schedules:
        moved = traffic_within(schedule)
        traffic_words(moved) if moved else ""
        as_json([steps(schedule), rejections(schedule), groups_after(schedule, 1), refused_pair(schedule)])
        kernels = {kernel.id: kernel for kernel in compilation.kernels}
        graph_json(fusion_model(schedule, {}, kernels))
        as_json(fusion_frames(schedule, {}, kernels))
        for one, other in zip(schedule.before[:20], schedule.before[1:20], strict=False):
            reasons_between(schedule, one, other)


def visit(home: Path) -> None:
    """Every page of the dashboard with the one run of a home; raises what a page raises."""
    from streamlit.testing.v1 import AppTest

    os.environ["COMPILEBOARD_HOME"] = str(home)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    (run_id,) = os.listdir(home / "runs")
    for page in (found.script for found in menu.PAGES.values() if found != menu.NEW_RUN):
        test = AppTest.from_file(APP, default_timeout=240)
        test.query_params["run"] = run_id
        test.switch_page(page).run()
        for error in test.exception:
            raise AssertionError(f"{page}: {error.message[:200]} {(error.stack_trace or [''])[-1][:200]}")
