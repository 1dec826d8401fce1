"""Large logs of any size, made from the recorded ones: each copy has frame ids and file numbers of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.trace import TraceReader
from core.trace.reader import HEADER, md5_of
from tests.support.places import TRACES

# Scenarios in one round: about 260 kB per compilation, as in logs of large training jobs.
ROUND = ("foreign", *["training_step"] * 8, "transformer_block", "transformer_block", "control_flow")
IN_PAYLOAD = re.compile(r'("compile_id": ")(\d+)(?=/)')


def write_log(path: Path, compilations: int = 0, least_bytes: int = 0) -> int:
    """Write a log with at least that many compilations and bytes; return the number of compilations."""
    sources = {name: _read(TRACES / name / "trace.log") for name in set(ROUND)}
    frames = strings = 0
    with path.open("wb") as file:
        while True:
            for name in ROUND:
                if frames >= compilations and file.tell() >= least_bytes:
                    return frames
                for line, header, payload in sources[name]:
                    file.write(_shifted(line, header, payload, frames, strings))
                starts = [header for _, header, _ in sources[name] if "dynamo_start" in header]
                frames += len({header["frame_id"] for header in starts})
                strings += 1_000


def _read(path: Path) -> list[tuple[bytes, dict[str, Any], str]]:
    """Return the records of a log: the start of the line, the header, and the payload."""
    data = path.read_bytes()
    with TraceReader(path) as reader:
        return list(_records(data, reader))


def _records(data: bytes, reader: TraceReader) -> Iterator[tuple[bytes, dict[str, Any], str]]:
    matches = list(HEADER.finditer(data))
    ends = [match.start() for match in matches[1:]] + [len(data)]
    for match, end in zip(matches, ends, strict=True):
        line_end = data.index(b"\n", match.end())
        header = json.loads(data[match.end() : line_end])
        yield match.group(), header, reader.text(line_end + 1, end - line_end - 1) if end > line_end + 1 else ""


def _shifted(line: bytes, header: dict[str, Any], payload: str, frames: int, strings: int) -> bytes:
    header = {name: _with_numbers(value, strings) for name, value in header.items()}
    if "str" in header:
        header["str"] = [header["str"][0], header["str"][1] + strings]
    if "frame_id" in header:
        header["frame_id"] += frames
    if not header.get("has_payload"):
        return line + json.dumps(header).encode() + b"\n"
    payload = IN_PAYLOAD.sub(lambda match: f"{match[1]}{int(match[2]) + frames}", payload)
    text = "".join(f"\t{part}\n" for part in payload.split("\n"))
    return line + json.dumps({**header, "has_payload": md5_of(payload)}).encode() + b"\n" + text.encode()


def _with_numbers(value: Any, strings: int) -> Any:
    """Return a value in which the numbers of file names are shifted."""
    if isinstance(value, list):
        return [_with_numbers(part, strings) for part in value]
    if isinstance(value, dict):
        return {
            name: part + strings if name == "filename" and isinstance(part, int) else _with_numbers(part, strings)
            for name, part in value.items()
        }
    return value
