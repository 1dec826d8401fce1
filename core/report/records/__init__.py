"""Types of the artifacts `compileboard_<name>`, which the worker adds to the log and the parsers read.

Most are report types. The modules of this package declare the others, which the parsers convert to report types.
"""

from core.report import (
    Autotuning,
    Bisection,
    BitComparison,
    Call,
    CallNumerics,
    Counters,
    Crossing,
    Export,
    GraphNumerics,
    Invocation,
    Neighbour,
    Package,
    PackageRun,
    Pipeline,
    RangeTrial,
    Rival,
    Roofline,
    RunError,
    Script,
    Setting,
    SideTimes,
    TargetChoice,
    Timing,
)
from core.report.record import Emit, Record
from core.report.records.graphs import (
    BytecodeRecord,
    GuardsRecord,
    KeptRecord,
    ModulesRecord,
    PartitionRecord,
    PassesRecord,
    PassRecord,
    StacksRecord,
)
from core.report.records.kernels import BinaryRecord, KernelRecord, ScheduleRecord
from core.report.records.run import (
    EndRecord,
    ExecutionsRecord,
    KernelTimesRecord,
    MemoryRecord,
    NoteRecord,
    SourceRecord,
    StepRecord,
)

SCHEMA = 1
RECORDS: dict[str, type[Record]] = {
    "job": Setting,
    "source": SourceRecord,
    "step": StepRecord,
    "call": Call,
    "note": NoteRecord,
    "script": Script,
    "counters": Counters,
    "error": RunError,
    "end": EndRecord,
    "timing": Timing,
    "rival": Rival,
    "bisection": Bisection,
    "bits": BitComparison,
    "kernel_times": KernelTimesRecord,
    "roofline": Roofline,
    "autotuning": Autotuning,
    "memory": MemoryRecord,
    "bytecode": BytecodeRecord,
    "guards": GuardsRecord,
    "modules": ModulesRecord,
    "stacks": StacksRecord,
    "pass": PassRecord,
    "passes": PassesRecord,
    "partition": PartitionRecord,
    "kept": KeptRecord,
    "schedule": ScheduleRecord,
    "kernel": KernelRecord,
    "binary": BinaryRecord,
    "target_choice": TargetChoice,
    "call_numerics": CallNumerics,
    "graph_numerics": GraphNumerics,
    "pipeline": Pipeline,
    "crossing": Crossing,
    "invocation": Invocation,
    "executions": ExecutionsRecord,
    "export": Export,
    "range_trial": RangeTrial,
    "package": Package,
    "package_run": PackageRun,
    "package_times": SideTimes,
    "neighbour": Neighbour,
}

__all__ = ["RECORDS", "SCHEMA", "Emit", "Record"]
