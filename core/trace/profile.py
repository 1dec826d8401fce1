"""Reader of a profile in Chrome's trace format, as `torch.profiler` writes it.

The file is JSON, or JSON compressed by gzip:

    {"schemaVersion": 1, …, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0",
     "pid": 0, "tid": 7, "ts": 1.5, "dur": 2.5, "args": {"correlation": 48}}, …], …}

The list of events alone is also read. Times are in microseconds. The file is decoded in pieces, so that only
the slices stay in memory. The file is not trusted: invalid events are counted and left out.
"""

import gzip
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from core.base.decoder import counted, decoded_as
from core.base.errors import DecodeError, TraceError
from core.base.files import one_line, open_regular
from core.base.words import bytes_, number
from core.report.run import DEVICE_KINDS, Profile, ProfileSlice, ProfileTrack, SliceKind

GZIP = b"\x1f\x8b"
MOST_PROFILE_BYTES = 1024**3  #: limit: a profile of torch.profiler
PIECE_BYTES = 4 * 1024**2
MOST_EVENT_BYTES = 16 * 1024**2  #: an event of a profile
# Events of a file; those of the largest real profiles are fewer.
MOST_EVENTS = 10_000_000  #: limit: events of a profile
# A file with more damaged events is not read further.
MOST_DAMAGED = 10_000  #: damaged events before reading of a profile stops
# Bytes that are split event by event, which is slow, because a piece of them has an event that cannot be decoded.
MOST_SPLIT_BYTES = 64 * 1024**2  #: bytes split event by event, because a part cannot be decoded
# Host ops are by far the most slices; the others have room of their own.
MOST_OPS = 200_000  #: limit: host ops of a profile
MOST_OTHERS = 200_000  #: limit: other slices of a profile
MOST_TRACKS = 256  #: limit: tracks of a profile
MOST_NAMES = 50_000  #: names of slices of a profile
MOST_NAME_CHARS = 300  #: the name of a slice
MOST_US = 1e17  #: a time in a profile, in microseconds
START = re.compile(rb'"traceEvents"\s*:\s*\[')
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\]]', re.DOTALL)
KINDS: Final[dict[str, SliceKind]] = {
    "kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "copy",
    "memcpy": "copy",
    "memset": "copy",
    "cuda_runtime": "launch",
    "cuda_driver": "launch",
    "runtime": "launch",
    "xpu_runtime": "launch",
    "mtia_runtime": "launch",
    "cpu_op": "op",
    "operator": "op",
    "user_annotation": "annotation",
    "overhead": "overhead",
}
# Arguments of an event, in the order of the fields of ProfileSlice.
NUMBERS = ("correlation", "External id", "Sequence number")
NO_PROFILE = (
    "This is no profile: it has no list of trace events. Expected the JSON that "
    "`torch.profiler.profile.export_chrome_trace` writes, or that JSON compressed by gzip."
)


