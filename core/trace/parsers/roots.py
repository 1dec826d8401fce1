"""Compilations without a frame of Dynamo: exports, packages ahead of time, compiled autograd, Inductor alone.

Torch logs their records without a compile id, or with the id `!0` of compiled autograd. An exported program ends the
export that was traced before it.
"""

from __future__ import annotations

from core.report import Frame
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.inductor import fx_graph

EXPORT_ID = "export"
EXPORT = "export"
PACKAGE = "AOTInductor"
AHEAD_OF_TIME = "compile_fx_aot"
DUMPS = "graphs"
_program = fx_graph("exported_program")


def exported_program(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the program that `torch.export` returned; the symbols before it are those of its tracing."""
    if record.compile_id:
        _program(draft, record)
        return
    traced = draft.compilations.get("")
    if traced is not None and (traced.graphs or traced.kernels):
        draft.close_root(traced.id)
    _program(draft, record)
    draft.close_root(EXPORT_ID)


def is_root(compilation: CompilationDraft) -> bool:
    """Return True for a compilation without a frame that has something to show."""
    return bool(compilation.graphs or compilation.kernels or compilation.exported)


def root_frame(draft: ReportDraft, compilation: CompilationDraft) -> Frame:
    """Return the frame of a compilation without one: its name says what was compiled."""
    return Frame("", 0, _kind(draft, compilation))


def _kind(draft: ReportDraft, compilation: CompilationDraft) -> str:
    stages = {graph.stage for graph in compilation.graphs}
    if compilation.id.startswith("!"):
        return f"compiled autograd {compilation.id}"
    if "exported_program" in stages:
        return EXPORT
    if compilation.packaged or (stages - {"dumped"} and any(phase.name == AHEAD_OF_TIME for phase in draft.phases)):
        return PACKAGE
    if compilation.kernels or any(graph.lowered for graph in compilation.graphs):
        return "Inductor"
    if any(stage.startswith("aot_") for stage in stages):
        return "AOTAutograd"
    return EXPORT if compilation.exported else DUMPS
