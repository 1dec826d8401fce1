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
    left_texts, right_texts = _texts(left), _texts(right)
    if not left_texts or not right_texts:
        return None
    pairs = [(next(iter(left_texts)), next(iter(right_texts)))]
    pairs += [(name, name) for name in list(left_texts)[1:] if name in list(right_texts)[1:]]
    return tuple(
        SourceDifference(
            left_name, right_name, diff_texts(left_texts[left_name], right_texts[right_name], left_name, right_name)
        )
        for left_name, right_name in pairs
        if left_texts[left_name] != right_texts[right_name]
    )


def _texts(side: RunSide) -> Mapping[str, str]:
    """Return the files of a run by name without folder, the compiled file first."""
    texts: dict[str, str] = {}
    for source in side.report.sources:
        texts.setdefault(PurePosixPath(source.path).name, _text(side.text(source.payload)))
    return texts


def _text(payload: str) -> str:
    try:
        read = decoded(payload)
    except DecodeError:
        return ""
    return str(read.get("text", "")) if isinstance(read, dict) else ""
