"""Fuzzer of opened files: damaged logs, indexes that do not fit their log, damaged archives.

`python -m benchmarks.fuzz_logs [SECONDS [SEED]]` damages recorded logs for ten minutes by default. It reads
them as the pages do, with an index, or from an archive. For one log in `PAGE_EVERY`, it also opens a page. It
reports the number of executions of each kind, the slowest, and the peak memory. A file that raises anything
but an error of ours is stored, and the exit code is 1.
"""

from __future__ import annotations

import gzip
import io
import json
import logging
import random
import resource
import shutil
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from backports import zstd

from benchmarks.table import tell
from core import CompileboardError, Store, build_report, from_json, open_report, to_json
from core.trace.index import index_of
from core.trace.parsers.build import outline
from core.views.artifacts import ArtifactsView
from tests.support.apps import EVIDENCE, assert_sound, homed, opened, torch_still_starting
from tests.support.places import TRACES

SECONDS = 600
SEED = 7
PAGE_EVERY = 60
MOST_MEMORY_BYTES = 6 * 1024**3
MOST_LOG_BYTES = 400_000
STRANGE: tuple[object, ...] = (None, True, -1, 10**30, 1e999, "", "\ud800", "\x00\x1b[31m", "../../x", [], {}, [[]] * 9)


class Fuzzer:
    """Random damaged inputs, and the attempts to open them; `random` makes all choices."""

    def __init__(self, home: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.home = home
        self.store = Store(home / "home", max_log_bytes=5_000_000)
        paths = (path for path in sorted(TRACES.glob("*/trace.log")) if path.stat().st_size <= MOST_LOG_BYTES)
        self.logs = [path.read_bytes() for path in paths]
        self.tried: list[Callable[[bytes], None]] = [self.log, self.index, self.archive]

    def damaged_log(self) -> bytes:
        """Return a recorded log with lines removed, swapped, repeated, changed, or copied from another log."""
        lines = self.random.choice(self.logs).split(b"\n")
        for _ in range(self.random.randrange(1, 9)):
            at, there = (self.random.randrange(len(lines)) for _ in range(2))
            match self.random.randrange(6):
                case 0:
                    del lines[at : at + self.random.randrange(1, 4)]
                case 1:
                    lines[at], lines[there] = lines[there], lines[at]
                case 2:
                    lines[at:at] = lines[there : there + self.random.randrange(1, 30)]
                case 3:
                    lines[at] = self.changed_header(lines[at])
                case 4:
                    other = self.random.choice(self.logs).split(b"\n")
                    lines[at:at] = other[self.random.randrange(len(other)) :][:40]
                case _:
                    lines[at] = self.damaged(lines[at])
            lines = lines or [b""]
        return b"\n".join(lines)

    def changed_header(self, line: bytes) -> bytes:
        """Return a line with one value of its JSON replaced; a line without JSON is unchanged."""
        start = line.find(b"{")
        try:
            value = json.loads(line[start:])
        except ValueError:
            return line
        inner = value
        while isinstance(inner, dict) and inner:
            key = self.random.choice(list(inner))
            if not isinstance(inner[key], dict) or not inner[key] or self.random.random() < 0.3:
                inner[key] = self.random.choice(STRANGE)
                break
            inner = inner[key]
        return line[:start] + json.dumps(value).encode()

    def damaged(self, data: bytes) -> bytes:
        """Return bytes of which some are changed, cut off or repeated."""
        changed = bytearray(data)
        for _ in range(self.random.randrange(1, 6)):
            if changed:
                changed[self.random.randrange(len(changed))] = self.random.choice((0, 9, 10, 34, 123, 255, 65))
        if changed and self.random.random() < 0.2:
            del changed[self.random.randrange(len(changed)) :]
        if changed and self.random.random() < 0.2:
            at = self.random.randrange(len(changed))
            changed[at:at] = changed[at : at + self.random.randrange(600)]
        return bytes(changed)

    def log(self, data: bytes) -> None:
        """Read a log as the pages do: outline, report, records."""
        path = self.home / "trace.log"
        path.write_bytes(data)
        index = index_of(path)
        outline(index)
        report = build_report(path)
        assert from_json(to_json(report)) == report
        view = ArtifactsView(index, search=self.random.choice(("", "graph", "\x00")))
        assert view.title
        assert sum(view.kinds.values()) == len(index)
        for number in self.random.sample(range(len(index)), min(3, len(index))):
            assert view.details(number).place
        if not self.random.randrange(PAGE_EVERY):
            self.page(data)

    def page(self, data: bytes) -> None:
        """Add a log as a run, open a random page of EVIDENCE on the run, and delete the run."""
        run = self.store.add_log("damaged", io.BytesIO(data))
        with homed(self.store.runs_dir.parent), torch_still_starting():
            assert_sound(opened(self.random.choice(EVIDENCE), run.id))
        self.store.delete(run)

    def index(self, data: bytes) -> None:
        """Read a log with a stored index that may be damaged, out of date, or of another log."""
        path, stored = self.home / "trace.log", self.home / "index"
        path.write_bytes(self.random.choice((data, self.random.choice(self.logs))))
        index_of(path, stored)
        if self.random.random() < 0.6:
            stored.write_bytes(self.damaged(stored.read_bytes()))
        now = data if self.random.random() < 0.5 else path.read_bytes()
        path.write_bytes(now[: self.random.choice((len(now), self.random.randrange(len(now) + 1)))])
        index = index_of(path, stored)
        size = path.stat().st_size
        assert all(0 <= row.header <= row.offset + row.length <= size for row in index.rows())
        outline(index)

    def archive(self, data: bytes) -> None:
        """Store a compressed log as an upload; most of the archives are damaged."""
        name = self.random.choice(("a.log", "../a.log", "/a.log", "a/b.log", "a\x00.log", "rank_1.log", "."))
        packed = self.random.choice((gzip.compress, zstd.compress, lambda log: _zipped(name, log), _tarred))(data)
        run = self.store.add_log("archive", io.BytesIO(self.damaged(packed) if self.random.random() < 0.8 else packed))
        if self.random.random() < 0.1:
            open_report(run)
        self.store.delete(run)


def main() -> int:
    """Fuzz for the requested time; return 1 if an input raised anything but an error of ours."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    with tempfile.TemporaryDirectory(prefix="compileboard-fuzz-") as name:
        failures = _fuzz(Fuzzer(Path(name), seed), Path(name), seconds)
    return 1 if failures else 0


def _fuzz(fuzzer: Fuzzer, home: Path, seconds: float) -> int:
    """Try damaged inputs until the time is over; return how many failed."""
    counts: Counter[str] = Counter()
    end, slowest = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        data, attempt = fuzzer.damaged_log(), fuzzer.random.choice(fuzzer.tried)
        begun = time.monotonic()
        counts[attempt.__name__] += 1
        try:
            attempt(data)
        except CompileboardError:
            counts["refused"] += 1
        except Exception:
            counts["FAILED"] += 1
            kept = Path(tempfile.gettempdir()) / f"fuzz-{attempt.__name__}-{counts.total()}.log"
            kept.write_bytes(data)
            for name in ("trace.log", "index"):
                if (home / name).exists():
                    shutil.copy(home / name, kept.with_suffix(f".{name}"))
            print(f"{attempt.__name__}: kept {kept}\n{traceback.format_exc()}", flush=True)
        slowest = max(slowest, time.monotonic() - begun)
        assert not list(fuzzer.store.runs_dir.iterdir()), "a run is left"
        assert {path.name for path in home.iterdir()} <= {"home", "trace.log", "index"}, "written outside"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    tell(f"{dict(counts)}, the slowest {slowest:.2f} s, at most {peak} MB")
    return counts["FAILED"]


def _zipped(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def _tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("a/trace.log")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


if __name__ == "__main__":
    sys.exit(main())