class _Event(msgspec.Struct):
    """An event as it is in the file; its values may have any type."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    process: Any = msgspec.field(default=None, name="pid")
    thread: Any = msgspec.field(default=None, name="tid")
    ts: Any = None
    dur: Any = None
    args: Any = None


def read_profile(path: Path, most_bytes: int = MOST_PROFILE_BYTES) -> Profile:
    """Return the profile in a file, which has at most `most_bytes` unpacked.

    Raises TraceError if the file cannot be read or has no list of events.
    """
    try:
        with open_regular(path) as file:
            return _Reader(most_bytes).profile(file)
    except OSError as error:
        raise TraceError(f"{path.name} cannot be read: {error.strerror}") from None


class _Reader:
    """The kept slices of a file, and counts of its unreadable parts."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._problems: Counter[str] = Counter()
        self._slices: list[ProfileSlice] = []
        self._tracks: dict[tuple[str, str, bool], int] = {}
        self._track_names: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._ops = self._events = self._split_bytes = self._damaged = 0

    def profile(self, file: BinaryIO) -> Profile:
        magic = file.read(2)
        file.seek(0)
        for event in self._read_events(cast(BinaryIO, gzip.GzipFile(fileobj=file)) if magic == GZIP else file):
            if self._events >= MOST_EVENTS:
                self._problems[f"the events after the first {number(MOST_EVENTS)}"] += 1
                break
            self._events += 1
            self._add(event)
        return self._made()

    def _read_events(self, file: BinaryIO) -> Iterator[_Event]:
        """Yield the events of a file, piece by piece."""
        chunks = self._chunks(file)
        rest = _from_the_list_on(chunks)
        for chunk in chunks:
            rest += chunk
            events, rest, ended = self._decoded(rest)
            yield from events
            if ended:
                return
            if len(rest) > MOST_EVENT_BYTES or self._split_bytes > MOST_SPLIT_BYTES or self._is_broken:
                self._problems["the rest of the file, which could not be split into events"] += 1
                return
        events, _, ended = self._split(rest)
        yield from events
        self._problems["the end of the list of events, which is missing"] += not ended

    def _chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the file's bytes up to the limit."""
        left = self._most_bytes
        try:
            while left > 0 and (chunk := file.read(min(PIECE_BYTES, left))):
                left -= len(chunk)
                yield chunk
            if not left and file.read(1):
                self._problems[f"the file after its first {bytes_(self._most_bytes)}"] += 1
        except (gzip.BadGzipFile, zlib.error, EOFError):
            self._problems["the end of the compressed data, which is damaged"] += 1

    def _decoded(self, text: bytes) -> tuple[list[_Event], bytes, bool]:
        """Return the events at the start of a text, the rest of the text, and True if the list ended."""
        at = _last_border(text)
        if at < 0:
            return [], text, False
        try:
            return decoded_as(b"[" + text[:at].lstrip(b", \t\r\n") + b"]", list[_Event]), text[at:], False
        except DecodeError:
            return self._split(text)

    def _split(self, text: bytes) -> tuple[list[_Event], bytes, bool]:
        """Return the same as `_decoded`, by decoding one event at a time."""
        self._split_bytes += len(text)
        events: list[_Event] = []
        depth = begin = end = 0
        for match in TOKEN.finditer(text):
            letter = text[match.start()]
            if letter in b"{[":
                begin = match.start() if not depth else begin
                depth += 1
            elif letter in b"}]":
                if not depth:
                    return events, b"", True
                depth -= 1
                if not depth:
                    end = match.end()
                    self._decode_one(text[begin:end], events)
                    if self._is_broken:
                        break
        return events, text[end:], False

    @property
    def _is_broken(self) -> bool:
        return self._damaged >= MOST_DAMAGED

    def _decode_one(self, text: bytes, events: list[_Event]) -> None:
        try:
            events.append(decoded_as(text, _Event))
        except DecodeError:
            self._damaged += 1
            self._problems["an event that is not JSON, or no object"] += 1

    def _add(self, event: _Event) -> None:
        """Keep an event if it is a slice, or the name of a track."""
        if event.ph == "M":
            self._name_track(event)
        if event.ph in ("B", "E"):
            self._problems["a slice in two events, which torch does not write"] += 1
        kind = KINDS.get(event.cat.lower()) if event.ph == "X" and isinstance(event.cat, str) else None
        if kind is None:
            return
        start_us, length_us = _time_us(event.ts), _time_us(event.dur)
        if start_us is None or length_us is None or not isinstance(event.name, str):
            self._problems["a slice without a name, a time or a duration"] += 1
            return
        track = self._track(event, kind)
        if track is None or not self._has_room(kind):
            self._problems["more slices or tracks than are kept"] += 1
            return
        args = event.args if isinstance(event.args, dict) else {}
        numbers = (counted(args.get(name)) or 0 for name in NUMBERS)
        name = self._interned(event.name)
        self._slices.append(ProfileSlice(name, kind, track, start_us, start_us + length_us, *numbers))

    def _has_room(self, kind: SliceKind) -> bool:
        if kind == "op":
            self._ops += 1
            return self._ops <= MOST_OPS
        return len(self._slices) - min(self._ops, MOST_OPS) < MOST_OTHERS

    def _interned(self, name: str) -> str:
        """Return a shortened name; equal names are the same string object."""
        short = one_line(name[: 2 * MOST_NAME_CHARS], MOST_NAME_CHARS)
        return self._names.setdefault(short, short) if len(self._names) < MOST_NAMES else self._names.get(short, "…")

    def _track(self, event: _Event, kind: SliceKind) -> int | None:
        """Return the index of an event's track; None if there are too many."""
        key = (_text(event.process), _text(event.thread), kind in DEVICE_KINDS)
        if key not in self._tracks and len(self._tracks) >= MOST_TRACKS:
            return None
        return self._tracks.setdefault(key, len(self._tracks))

    def _name_track(self, event: _Event) -> None:
        if event.name == "thread_name" and isinstance(event.args, dict) and len(self._track_names) < MOST_TRACKS:
            self._track_names[_text(event.process), _text(event.thread)] = _text(event.args.get("name"))

    def _made(self) -> Profile:
        origin = min((piece.start_us for piece in self._slices), default=0.0)
        moved = (
            ProfileSlice(
                piece.name,
                piece.kind,
                piece.track,
                piece.start_us - origin,
                piece.end_us - origin,
                piece.correlation,
                piece.external,
                piece.sequence,
            )
            for piece in self._slices
        )
        tracks = tuple(self._named(*key) for key in self._tracks)
        slices = tuple(sorted(moved, key=lambda piece: (piece.start_us, -piece.end_us)))
        return Profile(tracks, slices, self._events, {what: count for what, count in self._problems.items() if count})

    def _named(self, process: str, thread: str, on_device: bool) -> ProfileTrack:
        name = self._track_names.get((process, thread)) or f"{'stream' if on_device else 'thread'} {thread}"
        return ProfileTrack(name, f"GPU {process}" if on_device else "")


def _from_the_list_on(chunks: Iterator[bytes]) -> bytes:
    """Return the text after the start of the list of events, up to the last chunk read; raises TraceError."""
    head = b""
    for chunk in chunks:
        head += chunk
        match = START.search(head)
        if match:
            return head[match.end() :]
        if head.lstrip()[:1] == b"[":
            return head.lstrip()[1:]
        if len(head) > MOST_EVENT_BYTES:
            break
    raise TraceError(NO_PROFILE)


def _last_border(text: bytes) -> int:
    """Return the place of the last comma between two objects, −1 without one."""
    at = len(text)
    while (at := text.rfind(b"{", 0, at)) > 0:
        before = text[max(0, at - 200) : at].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            return text.rfind(b",", 0, at)
        if at < len(text) - MOST_EVENT_BYTES:
            return -1
    return -1


def _time_us(value: Any) -> float | None:
    """Return a time or a duration in microseconds; None for anything else."""
    if type(value) not in (int, float) or not math.isfinite(value) or not 0 <= value < MOST_US:
        return None
    return float(value)


def _text(value: Any) -> str:
    """Return the number or the name of a process or thread as text."""
    return one_line(str(value)[:200], 60) if isinstance(value, (int, str)) else ""
