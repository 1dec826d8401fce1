"""Report: one typed value that says everything about a run. Everything before produces it, everything after reads
it.
"""

from core.report.binaries import Binary, Config, TargetChoice
from core.report.codec import as_json, from_json, to_json
from core.report.dynamo import Bytecode, GraphBreak, Guard, Recompile, Symbol
from core.report.fx import FxNode, TensorMeta
from core.report.model import (
    SCHEMA,
    CacheEvent,
    Compilation,
    FxGraph,
    Kernel,
    KernelCall,
    Language,
    Phase,
    Report,
    Stage,
    Status,
)
from core.report.passes import (
    Decision,
    GraphPass,
    KeptValue,
    Partition,
    PatternMatch,
    SavedValue,
    UnchangedPasses,
)
from core.report.places import Frame, Module, Payload, Place
from core.report.run import Call, Counters, Difference, Problem, RunError, Setting, Source
from core.report.schedule import Buffer, Direction, FusionRound, Schedule, SchedulerNode
from core.report.sizes import tensor_size
from core.report.text import tensor_text
from core.report.times import Autotuning, Bandwidth, Choice, KernelTime, Load, Roofline, Timing, WrapperTime

__all__ = [
    "SCHEMA",
    "Autotuning",
    "Bandwidth",
    "Binary",
    "Buffer",
    "Bytecode",
    "CacheEvent",
    "Call",
    "Choice",
    "Compilation",
    "Config",
    "Counters",
    "Decision",
    "Difference",
    "Direction",
    "Frame",
    "FusionRound",
    "FxGraph",
    "FxNode",
    "GraphBreak",
    "GraphPass",
    "Guard",
    "KeptValue",
    "Kernel",
    "KernelCall",
    "KernelTime",
    "Language",
    "Load",
    "Module",
    "Partition",
    "PatternMatch",
    "Payload",
    "Phase",
    "Place",
    "Problem",
    "Recompile",
    "Report",
    "Roofline",
    "RunError",
    "SavedValue",
    "Schedule",
    "SchedulerNode",
    "Setting",
    "Source",
    "Stage",
    "Status",
    "Symbol",
    "TargetChoice",
    "TensorMeta",
    "Timing",
    "UnchangedPasses",
    "WrapperTime",
    "as_json",
    "from_json",
    "tensor_size",
    "tensor_text",
    "to_json",
]
