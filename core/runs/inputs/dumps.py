"""Directories that other tools write, converted to logs: tlparse, TORCH_COMPILE_DEBUG, and vLLM.

tlparse          raw.jsonl, which names the files with the payloads (if raw.log exists, it is the log); without
                 raw.jsonl the files alone: -_0_0_0/dynamo_output_graph_3.txt, …, chromium_events.json
debug directory  torch_compile_debug/run_…/torchinductor/model__0_forward_1.0/output_code.py, …;
                 AOTInductor's model___0.0/output_code.cpp
vLLM             rank_0_dp_0/graphs/0000_before_split.raw.py, …structured.txt, …metadata.json
                 (https://github.com/vllm-project/vllm/pull/41378)
"""

import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from core.base.decoder import decoded
from core.base.errors import DecodeError, TraceError
from core.base.files import one_line, read
from core.base.words import agree, count, gib
from core.report.model import DEBUG_FILES
from core.runs.inputs.schedules import schedule_of
from core.trace.parsers.inductor import GRAPH_STAGES
from core.trace.ranks import RankLogs, files_below, rank_of_folder
from core.trace.reader import MAX_PAYLOAD_BYTES, OUR_KEYS, md5_of

# `model` is the name that `set_model_name` sets. AOTInductor's graphs have neither a number nor a direction.
MODEL = re.compile(r"[^/]{1,200}?__(?:(\d{1,6})_(forward|backward|inference))?_\d{1,6}\.(\d{1,6})")
# A number, perhaps a process id, and the stage.
VLLM_GRAPH = re.compile(r"(\d{1,6})_(?:\d{1,10}_)?(.{1,150})\.raw\.py")
# torch prints a headline and the name of the code's file before the graph.
GRAPH_CLASS = re.compile(r"^.{0,500}?\b(class \w{1,100}\(torch\.nn\.Module\):)", re.MULTILINE)
TAG = re.compile(r"<[^>]{0,2000}>")
STAMP = re.compile(r"\d{4}-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d\.\d{1,6})")
PLACE = re.compile(r"[^\n\]]{1,300}")
UNKNOWN_PLACE = "unknown"
TLPARSE_FOLDER = re.compile(r"-_(\d{1,9})_(\d{1,9})_(\d{1,9})")
TLPARSE_FILE = re.compile(r"(\w[\w.-]{0,150}?)_(\d{1,9})\.(txt|json|html|py)")
OUTPUT_CODE = "inductor_output_code"
# Kinds of records that are no artifacts.
PLAIN_KINDS = frozenset({"dynamo_output_graph", "dynamo_cpp_guards_str", *GRAPH_STAGES})
MOST_NAMED = 8  #: kinds of records that are named as missing
MOST_KIND_CHARS = 80  #: the kind of a missing record
MAX_INDEX_BYTES = 512 * 1024**2  #: limit: `raw.jsonl` of tlparse
# Keys of raw.jsonl that tlparse adds to a record's header.
ADDED = ("timestamp", "thread", "pathname", "lineno", "payload_filename", "has_payload")
# What vLLM writes beside each graph, with the encoding of its record.
BESIDE_GRAPH = {"metadata.json": "json", "structured.txt": "string"}
# What Inductor writes for each graph: the kind of record, and what its header says beside the kind.
BEFORE, AFTER = "before_post_grad_graph", "inductor_post_grad_graph"
OUTPUT_CODES = ("output_code.py", "output_code.cpp")
MAPPINGS = "inductor_provenance_tracking_node_mappings"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record to write: its header, its payload, and torch's time stamp, thread and source file."""

    header: dict[str, Any]
    payload: str | None = None
    stamp: str = ""
    thread: int = 0
    place: str = UNKNOWN_PLACE


