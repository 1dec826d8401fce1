"""Report of a run, its summary, its profile, and the nodes and models of its large graphs.

All but the profile are made from the log, stored next to it, and rebuilt if the log is newer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from core.analysis.profile import JoinedProfile, join_profile
from core.analysis.verdict import Summary, summary
from core.base.decoder import decoded_as
from core.base.errors import DecodeError, ReportError, StoreError, TraceError
from core.base.files import in_words, read, regular, remove, write_atomically, writing
from core.base.machine import PROJECT_DIR, own_process
from core.base.words import gib
from core.graph import GraphModel, recorded_model
from core.graph.fx import NodesOf
from core.graph.model import collection_paused
from core.report import Compilation, FxGraph, FxNode, Report, from_json, to_json
from core.report.parts import PartsWriter, open_parts
from core.runs.remote import bring_back, is_away
from core.runs.store import Run
from core.trace import TraceIndex, index_of
from core.trace.parsers import build_in_parts, build_report, load_graph, outline
from core.trace.profile import MOST_PROFILE_BYTES, read_profile

LARGE_LOG_BYTES = 8_000_000
LARGE_GRAPH_NODES = 2_000
MAX_SUMMARY_BYTES = 100_000
# Raised with every change in the stored nodes, models and summaries, so that older files are not used.
VERSION = 5

Made = TypeVar("Made")


def is_stored(run: Run) -> bool:
    """Return True if the stored report is up to date, so that it opens in milliseconds."""
    log = run.log_path()
    return log is not None and (_as_new(run.report_path, log) or _as_new(_head_path(run), log))


def _as_new(stored: Path, log: Path) -> bool:
    stored_stat, log_stat = regular(stored), regular(log)
    return stored_stat is not None and log_stat is not None and stored_stat.st_mtime_ns >= log_stat.st_mtime_ns


def start_reading(run: Run) -> subprocess.Popen[bytes]:
    """Read a large log in a separate process, so that nobody waits for it.

    It builds and stores the report; of a log that is being written, the outline, as far as it is written.
    """
    command = ("core.views.prepared",) if run.standing().live else ("core", "report")
    return subprocess.Popen(
        own_process(*command, run.id),
        cwd=PROJECT_DIR,
        env={**os.environ, "COMPILEBOARD_HOME": str(run.path.parent.parent)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@dataclass(frozen=True, slots=True)
class Summaries:
    """Functions of a large log that is being read: of its outline, whose result is stored, and of its report.

    What functions that are `stored` make of the report is there before the report can be opened.
    """

    of_outline: Callable[[Report], object] = lambda _: None
    of_report: Callable[[Report], object] = summary


def open_report(run: Run, summaries: Summaries | None = None) -> Report:
    """Return the report of a run; raises StoreError if it has no log yet. A large log is read with `summaries`."""
    bring_back(run)
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing: {run.standing().reason or 'it has not started'}")
    if is_stored(run):
        with contextlib.suppress(ReportError, OSError):
            if _as_new(_head_path(run), log):
                return _open_parts(run, _head_path(run))
            return from_json(read(run.report_path))
    report = _build_in_parts(run, log, summaries or Summaries()) if _is_large_log(run, log) else None
    if report is None:
        report = build_report(log)
        _keep(run, run.report_path, lambda: to_json(report))
    _keep(run, _summary_path(run), lambda: msgspec.json.encode(summary(report)))
    return report


def _is_large_log(run: Run, log: Path) -> bool:
    return log.stat().st_size > LARGE_LOG_BYTES and not run.standing().live


def _build_in_parts(run: Run, log: Path, summaries: Summaries) -> Report | None:
    """Build the report of a large log, its outline first; None if it cannot be stored."""
    try:
        index = store_outline(run, log, summaries)
        with writing(_parts_path(run)) as file:
            writer = PartsWriter(file)
            head = writer.head(build_in_parts(index, writer.add))
        with writing(_head_path(run)) as file:
            file.write(head)
            file.flush()
            summaries.of_report(_open_parts(run, Path(file.name)))
        return _open_parts(run, _head_path(run))
    except OSError:
        return None


def _open_parts(run: Run, head: Path) -> Report:
    return open_parts(head, _parts_path(run), run.made_dir / "results")


def store_outline(run: Run, log: Path, summaries: Summaries) -> TraceIndex:
    """Store the outline of a large log, as far as it is written; return its index. Raises OSError, TraceError."""
    run.made_dir.mkdir(parents=True, exist_ok=True)
    index = index_of(log, _index_path(run))
    write_atomically(_outline_path(run), msgspec.json.encode(summaries.of_outline(outline(index))))
    return index


def open_index(run: Run) -> TraceIndex:
    """Return the index of a run's log; raises StoreError if it has no log yet, TraceError."""
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing")
    return index_of(log, _index_path(run) if _is_large_log(run, log) else None)


