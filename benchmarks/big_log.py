"""Large logs as torch alone writes them: copies of recorded logs, without Compileboard's records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.trace.reader import HEADER, TraceReader, md5_of
from tests.support.places import TRACES

# Scenarios in one round; each copy has frame ids, file numbers and times of its own.
ROUND = ("foreign", *["training_step"] * 8, "transformer_block", "transformer_block", "control_flow")
IN_PAYLOAD = re.compile(r'("compile_id": ")(\d+)(?=/)')
TIME = re.compile(r'("ts": )([0-9.]+)')
# File numbers and microseconds from one copy to the next.
FILES, ROUND_US = 1_000, 60_000_000


def write_log(path: Path, compilations: int = 0, least_bytes: int = 0) -> int:
    """Write a log of at least `compilations` frames and `least_bytes` bytes; return the number of frames."""
    sources = {name: _read(TRACES / name / "trace.log") for name in set(ROUND)}
    frames = strings = 0
    with path.open("wb") as file:
        while True:
            for name in ROUND:
                if frames >= compilations and file.tell() >= least_bytes:
                    return frames
                for line, header, payload in sources[name]:
                    file.write(_shifted(line, header, payload, frames, strings))
                frames += 1 + max(header.get("frame_id", 0) for _, header, _ in sources[name])
                strings += FILES


def _read(path: Path) -> list[tuple[bytes, dict[str, Any], str]]:
    """Return the records of a log except Compileboard's, each as (start of the line, header, payload)."""
    data = path.read_bytes()
    with TraceReader(path) as reader:
        return list(_records(data, reader))


def _records(data: bytes, reader: TraceReader) -> Iterator[tuple[bytes, dict[str, Any], str]]:
    matches = list(HEADER.finditer(data))
    ends = [match.start() for match in matches[1:]] + [len(data)]
    for match, end in zip(matches, ends, strict=True):
        line_end = data.index(b"\n", match.end())
        header = json.loads(data[match.end() : line_end])
        if str(header.get("artifact", {}).get("name")).startswith("compileboard_"):
            continue
        yield match.group(), header, reader.text(line_end + 1, end - line_end - 1) if end > line_end + 1 else ""


def _shifted(line: bytes, header: dict[str, Any], payload: str, frames: int, strings: int) -> bytes:
    header = {name: _with_numbers(value, strings) for name, value in header.items()}
    if "str" in header:
        header["str"] = [header["str"][0], header["str"][1] + strings]
    if "frame_id" in header:
        header["frame_id"] += frames
    for body in (header.get("compilation_metrics"), header.get("bwd_compilation_metrics")):
        if isinstance(body, dict):
            body["start_time_us"] += strings // FILES * ROUND_US
    if not header.get("has_payload"):
        return line + json.dumps(header).encode() + b"\n"
    payload = IN_PAYLOAD.sub(lambda match: f"{match[1]}{int(match[2]) + frames}", payload)
    if "chromium_event" in header:
        payload = TIME.sub(lambda match: f"{match[1]}{float(match[2]) + strings // FILES * ROUND_US}", payload)
    text = "".join(f"\t{part}\n" for part in payload.split("\n"))
    return line + json.dumps({**header, "has_payload": md5_of(payload)}).encode() + b"\n" + text.encode()


def _with_numbers(value: Any, strings: int) -> Any:
    """Return a header value with `strings` added to the number of each interned file name."""
    if isinstance(value, list):
        return [_with_numbers(part, strings) for part in value]
    if isinstance(value, dict):
        return {
            name: part + strings if name == "filename" and isinstance(part, int) else _with_numbers(part, strings)
            for name, part in value.items()
        }
    return value