def logs_of_dump(directory: Path, target: Path, most_bytes: int) -> RankLogs | None:
    """Return logs made from the dump in a directory, written into `target`; None if there is no dump.

    Raises TraceError if the logs would be larger than `most_bytes`. Raises OSError.
    """
    files = list(files_below(directory))
    for make in (_of_tlparse, _of_tlparse_files, _of_debug_directory, _of_vllm):
        logs = make(directory, files, _Writer(target, most_bytes))
        if logs is not None:
            return logs
    return None


class _Writer:
    """Writer of converted logs, with a limit on their total bytes."""

    def __init__(self, target: Path, most_bytes: int) -> None:
        self._target = target
        self._most_bytes = self._left = most_bytes

    def write(self, name: str, entries: Iterable[_Entry]) -> Path:
        """Write a log in the format of TORCH_TRACE, and return its path; raises TraceError at the limit."""
        self._target.mkdir(exist_ok=True)
        path = self._target / name
        with path.open("wb") as file:
            for entry in entries:
                record = _record(entry)
                self._left -= len(record)
                if self._left < 0:
                    raise TraceError(f"the log that is made of it is larger than {gib(self._most_bytes)}")
                file.write(record)
        return path


def _record(entry: _Entry) -> bytes:
    stamp = entry.stamp or time.strftime("%m%d %H:%M:%S.000000")
    header, lines = dict(entry.header), b""
    if entry.payload is not None:
        header["has_payload"] = md5_of(entry.payload)
        lines = b"".join(b"\t%b\n" % line for line in entry.payload.encode("utf-8", "surrogatepass").split(b"\n"))
    place = entry.place if PLACE.fullmatch(entry.place) else UNKNOWN_PLACE
    return f"V{stamp} {entry.thread} {place}:1] ".encode() + msgspec.json.encode(header) + b"\n" + lines


