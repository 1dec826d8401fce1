"""Stored report, summary, profile, trials and large graphs of a run, and the runs to compare with.

Report, summary and graphs are made from the log, and made again if the log is newer. A side of a comparison is a run
or a log.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, TypeVar

import msgspec

from core.analysis.comparison.matching import RunSide
from core.analysis.profile import JoinedProfile, join_profile
from core.analysis.repairs.claims import NO_TRIALS, RunTrials
from core.analysis.verdict import Summary, summary
from core.base.decoder import decoded_as, unpacked_as
from core.base.errors import DecodeError, ReportError, StoreError, TraceError
from core.base.files import MOST_BYTES, in_words, read, regular, remove, write_atomically, writing
from core.base.machine import own_process
from core.base.words import gib, number, ranges_words
from core.graph.fx import NodesOf, recorded_model
from core.graph.model import GraphModel, collection_paused
from core.job import CompileJob
from core.job.model import REPAIRED
from core.report import Compilation, FxGraph, FxNode, Report, from_json, to_json
from core.report.parts import PartsWriter, open_parts
from core.report.run import Profile
from core.runs.inputs import opened_input
from core.runs.processes.reading import READ_LIMITS, ReadLimits, read_profile_apart, stored_profile
from core.runs.processes.servers import start_for_home
from core.runs.remote import bring_back, is_away
from core.runs.status import Status
from core.runs.store import Run, Store
from core.trace.index import TraceIndex, index_of
from core.trace.parsers.build import build_in_parts, build_report, load_graph, load_text, outline
from core.trace.profile import MOST_PROFILE_BYTES
from core.trace.ranks import RankLogs
from core.trace.reader import NO_RECORD

LARGE_LOG_BYTES = 8_000_000
LARGE_GRAPH_NODES = 2_000
MAX_SUMMARY_BYTES = 100_000  #: a run's stored summary
# Raised with every change in the stored nodes, models and summaries, so that older files are not used.
VERSION = 6

Made = TypeVar("Made")


def is_stored(run: Run) -> bool:
    """Return True if the stored report is up to date, so that it opens in milliseconds."""
    log = run.log_path()
    return log is not None and (_as_new(run.report_path, log) or _as_new(_head_path(run), log))


def _as_new(stored: Path, log: Path) -> bool:
    stored_stat, log_stat = regular(stored), regular(log)
    return stored_stat is not None and log_stat is not None and stored_stat.st_mtime_ns >= log_stat.st_mtime_ns


def start_reading(run: Run) -> subprocess.Popen[bytes]:
    """Build and store a large log's report, or its outline while it is written, in a separate process."""
    command = ("core.views.prepared",) if run.standing().live else ("core", "report")
    return start_for_home(own_process(*command, run.id), run.path.parent.parent)


@dataclass(frozen=True, slots=True)
class Summaries:
    """Functions to call while a large log is read, on its outline and on its report.

    The result of `of_outline` is stored. `of_report` is called before others can open the report, so that the
    results of its functions with the decorator `stored` exist by then.
    """

    of_outline: Callable[[Report], object] = lambda _: None
    of_report: Callable[[Report], object] = summary


def open_report(run: Run, summaries: Summaries | None = None) -> Report:
    """Return the stored or new report of a run; raises StoreError if there is no log yet."""
    bring_back(run)
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing: {run.standing().reason or 'it has not started'}")
    if is_stored(run):
        with suppress(ReportError, OSError):
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
    """Build the report of a large log, its outline first; None if the report cannot be stored."""
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
    """Store and index an outline of a large log so far; raises OSError, TraceError."""
    run.made_dir.mkdir(parents=True, exist_ok=True)
    index = index_of(log, _index_path(run))
    write_atomically(_outline_path(run), msgspec.json.encode(summaries.of_outline(outline(index))))
    return index


def open_index(run: Run) -> TraceIndex:
    """Return the index of a run's log; raises StoreError if there is no log yet, TraceError."""
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing")
    return index_of(log, _index_path(run) if _is_large_log(run, log) else None)