def open_outline(run: Run, kind: type[Made]) -> Made | None:
    """Return what was made of the outline of a large log; None if there is none yet.

    While the log is written, it is that of an earlier moment.
    """
    log, path = run.log_path(), _outline_path(run)
    if log is not None and (_as_new(path, log) or run.standing().live):
        with contextlib.suppress(DecodeError, OSError):
            return decoded_as(read(path), kind)
    return None


def _index_path(run: Run) -> Path:
    return run.report_path.with_suffix(".index")


def _outline_path(run: Run) -> Path:
    return run.report_path.with_suffix(".outline.json")


def _head_path(run: Run) -> Path:
    return run.report_path.with_suffix(".head.json")


def _parts_path(run: Run) -> Path:
    return run.report_path.with_suffix(".parts")


def open_summary(run: Run, stored_alone: bool = False) -> Summary | None:
    """Return the summary of a run, for long lists: the stored one, otherwise from the report.

    Raises StoreError. None if `stored_alone` and it is not stored.
    """
    log, path = run.log_path(), _summary_path(run)
    if (log is not None and _as_new(path, log)) or (log is None and is_away(run)):
        with contextlib.suppress(DecodeError, OSError):
            return decoded_as(read(path, MAX_SUMMARY_BYTES), Summary)
    if stored_alone:
        return None
    result = summary(open_report(run))
    _keep(run, path, lambda: msgspec.json.encode(result))
    return result


def _summary_path(run: Run) -> Path:
    return run.made_dir / f"summary-{VERSION}.json"


def store_graphs(run: Run, report: Report) -> None:
    """Parse the large graphs of a report and build their models before anybody opens them."""
    for compilation in report.compilations:
        for graph in compilation.graphs:
            if _is_large(graph):
                open_model(run, report, compilation, graph)


def open_graph(run: Run, compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
    """Return the nodes of a graph with their modules; large graphs take seconds to parse and are stored."""
    log = run.log_path()
    if log is None:
        return ()
    return _cached(run, log, graph, "nodes", tuple[FxNode, ...], lambda: load_graph(log, compilation, graph))


def open_model(
    run: Run, report: Report, compilation: Compilation, graph: FxGraph, nodes_of: NodesOf | None = None
) -> GraphModel:
    """Return the model of a graph, with all node data of the report; large graphs' models are stored.

    `nodes_of` is for a caller with parsed nodes in memory.
    """

    def make() -> GraphModel:
        return recorded_model(
            report, compilation, graph, nodes_of or (lambda inner: open_graph(run, compilation, inner))
        )

    log = run.log_path()
    return _cached(run, log, graph, "model", GraphModel, make) if log else make()


def _cached(run: Run, log: Path, graph: FxGraph, name: str, kind: type[Made], make: Callable[[], Made]) -> Made:
    """Return the stored result for a large graph if it is valid and up to date.

    Otherwise make and store it.
    """
    if not _is_large(graph):
        return make()
    stored = run.graphs_dir / f"{graph.payload.offset}.{name}-{VERSION}.json"
    if _as_new(stored, log):
        with contextlib.suppress(DecodeError, OSError), collection_paused():
            return decoded_as(read(stored), kind)
    result = make()
    _keep(run, stored, lambda: msgspec.json.encode(result))
    return result


def _keep(run: Run, path: Path, encoded: Callable[[], bytes]) -> None:
    """Store a result of an ended run; if it can't be stored, it is made again the next time."""
    if run.standing().live:
        return
    with contextlib.suppress(OSError):
        if regular(path) is None:
            remove(path)
        path.parent.mkdir(exist_ok=True, parents=True)
        write_atomically(path, encoded())


def _is_large(graph: FxGraph) -> bool:
    return sum(graph.ops.values()) >= LARGE_GRAPH_NODES


NAME = "profile.json"


def profile_path(run: Run) -> Path:
    """Return the file of a run's profile, which may not exist."""
    return run.made_dir / NAME


def add_profile(run: Run, source: BinaryIO) -> None:
    """Store a profile beside a run's log, instead of an earlier one.

    Raises StoreError if the run is still going, or the file is too large or no profile.
    """
    if run.status().live:
        raise StoreError("the run is still going; add a profile once it has ended")
    path = profile_path(run)
    with in_words(run.path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as file:
            shutil.copyfileobj(_SizeLimit(source), file, 1 << 20)
            file.flush()
            try:
                profile = read_profile(Path(file.name))
            except TraceError as error:
                raise StoreError(str(error)) from None
            if not profile.slices:
                raise StoreError("the profile has no slice of time: it was exported before it had recorded anything")


class _SizeLimit:
    """A file that ends with an error if it is larger than a profile may be."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = MOST_PROFILE_BYTES

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise StoreError(f"the profile is larger than {gib(MOST_PROFILE_BYTES)}")
        return data


def open_profile(run: Run, report: Report) -> JoinedProfile | None:
    """Return a run's profile joined to its report; None if it has none. Raises TraceError."""
    path = profile_path(run)
    return join_profile(read_profile(path), report) if path.is_file() else None