def _text(path: Path) -> str | None:
    """Return a file's text; None if it is missing or larger than a payload may be."""
    try:
        return read(path, MAX_PAYLOAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _graph(name: str, frame: int, payload: str, stamp: str) -> _Entry:
    return _artifact({"name": name, "encoding": "string"}, frame, payload, stamp)


def _artifact(body: dict[str, Any], frame: int, payload: str, stamp: str) -> _Entry:
    return _Entry({"artifact": body, **_compile_id(frame)}, payload, stamp)


def _compile_id(frame: int) -> dict[str, int]:
    return {"frame_id": frame, "frame_compile_id": 0, "attempt": 0}


def _stamp(path: Path) -> str:
    return time.strftime("%m%d %H:%M:%S.000000", time.localtime(path.stat().st_mtime))


def _note(text: str) -> _Entry:
    return _Entry({"artifact": {"name": "compileboard_note", "encoding": "json"}}, _json({"schema": 1, "text": text}))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _of_debug_directory(directory: Path, files: list[Path], writer: _Writer) -> RankLogs | None:
    """Make a log of the newest run in a TORCH_COMPILE_DEBUG directory; None if there is none."""
    models = sorted({path.parent for path in files if MODEL.fullmatch(path.parent.name)}, key=_model_order)
    models = [model for model in models if any((model / name).is_file() for name in (*OUTPUT_CODES, *DEBUG_FILES))]
    if not models:
        return None
    newest = max(model.parent for model in models)
    chosen = [model for model in models if model.parent == newest]
    words = (
        "Made from a TORCH_COMPILE_DEBUG directory, which has no frames, guards, breaks or times: graphs are numbered "
        "as AOTAutograd numbers them"
    )
    log = writer.write(
        "debug.log", itertools.chain([_note(f"{words}.")], (entry for model in chosen for entry in _of_model(model)))
    )
    known = {*OUTPUT_CODES, "fx_graph_runnable.py", f"{MAPPINGS}.json", *DEBUG_FILES}
    unread = _names(directory, (path for path in files if path.parent not in chosen or path.name not in known))
    return RankLogs({}, log, unread)


def _model_order(model: Path) -> tuple[str, int]:
    match = MODEL.fullmatch(model.name)
    return str(model.parent), int(match[3]) if match else 0


def _of_model(model: Path) -> Iterator[_Entry]:
    """Yield the records of one graph in the order in which torch writes them."""
    match = MODEL.fullmatch(model.name)
    frame = int(match[1] or match[3]) if match else 0
    direction = (match[2] if match else None) or "inference"
    makers: dict[str, Callable[[str, str], _Entry]] = {
        "fx_graph_runnable.py": lambda text, at: _graph("fx_graph_runnable", frame, text, at),
        DEBUG_FILES[0]: lambda text, at: _graph(BEFORE, frame, text, at),
        DEBUG_FILES[1]: lambda text, at: _graph(AFTER, frame, text, at),
        DEBUG_FILES[2]: lambda text, at: _debug_file(DEBUG_FILES[2], frame, text, at),
        DEBUG_FILES[3]: lambda text, at: _debug_file(DEBUG_FILES[3], frame, text, at),
        "output_code.py": lambda text, at: _Entry(
            {"inductor_output_code": {"filename": str(model / "output_code.py")}, **_compile_id(frame)}, text, at
        ),
        "output_code.cpp": lambda text, at: _Entry(
            {"graph_dump": {"name": "inductor_aot_code"}, **_compile_id(frame)}, text, at
        ),
        f"{MAPPINGS}.json": lambda text, at: _artifact({"name": MAPPINGS, "encoding": "json"}, frame, text, at),
    }
    graph, *_, before, after = (_text(model / name) or "" for name in DEBUG_FILES)
    code, mappings = (_text(model / name) or "" for name in ("output_code.py", f"{MAPPINGS}.json"))
    schedule, kernels = schedule_of(before, after, graph, direction, code, mappings)
    for name, make in makers.items():
        if name in OUTPUT_CODES and schedule is not None:
            for kind, record in ("schedule", schedule), *(("kernel", kernel) for kernel in kernels):
                body = {"name": f"compileboard_{kind}", "encoding": "json"}
                yield _artifact(body, frame, _json(record), _stamp(model / DEBUG_FILES[-1]))
            schedule = None
        text = _text(model / name)
        if text:
            yield make(text, _stamp(model / name))


def _debug_file(name: str, frame: int, payload: str, stamp: str) -> _Entry:
    return _artifact({"name": "debug_file", "encoding": "string", "file": name}, frame, payload, stamp)


def _of_vllm(directory: Path, files: list[Path], writer: _Writer) -> RankLogs | None:
    """Make a log for each rank of vLLM's dumps, with a `graph_dump:STAGE` for each stage; or None."""
    stages: dict[int | None, list[Path]] = {}
    for path in files:
        if VLLM_GRAPH.fullmatch(path.name):
            stages.setdefault(rank_of_folder(Path(directory.name, path.relative_to(directory))), []).append(path)
    if not stages:
        return None
    words = "Made from a directory of vLLM's graph dumps, which has no guards, kernels or times"
    if len(stages) > 1:
        stages.pop(None, None)
    made = {
        rank: writer.write(f"vllm_{rank}.log", itertools.chain([_note(f"{words}.")], _of_stages(paths, rank)))
        for rank, paths in stages.items()
    }
    used = {path for paths in stages.values() for path in paths}
    beside = {path.name.removesuffix(".raw.py") for path in used}
    unread = (
        path
        for path in files
        if path not in used and path.name.partition(".")[0] not in beside and path.name != "index.md"
    )
    ranks = {rank: made[rank] for rank in sorted(rank for rank in made if rank is not None)}
    return RankLogs(ranks, made.get(None), _names(directory, unread))


def _of_stages(paths: list[Path], rank: int | None) -> Iterator[_Entry]:
    ranked = {} if rank is None else {"rank": rank}
    for path in sorted(paths, key=_stage_order):
        match = VLLM_GRAPH.fullmatch(path.name)
        graph = _text(path)
        if match is None or graph is None:
            continue
        beside = {suffix: _text(path.with_name(path.name.removesuffix("raw.py") + suffix)) for suffix in BESIDE_GRAPH}
        stage = _stage_name(beside["metadata.json"]) or match[2]
        begin = GRAPH_CLASS.search(graph)
        at = {**ranked, **_compile_id(0)}
        yield _Entry({"graph_dump": {"name": stage}, **at}, graph[begin.start(1) :] if begin else graph, _stamp(path))
        for suffix, encoding in BESIDE_GRAPH.items():
            text = beside[suffix]
            if text is not None:
                body = {"name": f"vllm_{stage}_{suffix.partition('.')[0]}", "encoding": encoding}
                yield _Entry({"artifact": body, **at}, text, _stamp(path))


def _stage_name(metadata: str | None) -> str:
    """Return a stage's name with its dots and spaces from the metadata; empty if it has none."""
    try:
        data = decoded(metadata) if metadata else None
    except DecodeError:
        return ""
    name = data.get("name") if isinstance(data, dict) else None
    return one_line(name, MOST_KIND_CHARS) if isinstance(name, str) else ""


def _stage_order(path: Path) -> tuple[str, int]:
    match = VLLM_GRAPH.fullmatch(path.name)
    return str(path.parent), int(match[1]) if match else 0


def _of_tlparse(directory: Path, files: list[Path], writer: _Writer) -> RankLogs | None:
    """Restore a log from tlparse's `raw.jsonl`, without payloads that do not match; or None."""
    index = next((path for path in files if path.name == "raw.jsonl"), None)
    return _of_index(index, writer) if index is not None else None


def log_of_index(index: Path, target: Path, most_bytes: int) -> RankLogs:
    """Return a log made from tlparse's `raw.jsonl` with the payloads beside it, as `logs_of_dump`."""
    return _of_index(index, _Writer(target, most_bytes))


def _of_index(index: Path, writer: _Writer) -> RankLogs:
    missing: Counter[str] = Counter()
    log = writer.write(
        "tlparse.log", itertools.chain(_of_lines(index, missing), _of_events(index.parent), _lost(missing))
    )
    return RankLogs({}, log)


def _of_tlparse_files(directory: Path, files: list[Path], writer: _Writer) -> RankLogs | None:
    """Make a log of tlparse's files with payloads, without `raw.log` and `raw.jsonl`; None without files.

    A file's folder is named after the compile id, and the number in its name counts the records of the log.
    """
    payloads = sorted((path for path in files if _is_tlparse_file(path)), key=_tlparse_number)
    if not payloads:
        return None
    words = (
        "raw.log and raw.jsonl of tlparse's directory are missing, so the log is made from its files. It has no "
        "stacks, metrics or recompile reasons, and nothing that tlparse stores only as a page"
    )
    log = writer.write(
        "tlparse_files.log",
        itertools.chain(
            [_note(f"{words}.")],
            (entry for path in payloads for entry in _of_tlparse_file(path)),
            _of_events(payloads[0].parent.parent),
        ),
    )
    unread = (path for path in files if path not in payloads and path.name != "chromium_events.json")
    return RankLogs({}, log, _names(directory, unread))


def _is_tlparse_file(path: Path) -> bool:
    match = TLPARSE_FILE.fullmatch(path.name)
    if match is None or TLPARSE_FOLDER.fullmatch(path.parent.name) is None:
        return False
    return match[3] != "html" or match[1].startswith(OUTPUT_CODE) or match[1] in PLAIN_KINDS


def _tlparse_number(path: Path) -> int:
    match = TLPARSE_FILE.fullmatch(path.name)
    return int(match[2]) if match else 0


def _of_tlparse_file(path: Path) -> Iterator[_Entry]:
    match, folder, text = TLPARSE_FILE.fullmatch(path.name), TLPARSE_FOLDER.fullmatch(path.parent.name), _text(path)
    if match is None or folder is None or text is None:
        return
    frame, compilation, attempt = map(int, folder.groups())
    at = {"frame_id": frame, "frame_compile_id": compilation, "attempt": attempt}
    name = match[1]
    text = unescape(TAG.sub("", text)).strip() if match[3] == "html" else text
    if name.startswith(OUTPUT_CODE):
        body: dict[str, Any] = {OUTPUT_CODE: {"filename": f"{name.removeprefix(OUTPUT_CODE).strip('_')}.py"}}
    elif name in PLAIN_KINDS:
        body = {name: {}}
    else:
        body = {"artifact": {"name": name, "encoding": "json" if match[3] == "json" else "string"}}
    yield _Entry({**body, **at}, text, _stamp(path))


def _lost(missing: Counter[str]) -> Iterator[_Entry]:
    """Yield a note on the log's origin and its missing payloads.

    The counts in `missing` are complete only after all other records, so this generator must run last.
    """
    lost = sum(missing.values())
    text = "Made from tlparse's raw.jsonl, since raw.log is not there"
    if lost:
        kinds = ", ".join(sorted(missing)[:MOST_NAMED])
        text += f"; {count(lost, 'payload')} {agree(lost, 'is', 'are')} there only as HTML, or missing: {kinds}"
    yield _note(f"{text}.")


def _of_events(folder: Path) -> Iterator[_Entry]:
    """Yield a record for each phase in tlparse's `chromium_events.json`."""
    try:
        events = decoded(_text(folder / "chromium_events.json") or "[]")
    except DecodeError:
        return
    yield from (_Entry({"chromium_event": {}}, _json(event)) for event in events if isinstance(event, dict))


def _of_lines(index: Path, missing: Counter[str]) -> Iterator[_Entry]:
    for line in read(index, MAX_INDEX_BYTES).split(b"\n"):
        try:
            record = decoded(line) if line.strip() else None
        except DecodeError:
            missing["unreadable line"] += 1
            continue
        if not isinstance(record, dict):
            continue
        if isinstance(names := record.get("string_table"), list):
            yield from (_Entry({"str": [str(name), number]}) for number, name in enumerate(names))
            continue
        yield _of_line(index.parent, record, missing)


def _of_line(folder: Path, record: dict[str, Any], missing: Counter[str]) -> _Entry:
    header = {key: value for key, value in record.items() if key not in ADDED}
    md5, payload = record.get("has_payload"), None
    if md5:
        payload = _payload(folder, str(record.get("payload_filename") or ""), str(md5))
        if payload is None:
            missing[_kind(header)] += 1
    stamp = STAMP.match(str(record.get("timestamp", "")))
    thread = record.get("thread")
    return _Entry(
        header,
        payload,
        f"{stamp[1]}{stamp[2]} {stamp[3]}" if stamp else "",
        thread if isinstance(thread, int) and 0 <= thread < 2**63 else 0,
        str(record.get("pathname") or UNKNOWN_PLACE).strip(),
    )


def _kind(header: dict[str, Any]) -> str:
    artifact = header.get("artifact")
    name = artifact.get("name") if isinstance(artifact, dict) else None
    return one_line(str(name or next((key for key in header if key not in OUR_KEYS), "record")), MOST_KIND_CHARS)


def _payload(folder: Path, name: str, md5: str) -> str | None:
    """Return the payload in a file; None if the file is missing or does not match the checksum `md5`.

    The file may be highlighted HTML, so the text is also compared without HTML tags and without outer whitespace. JSON
    is not compared with the checksum, since tlparse indents it again.
    """
    path = Path(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        return None
    text = _text(folder / path)
    if text is None:
        return None
    if path.suffix == ".json" and _is_json(text):
        # tlparse indents JSON again.
        return text
    candidates = (text, unescape(TAG.sub("", text)))
    whole = (form for candidate in candidates for form in (candidate, candidate.removesuffix("\n"), candidate.strip()))
    return next((form for form in whole if md5_of(form) == md5), None)


def _is_json(text: str) -> bool:
    try:
        decoded(text)
    except DecodeError:
        return False
    return True


def _names(directory: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """Return the names of files that are not empty, in order."""
    return tuple(sorted(str(path.relative_to(directory)) for path in paths if path.stat().st_size))
