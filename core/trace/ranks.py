"""Logs of several ranks in one directory, and fingerprints of logs to compare the ranks.

A fingerprint has each graph, guard set, cache outcome and collective of a log.

torch names a rank's log `dedicated_log_torch_trace_rank_3_<random>.log` once the process group exists, and
writes the rank into each record. A run stores the log as `trace/rank_3.log`.

Only the records that are compared are read. A graph or guard tree is reduced to its digest, collectives and
devices. If several ranks have a text with equal bytes, the text is normalised only once per process.
"""

import hashlib
import itertools
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import counted, decoded, decoded_object
from core.base.errors import DecodeError, TraceError
from core.base.files import one_line, open_regular, regular
from core.base.words import count, number
from core.code.diff import normalised, normalised_guards
from core.report.places import Payload, Place
from core.report.run import Collective, Fingerprint, MarkKind, RankCompilation, RankMark
from core.trace.parsers.dynamo import parse_graph_break, parse_recompile_reasons
from core.trace.reader import MOST_READ_BYTES, TraceReader, TraceRecord, first_time, header_lines, without_copies

MAX_MARKS = 100_000  #: limit: records of a rank that are compared
MAX_COMPILATIONS = 20_000  #: limit: compilations of a rank
MAX_TEXT = 400  #: characters of a reason in a fingerprint
MAX_COMPARED_BYTES = 32_000_000  #: limit: a graph or guard tree that is compared between ranks
GRAPHS = frozenset(
    {
        "dynamo_output_graph",
        "optimize_ddp_split_graph",
        "optimize_ddp_split_child",
        "aot_joint_graph",
        "aot_inference_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "inductor_post_grad_graph",
        "artifact:inductor_post_grad_graph",
        "artifact:after_post_grad_graph",
    }
)
CACHES = ("fx_graph_cache", "aotautograd_cache")
CACHE = re.compile(rf"artifact:({'|'.join(CACHES)})_(hit|miss|bypass)")
METRICS = ("compilation_metrics", "bwd_compilation_metrics")
OTHERS = (
    "dynamo_start",
    "dynamo_cpp_guards_str",
    "artifact:recompile_reasons",
    "artifact:dynamo_graph_break_reason",
    "artifact:inductor_collective_schedule",
    "artifact:inductor_runtime_and_tensor_meta",
    "artifact:graph_execution",
    *(f"artifact:{cache}_{outcome}" for cache in CACHES for outcome in ("hit", "miss", "bypass")),
)
WANTED = frozenset({*GRAPHS, *METRICS, *OTHERS})
# The key and the name at the start of a header.
KEYED = rb'(?=(?:\{"(\w{1,60})": (?:\{"name": "([^"\\\n]{1,200})")?)?)'
# Metric of torch → our name of the phase. Each includes the ones inside it, so they are not a sum.
PHASES = {
    "dynamo_cumulative_compile_time_us": "whole compilation",
    "aot_autograd_cumulative_compile_time_us": "AOTAutograd and below",
    "inductor_cumulative_compile_time_us": "Inductor",
    "inductor_code_gen_cumulative_compile_time_us": "code generation",
    "triton_compile_time_us": "kernel compilation",
    "backward_cumulative_compile_time_us": "backward",
}
MAX_COLLECTIVES = 2_000  #: collectives of a graph
MAX_KNOWN_TEXTS = 20_000  #: cached digests of texts of other ranks
COLLECTIVE = re.compile(
    rb'^[\t ]*\w+(?:: "(?P<tensor>[^"]*)")? = torch\.ops\.(?:_c10d_functional|_c10d_functional_autograd|c10d'
    rb"|_dtensor)\.(?P<op>\w+?)_?(?:\.default)?\((?P<arguments>[^;\n]*)\)",
    re.MULTILINE,
)
GROUP = re.compile(rb"""(?<![\w.])['"]([^'"]*)['"]\s*$""")
NO_COLLECTIVES = frozenset({b"wait_tensor"})
TENSOR = re.compile(r"^(\w+\[[^\]]*\])")
DEVICES = re.compile(rb"\](cpu|cuda|xpu|hip|mtia|hpu|npu|mps)")
NAMES = re.compile(rb"%?[A-Za-z_]\w*")


