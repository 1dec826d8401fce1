"""The records of a run for a target: compiled kernels, and decisions made without the device."""

from __future__ import annotations

from typing import Any

import msgspec

from core.parsers.draft import ReportDraft
from core.report import Binary, TargetChoice
from core.trace import TraceRecord


def binary(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """One Triton kernel with its configs."""
    draft.compilation(record).binaries.append(msgspec.convert(data, Binary))


def target_choice(draft: ReportDraft, record: TraceRecord, data: dict[str, Any]) -> None:
    """One decision that needs the device."""
    draft.compilation(record).target_choices.append(msgspec.convert(data, TargetChoice))
