"""Compileboard without a screen: compile a model in a process of its own, record it, and read what torch.compile did.

    from core import CompileJob, Model, Runner, Store, open_report, sentence, verdict

    runner = Runner(Store())
    run = runner.wait(runner.submit(CompileJob(Model("sample", "transformer_block"))))
    print(sentence(verdict(open_report(run))))

Nothing here imports torch; the worker that `Runner` starts does.
"""

from core.accelerator.backends import SHIPPED as SHIPPED_BACKENDS
from core.accelerator.backends import ShippedBackend
from core.analysis import Verdict, sentence, speed, verdict
from core.analysis.comparison import RunComparison, RunSide, compare_runs, comparison_sentence
from core.base.decoder import decoded
from core.base.errors import (
    AccessError,
    CompileboardError,
    DecodeError,
    JobError,
    LayoutError,
    ReportError,
    SettingError,
    StoreError,
    ToolError,
    TraceError,
    WorkerError,
)
from core.base.machine import Environment, cpp_compiler
from core.job import (
    BATCH,
    GIB,
    MAX_THREADS,
    MODES,
    STANCES,
    CompileJob,
    CompileOptions,
    Conditions,
    DynamicDim,
    Model,
    Packaging,
    compile_options_as_text,
    compile_options_from_text,
    dims_from_text,
    job_from_json,
    job_to_json,
    options_as_text,
    options_from_text,
    sizes_as_text,
    sizes_from_text,
)
from core.job.arguments import parse_call, tensor_sizes
from core.job.gallery import Sample, sample, samples
from core.job.prepared import FileSettings, file_settings, measured_again
from core.job.targets import TARGETS, Target
from core.ops import op_class
from core.report import Report, as_json, from_json, to_json
from core.runs.engine.local import LocalEngine
from core.runs.engine.opening import open_engine
from core.runs.engine.protocol import Assignment, Engine
from core.runs.limits import Limits, Usage, check_upload, limits_of, usage
from core.runs.packages import package_files
from core.runs.permission import BACKENDS as OPEN_BACKENDS
from core.runs.progress import Progress, is_compiled, progress, step_words
from core.runs.recordings import Recording, recordings
from core.runs.runner import Runner
from core.runs.sides import Comparable, comparable_runs, likeliest, side_of_log, side_of_run
from core.runs.status import Status
from core.runs.store import MOST_NAME_CHARS, MOST_NOTE_CHARS, Run, Store
from core.runs.stored import is_stored, open_graph, open_model, open_report, open_verdict, start_reading
from core.sweep import (
    Axis,
    RecordedSweep,
    Sweep,
    SweepCall,
    SweepRow,
    SweepRunner,
    SweepStanding,
    SweepStore,
    new_sweep,
    parse_axis,
    recorded_sweeps,
)
from core.trace import NO_RECORD
from core.trace.parsers import GrowingReport, build_report, load_graph, load_text

__all__ = [
    "BATCH",
    "GIB",
    "MAX_THREADS",
    "MODES",
    "MOST_NAME_CHARS",
    "MOST_NOTE_CHARS",
    "NO_RECORD",
    "OPEN_BACKENDS",
    "SHIPPED_BACKENDS",
    "STANCES",
    "TARGETS",
    "AccessError",
    "Assignment",
    "Axis",
    "Comparable",
    "CompileJob",
    "CompileOptions",
    "CompileboardError",
    "Conditions",
    "DecodeError",
    "DynamicDim",
    "Engine",
    "Environment",
    "FileSettings",
    "GrowingReport",
    "JobError",
    "LayoutError",
    "Limits",
    "LocalEngine",
    "Model",
    "Packaging",
    "Progress",
    "RecordedSweep",
    "Recording",
    "Report",
    "ReportError",
    "Run",
    "RunComparison",
    "RunSide",
    "Runner",
    "Sample",
    "SettingError",
    "ShippedBackend",
    "Status",
    "Store",
    "StoreError",
    "Sweep",
    "SweepCall",
    "SweepRow",
    "SweepRunner",
    "SweepStanding",
    "SweepStore",
    "Target",
    "ToolError",
    "TraceError",
    "Usage",
    "Verdict",
    "WorkerError",
    "as_json",
    "build_report",
    "check_upload",
    "comparable_runs",
    "compare_runs",
    "comparison_sentence",
    "compile_options_as_text",
    "compile_options_from_text",
    "cpp_compiler",
    "decoded",
    "dims_from_text",
    "file_settings",
    "from_json",
    "is_compiled",
    "is_stored",
    "job_from_json",
    "job_to_json",
    "likeliest",
    "limits_of",
    "load_graph",
    "load_text",
    "measured_again",
    "new_sweep",
    "op_class",
    "open_engine",
    "open_graph",
    "open_model",
    "open_report",
    "open_verdict",
    "options_as_text",
    "options_from_text",
    "package_files",
    "parse_axis",
    "parse_call",
    "progress",
    "recorded_sweeps",
    "recordings",
    "sample",
    "samples",
    "sentence",
    "side_of_log",
    "side_of_run",
    "sizes_as_text",
    "sizes_from_text",
    "speed",
    "start_reading",
    "step_words",
    "tensor_sizes",
    "to_json",
    "usage",
    "verdict",
]