def fingerprint(path: Path, rank: int) -> Fingerprint:
    """Return the fingerprint of a log; raises TraceError if it cannot be read."""
    with TraceReader(path) as reader:
        scan = _Scan(reader)
        last = None
        for last in reader.headers(rest=KEYED):
            if _is_wanted(*last[0].group(2, 3)):
                for record in reader.record_at(*last):
                    scan.add(record)
        return scan.finish(rank, next(reader.record_at(*last), None) if last else None)


@lru_cache(maxsize=1_000)
def _is_wanted(key: bytes | None, name: bytes | None) -> bool:
    """Return True if a record must be decoded: compared, with file names, or of unknown key."""
    if key is None or key == b"str":
        return True
    return (f"artifact:{name.decode('utf-8', 'replace')}" if key == b"artifact" and name else key.decode()) in WANTED


@dataclass
class _Scan:
    """The marks of one log so far."""

    reader: TraceReader
    marks: list[RankMark] = field(default_factory=list)
    compilations: dict[str, RankCompilation] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    devices: set[str] = field(default_factory=set)
    parallel: set[str] = field(default_factory=set)
    dropped: int = 0

    def add(self, record: TraceRecord) -> None:
        """Add a record if its kind is compared; an unreadable record is counted."""
        try:
            self._add(record)
        except (KeyError, TypeError, ValueError, AttributeError, DecodeError):
            self.reader.problem(f"unreadable {record.kind}", record.header_offset)

    def _add(self, record: TraceRecord) -> None:
        kind = record.kind
        if kind in GRAPHS:
            self._add_graph(record)
        elif kind == "dynamo_start":
            self._add_start(record)
        elif kind == "dynamo_cpp_guards_str":
            self._mark(record, "guards", "", text_of(self._data(record), guards=True).digest)
        elif kind in METRICS:
            self._add_metrics(record)
        elif kind == "artifact:recompile_reasons":
            self._add_recompile(record)
        elif kind == "artifact:dynamo_graph_break_reason":
            found = parse_graph_break(self.reader.text(record.offset, min(record.length, MAX_COMPARED_BYTES)))
            self._mark_text(record, "break", found.place.short, found.reason)
        elif kind == "artifact:inductor_collective_schedule":
            self._mark(record, "schedule", "", digest_of(self._data(record)))
        elif kind == "artifact:inductor_runtime_and_tensor_meta":
            self._add_tensors(record)
        elif kind == "artifact:graph_execution":
            self._mark(record, "execution", "", digest_of(normalised(self._data(record))))
        elif cache := CACHE.fullmatch(kind):
            self._mark(record, "cache", cache[1], digest_of(cache[2].encode()), cache[2])

    def finish(self, rank: int, last: TraceRecord | None) -> Fingerprint:
        """Return the log's fingerprint; `last` is its last record, None without records.

        The fingerprint's digest covers all marks (`RankMark`), but not their positions in the log.
        """
        compared = [
            (mark.kind, mark.compile_id, mark.name, mark.digest, _plain(mark.collectives)) for mark in self.marks
        ]
        return Fingerprint(
            rank=rank,
            log_bytes=self.reader.size,
            marks=tuple(self.marks),
            compilations=tuple(self.compilations.values()),
            digest=digest_of(msgspec.json.encode(compared)),
            last_time=last.timestamp if last else "",
            is_cut=self.reader.raw(max(0, self.reader.size - 1), 1) != b"\n",
            parallel=tuple(sorted(self.parallel | self._wrappers())),
            devices=tuple(sorted(self.devices)),
            dropped=self.dropped,
        )

    def _wrappers(self) -> set[str]:
        files = self.reader.strings.values()
        return {"FSDP"} if any("/distributed/fsdp/" in file for file in files) else set()

    def _data(self, record: TraceRecord) -> bytes:
        return self.reader.raw(record.offset, min(record.length, MAX_COMPARED_BYTES))

    def _mark_text(self, record: TraceRecord, kind: MarkKind, name: str, text: str) -> None:
        short = " ".join(text.split())[:MAX_TEXT]
        self._mark(record, kind, name, digest_of(normalised(text.encode("utf-8", "replace"))), short)

    def _mark(
        self,
        record: TraceRecord,
        kind: MarkKind,
        name: str,
        digest: str,
        text: str = "",
        collectives: tuple[Collective, ...] = (),
    ) -> None:
        if len(self.marks) >= MAX_MARKS:
            self.dropped += 1
            return
        where = Payload(record.offset, record.length) if record.length else None
        self.marks.append(RankMark(kind, record.compile_id, name, digest, text, where, collectives))

    def _add_graph(self, record: TraceRecord) -> None:
        text = text_of(self._data(record))
        self.devices.update(text.devices)
        name = record.kind.removeprefix("artifact:")
        if name.startswith("optimize_ddp"):
            self.parallel.add("DDP")
        collectives = tuple(
            Collective(op, tensor, arguments, self.groups.setdefault(group, len(self.groups)))
            for op, tensor, arguments, group in text.collectives
        )
        self._mark(record, "graph", name, text.digest, collectives=collectives)

    def _add_start(self, record: TraceRecord) -> None:
        place = _innermost(self.reader, record.body.get("stack"))
        if record.compile_id not in self.compilations and len(self.compilations) < MAX_COMPILATIONS:
            self.compilations[record.compile_id] = RankCompilation(record.compile_id, place)
        text = f"{place.short} in {place.name}" if place else ""
        self._mark_text(record, "start", place.name if place else "", text)

    def _add_recompile(self, record: TraceRecord) -> None:
        reasons = parse_recompile_reasons(self.reader.text(record.offset, min(record.length, MAX_COMPARED_BYTES)))
        text = reasons[0][1].split("\n")[0] if reasons else ""
        self._mark_text(record, "recompile", reasons[0][0] if reasons else "", text)

    def _add_metrics(self, record: TraceRecord) -> None:
        metrics: dict[str, Any] = record.body
        error = str(metrics.get("fail_type") or "")
        self._mark_text(record, "end", "backward" if record.kind == METRICS[1] else "", error)
        before = self.compilations.get(record.compile_id, RankCompilation(record.compile_id))
        if record.compile_id not in self.compilations and len(self.compilations) >= MAX_COMPILATIONS:
            return
        seconds = dict(before.seconds)
        for metric, phase in PHASES.items():
            value = metrics.get(metric)
            if isinstance(value, (int, float)) and 0 <= value < 1e15:
                seconds[phase] = seconds.get(phase, 0.0) + value / 1e6
        reason = " ".join(str(metrics.get("fail_reason") or "").split())[:MAX_TEXT]
        self.compilations[record.compile_id] = replace(before, seconds=seconds, error=reason or before.error)

    def _add_tensors(self, record: TraceRecord) -> None:
        ops = decoded_object(self._data(record).replace(b"\t", b"")).get("ops")
        ops = [op for op in ops if isinstance(op, dict)] if isinstance(ops, list) else []
        compared = [(op.get("type"), op.get("name"), op.get("outputs")) for op in ops]
        self._mark(record, "tensors", "", digest_of(normalised(msgspec.json.encode(compared))))
        before = self.compilations.get(record.compile_id)
        if before is not None:
            more_us = sum(_nanoseconds(op) for op in ops) / 1e3
            count = sum(len(op["outputs"]) for op in ops if isinstance(op.get("outputs"), list))
            self.compilations[record.compile_id] = replace(
                before, estimated_us=(before.estimated_us or 0.0) + more_us, tensors=before.tensors + count
            )