def open_outline(run: Run, kind: type[Made]) -> Made | None:
    """Return the stored result for the outline of a large log, which may lag; None if there is none."""
    log, path = run.log_path(), _outline_path(run)
    if log is not None and (_as_new(path, log) or run.standing().live):
        with suppress(DecodeError, OSError):
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

    Return None if `stored_alone` is True and no stored summary is up to date. Raises StoreError.
    """
    log, path = run.log_path(), _summary_path(run)
    if (log is not None and _as_new(path, log)) or (log is None and is_away(run)):
        with suppress(DecodeError, OSError):
            return decoded_as(read(path, MAX_SUMMARY_BYTES), Summary)
    if stored_alone:
        return None
    result = summary(open_report(run))
    _keep(run, path, lambda: msgspec.json.encode(result))
    return result


def _summary_path(run: Run) -> Path:
    return run.made_dir / f"summary-{VERSION}.json"


def store_graphs(run: Run, report: Report) -> None:
    """Parse the large graphs of a report, and store their nodes and models."""
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
    """Return the result of `make` for a graph, stored while it is valid for a large one."""
    if not _is_large(graph):
        return make()
    stored = run.graphs_dir / f"{graph.payload.offset}.{name}-{VERSION}.msgpack"
    if _as_new(stored, log):
        with suppress(DecodeError, OSError), collection_paused():
            result: Made = unpacked_as(read(stored), kind, MOST_BYTES)
            return result
    result = make()
    # JSON would take several times as long to read.
    _keep(run, stored, lambda: msgspec.msgpack.encode(result))
    return result


def _keep(run: Run, path: Path, encoded: Callable[[], bytes]) -> None:
    """Store a result of an ended run; errors are ignored, since the result can be computed again."""
    if run.standing().live:
        return
    # MessagePack has integers of 64 bits alone.
    with suppress(OSError, OverflowError):
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


def add_profile(run: Run, source: BinaryIO, limits: ReadLimits = READ_LIMITS) -> None:
    """Store a profile beside a run's log, instead of an earlier one; it is read within limits.

    Raises StoreError if the run is still going, or if the file is too large or not a profile.
    """
    if run.status().live:
        raise StoreError("the run is still going; add a profile once it has ended")
    path = profile_path(run)
    with in_words(run.path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as file:
            shutil.copyfileobj(_SizeLimit(source), file, 1 << 20)
            file.flush()
            read_profile_apart(Path(file.name), _slices_path(run), limits)


class _SizeLimit:
    """A file whose `read` raises StoreError beyond the largest profile's size."""

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
    """Return a run's profile joined to its report; None if there is no profile. Raises StoreError."""
    path = profile_path(run)
    return join_profile(_profile(run, path), report) if path.is_file() else None


def _profile(run: Run, path: Path) -> Profile:
    """Return a profile from its stored slices; store them first if they are missing. Raises StoreError."""
    stored = _slices_path(run)
    if _as_new(stored, path) and (profile := stored_profile(stored)) is not None:
        return profile
    with TemporaryDirectory() as folder:
        fresh = Path(folder) / stored.name
        read_profile_apart(path.resolve(), fresh, READ_LIMITS)
        _keep(run, stored, fresh.read_bytes)
        profile = stored_profile(fresh)
    if profile is None:
        raise StoreError(f"the profile of run {run.id} cannot be read")
    return profile


def _slices_path(run: Run) -> Path:
    return run.report_path.with_suffix(".profile.json")


TRIALS = "trials.json"
MAX_TRIALS_BYTES = 4_000_000  #: the trials of a run's fixes


def read_trials(run: Run) -> RunTrials:
    """Return what the trials of a run showed; empty without trials, and for a file that cannot be read."""
    try:
        return decoded_as(read(run.path / TRIALS, MAX_TRIALS_BYTES), RunTrials)
    except (OSError, DecodeError):
        return NO_TRIALS


def write_trials(run: Run, shown: RunTrials) -> None:
    """Store what the trials of a run showed; raises StoreError."""
    with in_words(run.path):
        write_atomically(run.path / TRIALS, msgspec.json.encode(shown))


MOST = 50  #: limit: runs offered for comparison
WITH_RANK = re.compile(r"(.+)@(\d{1,6})")


def side_of_run(run: Run) -> RunSide:
    """Return a stored run as a side; raises StoreError if there is no log yet."""
    report, log = open_report(run), run.log_path()
    return RunSide(
        report,
        lambda payload: load_text(log, payload) if log else "",
        lambda compilation, graph: open_graph(run, compilation, graph),
        read_trials(run),
    )


