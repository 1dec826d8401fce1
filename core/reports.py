"""The report of a run and the nodes of its large graphs: stored beside the log, and made again when it is newer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from core.errors import ReportError, StoreError
from core.parsers import build_report, load_graph
from core.report import Compilation, FxGraph, FxNode, Report, from_json, to_json
from core.store import Run, write_atomically

LARGE_GRAPH_NODES = 2_000


def is_stored(run: Run) -> bool:
    """Whether the stored report is as new as the log, so that opening it takes milliseconds."""
    log = run.log_path()
    return log is not None and run.report_path.exists() and run.report_path.stat().st_mtime_ns >= log.stat().st_mtime_ns


def start_reading(run: Run) -> subprocess.Popen[bytes]:
    """Make and store the report of a large log in a process of its own, so that nobody waits for it."""
    environment = {**os.environ, "COMPILEBOARD_HOME": str(run.path.parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "core", "report", run.id],
        cwd=Path(__file__).parent.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def open_report(run: Run) -> Report:
    """The report of a run; raises StoreError before there is a log."""
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing: {run.status().reason or 'it has not started'}")
    stored = run.report_path
    if is_stored(run):
        try:
            return from_json(stored.read_bytes())
        except ReportError:
            stored.unlink()
    report = build_report(log)
    if not run.status().live:
        write_atomically(stored, to_json(report))
    return report


def store_graphs(run: Run, report: Report) -> None:
    """Parse the large graphs of a report ahead of the first look at them."""
    for item in report.compilations:
        for graph in item.graphs:
            if sum(graph.ops.values()) >= LARGE_GRAPH_NODES:
                open_graph(run, item, graph)


def open_graph(run: Run, item: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
    """The nodes of a graph with their modules; those of a large one are stored once parsed, which takes seconds."""
    log = run.log_path()
    if log is None:
        return ()
    if sum(graph.ops.values()) < LARGE_GRAPH_NODES:
        return load_graph(log, item, graph)
    stored = run.graphs_dir / f"{graph.payload.offset}.json"
    if stored.exists() and stored.stat().st_mtime_ns >= log.stat().st_mtime_ns:
        try:
            return msgspec.json.decode(stored.read_bytes(), type=tuple[FxNode, ...])
        except msgspec.DecodeError:
            stored.unlink()
    nodes = load_graph(log, item, graph)
    if not run.status().live:
        run.graphs_dir.mkdir(exist_ok=True)
        write_atomically(stored, msgspec.json.encode(nodes))
    return nodes