def _nanoseconds(op: dict[str, Any]) -> float:
    value = op.get("estimated_runtime_ns")
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e18 else 0.0


def _plain(collectives: Sequence[Collective]) -> list[tuple[str, str, str, int]]:
    return [(one.op, one.tensor, one.arguments, one.group) for one in collectives]


def _innermost(reader: TraceReader, stack: Any) -> Place | None:
    """Return the innermost entry of a stack that torch logged; None if there is none."""
    last = stack[-1] if isinstance(stack, list) and stack else None
    if not isinstance(last, dict) or not isinstance(last.get("line"), int):
        return None
    return Place(reader.file_name(last.get("filename"))[:MAX_TEXT], last["line"], str(last.get("name") or "")[:120])


@dataclass(frozen=True, slots=True)
class RankText:
    """Digest of a normalised text, with its collectives and device types.

    A collective is (op, tensor, arguments, group name).
    """

    digest: str
    collectives: tuple[tuple[str, str, str, str], ...] = ()
    devices: tuple[str, ...] = ()


_known: OrderedDict[tuple[bytes, bool], RankText] = OrderedDict()


def digest_of(data: bytes) -> str:
    """Return a short digest of bytes."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def text_of(data: bytes, guards: bool = False) -> RankText:
    """Return the digest, collectives and devices of a text; results are cached for the next log."""
    key = (hashlib.blake2b(data, digest_size=16).digest(), guards)
    if key in _known:
        _known.move_to_end(key)
        return _known[key]
    if guards:
        text = RankText(digest_of(normalised_guards(data)))
    else:
        devices = tuple(sorted({match.decode() for match in DEVICES.findall(data)}))
        collectives = tuple(_collectives(data)) if b"c10d" in data or b"_dtensor" in data else ()
        text = RankText(digest_of(normalised(data)), collectives, devices)
    _known[key] = text
    if len(_known) > MAX_KNOWN_TEXTS:
        _known.popitem(last=False)
    return text


def _collectives(data: bytes) -> Iterator[tuple[str, str, str, str]]:
    """Yield (op, tensor, arguments but values, group name) for each collective of a printed graph."""
    for number_of, match in enumerate(COLLECTIVE.finditer(data)):
        if number_of >= MAX_COLLECTIVES:
            return
        if match["op"] in NO_COLLECTIVES:
            continue
        arguments = match["arguments"]
        group = GROUP.search(arguments)
        rest = arguments[: group.start()] if group else arguments
        tensor = TENSOR.match((match["tensor"] or b"").decode("utf-8", "replace"))
        yield (
            match["op"].decode()[:80],
            tensor[1][:120] if tensor else "",
            _constants(rest)[:120],
            group[1].decode("utf-8", "replace")[:80] if group else "",
        )


def _constants(arguments: bytes) -> str:
    """Return the arguments of a call that are no values of the graph: numbers and texts."""
    parts = [part.strip() for part in arguments.split(b",")]
    return ", ".join(part.decode("utf-8", "replace") for part in parts if part and not NAMES.fullmatch(part))


STORED = re.compile(r"rank_(\d{1,6})\.log")
NAMED = re.compile(r"(?:.*[._-])?rank[._-]?(\d{1,6})(?:[._-].*)?\.log")
FOLDER = re.compile(r"rank[._-]?(\d{1,6})(?:[._-].*)?")
MOST_RECORDS = 200  #: records that are searched for a log's rank
MOST_FILES = 20_000  #: limit: files of a directory that are searched for logs
MOST_RANKS = 4_096  #: limit: ranks of a run
MOST_LEVELS = 6  #: limit: nested directories that are searched for logs
MOST_NAMED = 8  #: unread files that are named
MOST_NAME_CHARS = 120  #: the name of an unread file


@dataclass(frozen=True, slots=True)
class RankLogs:
    """The logs of a directory.

    `ranks` has the newest log of each rank, lowest rank first. `plain` is the newest log without a rank, None if a
    log has a rank. `earlier` has the other logs without a rank, each with its name, newest first. `unread` names the
    other files: further logs of a rank, logs without a rank beside rank logs, files without a record.
    """

    ranks: Mapping[int, Path]
    plain: Path | None = None
    unread: tuple[str, ...] = ()
    earlier: Mapping[Path, str] = field(default_factory=dict)

    @property
    def used(self) -> Mapping[int | None, Path]:
        """The logs to read by rank; a single log has the rank None. Raises TraceError if there is none."""
        return dict[int | None, Path](self.ranks.items()) if len(self.ranks) > 1 else {None: self.single}

    @property
    def single(self) -> Path:
        """The log without a rank, or of the lowest rank; raises TraceError if there is none."""
        log = self.plain or next(iter(self.ranks.values()), None)
        if log is None:
            raise TraceError("there is no log with a record")
        return log

    @property
    def origin(self) -> str:
        """The earlier logs and the files that were not read, as sentences; empty if there are none."""
        earlier = file_words(
            f"The newest of {count(len(self.earlier) + 1, 'log')}. Earlier logs", tuple(self.earlier.values())
        )
        return " ".join(f"{words}." for words in (unread_words(self.unread), earlier) if words)


def rank_logs(directory: Path, logs: Mapping[Path, str] | None = None) -> RankLogs:
    """Return the logs in and below a directory, by rank; the newest log if a rank has several.

    With `logs`, these files are used instead; `logs` maps each file to its name in messages.
    """
    names = logs if logs is not None else {path: str(path.relative_to(directory)) for path in log_files(directory)}
    found: dict[int | None, list[Path]] = {}
    without_record: list[Path] = []
    for path in sorted(names, key=first_time, reverse=True):
        rank, has_records = rank_of(path, Path(names[path]))
        if has_records:
            found.setdefault(rank, []).append(path)
        else:
            without_record.append(path)
    plain, copies = without_copies(found.pop(None, []))
    ranks = {rank: found[rank][0] for rank in sorted(rank for rank in found if rank is not None)[:MOST_RANKS]}
    used = {*ranks.values(), *(() if ranks else plain)}
    others = [path for paths in (*found.values(), plain, copies, without_record) for path in paths if path not in used]
    unread = tuple(sorted(names[path] for path in others))
    earlier = {} if ranks else {path: names[path] for path in plain[1:]}
    return RankLogs(ranks, plain[0] if plain and not ranks else None, unread, earlier)


def log_files(directory: Path) -> Iterator[Path]:
    """Yield the regular files `*.log` at and below a directory."""
    return (path for path in files_below(directory) if path.name.endswith(".log"))


def files_below(directory: Path) -> Iterator[Path]:
    """Yield the regular files at and below a directory, in order; their number and depth are limited."""
    start, seen = len(directory.parts), 0
    for folder, inner, names in os.walk(directory):
        inner.sort()
        if len(Path(folder).parts) - start >= MOST_LEVELS:
            inner.clear()
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                return
            if regular(path := Path(folder, name)) is not None:
                yield path


def rank_of(log: Path, name: Path) -> tuple[int | None, bool]:
    """Return the rank of a log, and True if the log has a record; the rank is None if it is unknown.

    The rank is from the log's name, otherwise from its records, otherwise from its directory. A process that
    compiled before it joined the process group has a rank only in its later records. Only the first and the last
    megabyte are read. The log is not mapped, since another process may still write or truncate it.
    """
    named = NAMED.fullmatch(log.name)
    try:
        with open_regular(log) as file:
            start = file.read(MOST_READ_BYTES)
            headers = list(itertools.islice(header_lines(start), 1 if named else MOST_RECORDS))
            if not headers or named:
                return int(named[1]) if named and headers else None, bool(headers)
            written = _written_rank(start, headers)
            if written is None:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_READ_BYTES))
                end = file.read(MOST_READ_BYTES)
                written = _written_rank(end, list(header_lines(end))[-MOST_RECORDS:])
    except OSError:
        return None, False
    return rank_of_folder(name) if written is None else written, True


def _written_rank(log: bytes, headers: Iterable[re.Match[bytes]]) -> int | None:
    """Return the first rank in the headers of records; None if none has one."""
    return next((rank for header in headers if (rank := _rank_in(log, header.end())) is not None), None)


def _rank_in(log: bytes, start: int) -> int | None:
    end = log.find(b"\n", start)
    try:
        header = decoded(log[start : end if end >= 0 else None])
    except DecodeError:
        return None
    return counted(header.get("rank")) if isinstance(header, dict) else None


def rank_of_folder(path: Path) -> int | None:
    """Return the rank in the name of the closest directory above a file, such as `rank_0_dp_1`.

    None if no directory above the file has a rank in its name.
    """
    matches = (FOLDER.fullmatch(folder.name) for folder in path.parents)
    return next((int(match[1]) for match in matches if match), None)


def stored_ranks(trace_dir: Path) -> tuple[int, ...]:
    """Return the ranks of a run's logs, lowest first; empty for a run without ranks."""
    try:
        names = os.listdir(trace_dir)
    except OSError:
        return ()
    return tuple(sorted(int(match[1]) for name in names if (match := STORED.fullmatch(name))))


def stored_name(rank: int | None) -> str:
    """Return the name of a log in a run's trace directory."""
    return "opened.log" if rank is None else f"rank_{rank}.log"


def unread_words(names: Sequence[str]) -> str:
    """Return which files were not read, as a sentence; empty if there are none."""
    return file_words("Not read", names)


def file_words(title: str, names: Sequence[str]) -> str:
    """Return a title with the first names of files; empty without files."""
    if not names:
        return ""
    more = f" and {number(len(names) - MOST_NAMED)} more" if len(names) > MOST_NAMED else ""
    return f"{title}: {', '.join(one_line(name, MOST_NAME_CHARS) for name in names[:MOST_NAMED])}{more}"
