"""User source files of two runs, compared file by file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.analysis.comparison.sides import RunSide
from core.base.decoder import decoded
from core.base.errors import DecodeError
from core.code import TextDiff, diff_texts


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """A file whose text differs between the runs, with its name in each run."""

    left: str
    right: str
    diff: TextDiff


def source_differences(left: RunSide, right: RunSide) -> tuple[SourceDifference, ...] | None:
    """Return the files that differ; None if a log does not contain the code.

    Compares the compiled file, whatever its name, and the other files that both logs contain.
    """
    one, other = _texts(left), _texts(right)
    if not one or not other:
        return None
    pairs = [(next(iter(one)), next(iter(other)))]
    pairs += [(name, name) for name in list(one)[1:] if name in list(other)[1:]]
    return tuple(
        SourceDifference(here, there, diff_texts(one[here], other[there], here, there))
        for here, there in pairs
        if one[here] != other[there]
    )


def _texts(side: RunSide) -> Mapping[str, str]:
    """Return the files of a run by name without folder, the compiled file first."""
    found: dict[str, str] = {}
    for source in side.report.sources:
        found.setdefault(PurePosixPath(source.path).name, _text(side.text(source.payload)))
    return found


def _text(payload: str) -> str:
    try:
        read = decoded(payload)
    except DecodeError:
        return ""
    return str(read.get("text", "")) if isinstance(read, dict) else ""
