"""Parsers of Inductor's records: output code, and the provenance of its kernels."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.base.decoder import whole
from core.code import output_code
from core.report import Frame, Kernel, KernelCall
from core.report.schedule import Direction
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, OutputCode, ReportDraft

STACK_LINE = re.compile(r'File "(.*?)", line (\d{1,9}), in (\S+)\n\s*(.*)')


def inductor_output_code(draft: ReportDraft, record: TraceRecord) -> None:
    """Read the generated module: its kernels, and the direction of the graphs before it."""
    compilation = draft.compilation(record)
    text = draft.text(record)
    direction = output_code.direction(text)
    compilation.direct(direction)
    graph = next((g.id for g in reversed(compilation.graphs) if g.lowered), "")
    if isinstance(record.body, dict) and record.body.get("filename"):
        code = OutputCode(compilation.id, record.offset, direction)
        draft.output_codes.setdefault(str(record.body["filename"]), code)
    compilation.newest_kernels = len(compilation.kernels)
    for definition in output_code.find_kernels(text):
        compilation.kernels.append(_kernel(draft, record, compilation, definition, direction, graph))


def _kernel(
    draft: ReportDraft,
    record: TraceRecord,
    compilation: CompilationDraft,
    definition: output_code.FoundKernel,
    direction: Direction,
    graph: str,
) -> Kernel:
    nodes = [
        name
        for note in compilation.kernel_notes
        if note.direction == direction and _belongs(note.name, note.handle, definition)
        for name in note.nodes
    ]
    suffix = f"#{definition.first}" if definition.extern else ""
    kernel_id = f"{compilation.id}.{direction or 'graph'}.{definition.name}{suffix}"
    compilation.handles[kernel_id] = tuple(definition.handles)
    return Kernel(
        id=kernel_id,
        name=definition.name,
        direction=direction,
        language=definition.language,
        extern=definition.extern,
        category=definition.category,
        graph=graph,
        origins=(),
        nodes=tuple(dict.fromkeys(nodes)),
        lines=(definition.first, definition.last),
        calls=tuple(map(KernelCall, definition.calls)),
        stacks=(),
        output_code=draft.payload(record),
    )


def _belongs(name: str, handle: int | None, definition: output_code.FoundKernel) -> bool:
    if definition.extern:
        return handle in definition.handles
    return name == definition.name


def node_mappings(draft: ReportDraft, record: TraceRecord) -> None:
    """Set the FX nodes that each kernel of the newest output code came from, by torch's provenance tracking."""
    data = draft.reader.json(record)
    if not isinstance(data, dict):
        return
    mapping = {**_lists(data.get("cppCodeToPost")), **_lists(data.get("pyCodeToPost"))}

    def fill(kernel: Kernel, keys: list[str]) -> Kernel:
        origins = (name for key in keys for name in mapping.get(key, ()))
        return replace(kernel, origins=tuple(dict.fromkeys(origins)))

    _fill(draft, record, fill, list(mapping))


def kernel_stack_traces(draft: ReportDraft, record: TraceRecord) -> None:
    """Set the user's lines behind each kernel of the newest output code."""
    data = draft.reader.json(record)
    if not isinstance(data, dict):
        return
    stacks = _lists(data)

    def fill(kernel: Kernel, keys: list[str]) -> Kernel:
        return replace(kernel, stacks=_frames([text for key in keys for text in stacks.get(key, ())]))

    _fill(draft, record, fill, list(stacks))


def _fill(
    draft: ReportDraft, record: TraceRecord, fill: Callable[[Kernel, list[str]], Kernel], keys: list[str]
) -> None:
    """Apply `fill` to the newest kernels, each with its keys: `name:handle`, or `name` without handles.

    A generated kernel owns every key of its name; an extern kernel's name recurs, so its debug handle decides.
    """
    compilation = draft.compilation(record)
    if compilation.newest_kernels == len(compilation.kernels):
        draft.unplaced(record)
    by_name: dict[str, list[str]] = {}
    by_handle: dict[int, str] = {}
    for key in keys:
        name, _, handle = key.rpartition(":")
        by_name.setdefault(name if handle.isdecimal() else key, []).append(key)
        if handle.isdecimal():
            by_handle[whole(handle)] = key
    for index in range(compilation.newest_kernels, len(compilation.kernels)):
        kernel = compilation.kernels[index]
        mine = by_name.get(kernel.name, [])
        if kernel.extern:
            handles = compilation.handles.get(kernel.id, ())
            mine = [by_handle[handle] for handle in handles if handle in by_handle]
        compilation.kernels[index] = fill(kernel, mine)


def _lists(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        return {}
    return {str(key): [str(name) for name in items] for key, items in value.items() if isinstance(items, list)}


def _frames(texts: list[str]) -> tuple[Frame, ...]:
    frames = [
        Frame(file, int(line), name, code.strip())
        for text in texts
        for file, line, name, code in STACK_LINE.findall(text)
    ]
    return tuple(dict.fromkeys(frames))
