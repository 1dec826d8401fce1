"""The records that the worker adds to the log, `compileboard_<what>`: what it writes, and what the parsers are given."""

from core.records.base import Emit, Record
from core.records.graphs import (
    GuardsRecord,
    KeptRecord,
    ModulesRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    Saved,
)
from core.records.kernels import (
    BinaryRecord,
    BufferLayout,
    KernelRecord,
    ScheduledNode,
    ScheduleRecord,
    TargetChoiceRecord,
)
from core.records.measured import AutotuningRecord, KernelTimesRecord, RooflineRecord, TimedKernel, TimingRecord
from core.records.run import (
    CallRecord,
    CountersRecord,
    EndRecord,
    ErrorRecord,
    JobRecord,
    NoteRecord,
    SourceRecord,
    StepRecord,
)

SCHEMA = 1

RECORDS: dict[str, type[Record]] = {
    "job": JobRecord,
    "source": SourceRecord,
    "step": StepRecord,
    "call": CallRecord,
    "note": NoteRecord,
    "timing": TimingRecord,
    "kernel_times": KernelTimesRecord,
    "roofline": RooflineRecord,
    "autotuning": AutotuningRecord,
    "counters": CountersRecord,
    "error": ErrorRecord,
    "end": EndRecord,
    "modules": ModulesRecord,
    "pass": PassRecord,
    "passes": PassesRecord,
    "guards": GuardsRecord,
    "partition": PartitionRecord,
    "kept": KeptRecord,
    "schedule": ScheduleRecord,
    "kernel": KernelRecord,
    "binary": BinaryRecord,
    "target_choice": TargetChoiceRecord,
}

__all__ = [
    "RECORDS",
    "SCHEMA",
    "AutotuningRecord",
    "BinaryRecord",
    "BufferLayout",
    "CallRecord",
    "CountersRecord",
    "Emit",
    "EndRecord",
    "ErrorRecord",
    "GuardsRecord",
    "JobRecord",
    "KeptRecord",
    "KernelRecord",
    "KernelTimesRecord",
    "ModulesRecord",
    "NoteRecord",
    "PartitionRecord",
    "PassRecord",
    "PassesRecord",
    "Record",
    "RooflineRecord",
    "Saved",
    "ScheduleRecord",
    "ScheduledNode",
    "SourceRecord",
    "StepRecord",
    "TargetChoiceRecord",
    "TimedKernel",
    "TimingRecord",
]
