"""Profile by torch.profiler beside a run's log: stored as the file that it came in, joined to the log when shown."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

from core.analysis.profile import JoinedProfile, join_profile
from core.base.errors import StoreError, TraceError
from core.base.files import in_words, writing
from core.base.words import gib
from core.report import Report
from core.runs.store import Run
from core.trace.profile import MOST_PROFILE_BYTES, read_profile

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
