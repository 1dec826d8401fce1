"""Recorded runs of the gallery, from devices that need not be present.

A file `<device>/<name>.xz` has one line of JSON (`Recording`), and then the log as torch wrote it on the
device. `python -m tests.record_gallery` records all of them again.
"""

import lzma
import re
import shutil
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from core.base.decoder import decoded_as
from core.base.errors import StoreError
from core.job import CompileJob, job_to_json
from core.runs.status import Status
from core.runs.store import Run, Store

RECORDINGS = Path(__file__).parent
MAX_HEADER_BYTES = 2_000_000  #: the header of a recording
# Matches the speedup in a verdict, but not the wall-clock figure, which is another measurement.
SPEEDUP = re.compile(r"(?<!compiled runs )(?<![\d.,])([\d.]+)(?: times|×) (faster|slower)")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run, stored with its log.

    `name` is the file's name, `kind` a short description (`inference`, `training`, `mode max-autotune` …),
    `sentence` the run's verdict. `device` and `torch` are as torch reports them. `recorded_s` is in seconds since
    the epoch; `took_s` is the run's duration in seconds.
    """

    name: str
    kind: str
    sentence: str
    job: CompileJob
    code: str
    device: str
    torch: str
    recorded_s: float
    took_s: float
    peak_memory_bytes: int | None = None

    @property
    def words(self) -> str:
        """Text like `recorded on NVIDIA H200, torch 2.11.0, 2026-11-22`."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self.recorded_s))
        return f"recorded on {self.device}, torch {self.torch.partition('+')[0]}, {day}"

    @property
    def speedup(self) -> float | None:
        """Return eager's time over compiled's from the verdict; None if not in it."""
        match = SPEEDUP.search(self.sentence)
        if match is None:
            return None
        return float(match[1]) if match[2] == "faster" else 1 / float(match[1])

    @property
    def fingerprint(self) -> str:
        """Fingerprint in the status of every run opened from this recording."""
        return f"recording {self.name} {int(self.recorded_s)}"


@cache
def recordings() -> tuple[Recording, ...]:
    """Return all recordings, sorted by name."""
    return tuple(_read_header(path) for path in sorted(RECORDINGS.glob("*/*.xz")))


def recording(name: str) -> Recording:
    """Return the recording with a name; raises StoreError."""
    match = next((recording for recording in recordings() if recording.name == name), None)
    if match is None:
        raise StoreError(f"there is no recording `{name[:80]}`")
    return match


def add_recording(store: Store, name: str, by: str = "") -> Run:
    """Add a recording to a store as a visitor's run; raises StoreError."""
    recorded = recording(name)
    job = recorded.job
    with store.making(job.title()) as fresh:
        (fresh.path / "job.json").write_bytes(job_to_json(job))
        fresh.model_path.write_text(recorded.code, encoding="utf-8")
        with _open(recorded) as source, (fresh.trace_dir / "recorded.log").open("wb") as target:
            source.readline(MAX_HEADER_BYTES)
            shutil.copyfileobj(source, target, 1 << 20)
        now = time.time()
        status = Status(
            "done",
            now,
            started_s=recorded.recorded_s,
            ended_s=recorded.recorded_s + recorded.took_s,
            peak_memory_bytes=recorded.peak_memory_bytes,
            fingerprint=recorded.fingerprint,
            title=job.title(),
            by=by,
            recorded=recorded.words,
        )
        fresh.write_status(status)
    return store.open(fresh.id)


def _open(recording: Recording) -> BinaryIO:
    path = next(RECORDINGS.glob(f"*/{recording.name}.xz"))
    return lzma.open(path, "rb")  # type: ignore[return-value]


def _read_header(path: Path) -> Recording:
    with lzma.open(path, "rb") as file:
        return decoded_as(file.readline(MAX_HEADER_BYTES), Recording)