def side_of_log(log: Path) -> RunSide:
    """Return a TORCH_TRACE log as a side; raises TraceError."""
    return RunSide(
        build_report(log),
        lambda payload: load_text(log, payload),
        lambda compilation, graph: load_graph(log, compilation, graph),
    )


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log outside the store: its file, its rank among `ranks` (None without ranks), and its origin."""

    path: Path
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    origin: str = ""

    @property
    def words(self) -> str:
        """The rank that is read, and the unread files, as sentences; empty for a single log."""
        rank = f"Rank {self.rank} of {number(len(self.ranks))} (--rank N)." if len(self.ranks) > 1 else ""
        return " ".join(filter(None, (rank, self.origin)))


@contextmanager
def opened_log(what: str, rank: int | None = None) -> Iterator[OpenedLog | None]:
    """Open a log, or one rank's log in a directory or an archive; yields None if there is no such path.

    The rank is `rank`, otherwise the rank in `PATH@3`, otherwise the lowest. Raises TraceError, StoreError.
    """
    path, named = _path_and_rank(what)
    if not path.exists():
        yield None
        return
    with opened_input(path) as logs:
        yield _chosen(path, logs, named if rank is None else rank)


def _path_and_rank(what: str) -> tuple[Path, int | None]:
    match = WITH_RANK.fullmatch(what)
    if match is None or Path(what).exists():
        return Path(what), None
    return Path(match[1]), int(match[2])


def _chosen(path: Path, logs: RankLogs, rank: int | None) -> OpenedLog:
    ranks = tuple(logs.ranks)
    if rank is not None and rank not in logs.ranks:
        known = f"its ranks are {ranges_words(ranks)}" if ranks else "its log is not split by ranks"
        raise TraceError(f"{path} has no rank {rank}; {known}")
    shown = rank if rank is not None else next(iter(ranks), None)
    return OpenedLog(logs.single if shown is None else logs.ranks[shown], shown, ranks, logs.origin)


@contextmanager
def opened_side(what: str) -> Iterator[RunSide]:
    """Open the logs at a path, with a rank as `PATH@3`, or a run by its id; raises StoreError, TraceError."""
    with opened_log(what) as log:
        side = side_of_log(log.path) if log is not None else side_of_run(Store().open(what))
        if not side.report.kinds:
            raise TraceError(NO_RECORD)
        yield side


@dataclass(frozen=True, slots=True)
class Comparable:
    """A run of the same model; `job` is None for an imported log."""

    run: Run
    status: Status
    job: CompileJob | None


def comparable_runs(
    listed: Sequence[tuple[Run, Status]], run: Run, title: str, job: CompileJob | None
) -> tuple[Comparable, ...]:
    """Return the first few ended runs of the same model in `listed`, which `Store.list` has ordered.

    Runs that test a fix for `run` come first. If `run` itself tests a fix for another run, that other run comes first,
    too. The rest keep their order. An imported log has no job, and is matched by title.
    """
    ended = [
        (candidate, status)
        for candidate, status in listed
        if not status.live
        and status.state != "damaged"
        and candidate.path != run.path
        and _may_be(candidate, status, title, job)
    ]
    candidates = [Comparable(candidate, status, candidate.job()) for candidate, status in ended[:MOST]]
    fit = [comparable for comparable in candidates if _is_similar(comparable, run, title, job)]
    return tuple(sorted(fit, key=lambda comparable: not _is_related(comparable, run, job)))


def _may_be(candidate: Run, status: Status, title: str, job: CompileJob | None) -> bool:
    """Return True if a run may be comparable by its title or its fix, so that its job should be read."""
    return _plain(status.title) == _plain(title) or (job is not None and job.repairs_of == candidate.id)


def _plain(title: str) -> str:
    return title.removesuffix(REPAIRED)


def _is_similar(comparable: Comparable, run: Run, title: str, job: CompileJob | None) -> bool:
    if _is_related(comparable, run, job):
        return True
    if job is None or comparable.job is None:
        return comparable.status.title == title
    return comparable.job.model == job.model


def _is_related(comparable: Comparable, run: Run, job: CompileJob | None) -> bool:
    """Return True if one of two runs tests a fix of the other."""
    return bool(
        (job is not None and job.repairs_of == comparable.run.id)
        or (comparable.job is not None and comparable.job.repairs_of == run.id)
    )


def likeliest(candidates: Sequence[Comparable], job: CompileJob | None) -> Comparable:
    """Return the first candidate for another target, otherwise the first candidate."""
    target = job.target if job else ""
    return next(
        (comparable for comparable in candidates if comparable.job and comparable.job.target != target), candidates[0]
    )
