"""Report: one typed value that says everything about a run. Everything before produces it, everything after reads
it.
"""

from core.report.binaries import Binary, Config, TargetChoice
from core.report.codec import as_json, from_json, to_json
from core.report.dynamo import (
    Bytecode,
    GraphBreak,
    Guard,
    GuardCosts,
    GuardFilter,
    Recompile,
    Specialization,
    Symbol,
    SymbolGuard,
)
from core.report.fx import FxNode, TensorMeta
from core.report.guard_family import GuardFamily, guard_family, module_roots
from core.report.memory import AliveMemory, MemoryCurve, MemoryPlace, MemorySide, MemoryUse
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
from core.report.modules import ModulePath, module_path
from core.report.numerics import Accuracy, CallNumerics, GraphNumerics, NodeAccuracy, ResultAccuracy
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
from core.report.run import Call, Counters, Difference, How, Problem, RunError, Setting, Source
from core.report.schedule import Buffer, Direction, FusionRound, Schedule, SchedulerNode
from core.report.sizes import tensor_size
from core.report.text import tensor_text
from core.report.times import Autotuning, Bandwidth, Choice, KernelTime, Load, Rival, Roofline, Timing, WrapperTime

__all__ = [
    "SCHEMA",
    "Accuracy",
    "AliveMemory",
    "Autotuning",
    "Bandwidth",
    "Binary",
    "Buffer",
    "Bytecode",
    "CacheEvent",
    "Call",
    "CallNumerics",
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
    "GraphNumerics",
    "GraphPass",
    "Guard",
    "GuardCosts",
    "GuardFamily",
    "GuardFilter",
    "How",
    "KeptValue",
    "Kernel",
    "KernelCall",
    "KernelTime",
    "Language",
    "Load",
    "MemoryCurve",
    "MemoryPlace",
    "MemorySide",
    "MemoryUse",
    "Module",
    "ModulePath",
    "NodeAccuracy",
    "Partition",
    "PatternMatch",
    "Payload",
    "Phase",
    "Place",
    "Problem",
    "Recompile",
    "Report",
    "ResultAccuracy",
    "Rival",
    "Roofline",
    "RunError",
    "SavedValue",
    "Schedule",
    "SchedulerNode",
    "Setting",
    "Source",
    "Specialization",
    "Stage",
    "Status",
    "Symbol",
    "SymbolGuard",
    "TargetChoice",
    "TensorMeta",
    "Timing",
    "UnchangedPasses",
    "WrapperTime",
    "as_json",
    "from_json",
    "guard_family",
    "module_path",
    "module_roots",
    "tensor_size",
    "tensor_text",
    "to_json",
]
