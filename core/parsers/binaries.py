"""The records of a run for a target: compiled kernels, and decisions made without the device."""

from __future__ import annotations

from core.parsers.draft import ReportDraft
from core.parsers.typed import reported
from core.records.kernels import BinaryRecord, TargetChoiceRecord
from core.report import Binary, TargetChoice
from core.trace import TraceRecord


def binary(draft: ReportDraft, record: TraceRecord, said: BinaryRecord) -> None:
    """One Triton kernel with its configs."""
    draft.compilation(record).binaries.append(reported(Binary, said))


def target_choice(draft: ReportDraft, record: TraceRecord, said: TargetChoiceRecord) -> None:
    """One decision that needs the device."""
    draft.compilation(record).target_choices.append(reported(TargetChoice, said))
