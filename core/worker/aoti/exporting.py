"""`torch.export.export` of a run's model, the exported program as text, and the files of its package.

A `.pt2` package is a zip archive with untrusted file names, so none of its files is extracted.
"""

import re
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch.export import Dim, ExportedProgram, ShapesCollection
from torch.utils._pytree import tree_map_only

from core.base.decoder import decoded
from core.base.errors import DecodeError, JobError, ProgramError
from core.job import BATCH, CompileJob, DynamicDim
from core.report import Export, ExportedDim, ExportedValue, PackagedFile, PackagedKind, tensor_text
from core.worker.conditions import Dimension, dimensions
from core.worker.load import Arguments, user_frames

MOST_VALUES = 500  #: inputs and outputs of an exported program
MOST_LINES = 200  #: ranges, and guards, of an exported program
MOST_CHARS = 400  #: a range or guard of an exported program
MOST_PROBLEM_CHARS = 8_000  #: the reason why there is no program, or no package
GUARDS, GUARD = "GuardsFn", "Guard failed: "
TRAINING = (
    "torch.export captures what forward computes, and this run is a training step, whose backward would not be in the "
    "package: run it with training off to package it"
)
FIELD = "aoti.dims"


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """An exported program, its graph as text, its example call, and its dynamic dimensions."""

    program: ExportedProgram
    graph: str
    call: Arguments
    dims: tuple[ExportedDim, ...]

    @property
    def mutates(self) -> bool:
        """True if a call changes the model's state, so that two calls may return different results."""
        return bool(self.program.graph_signature.buffers_to_mutate)


def export_model(job: CompileJob, model: Any, call: Arguments, path: Path) -> tuple[ExportedModel | None, Export]:
    """Export a model with a call's inputs, or record torch's error; raises JobError for dimensions."""
    module = as_module(model)
    start = time.perf_counter()
    shapes, text = None, "torch.export.export(model, args)"
    try:
        shapes = export_shapes(job, module, call)
        text = export_call(call, shapes.text)
        program = torch.export.export(module, *call, dynamic_shapes=shapes.spec)
        seconds = time.perf_counter() - start
        model_export = ExportedModel(program, _graph(program), call, shapes.dims)
        return model_export, _record(model_export, text, seconds)
    except JobError:
        raise
    except Exception as error:
        seconds = time.perf_counter() - start
        dims = shapes.dims if shapes else ()
        frames = user_frames((path,), error)
        return None, Export(call=text, seconds=seconds, dims=dims, problem=words_of(error), frames=frames)


def as_module(model: Any) -> torch.nn.Module:
    """Return the module for torch.export: the module itself, uncompiled, or a wrapper around a function."""
    model = uncompiled(model)
    return model if isinstance(model, torch.nn.Module) else _Function(model)


def uncompiled(model: Any) -> Any:
    """Return the original model or function of a result of torch.compile; any other callable unchanged."""
    return getattr(model, "_orig_mod", getattr(model, "_torchdynamo_orig_callable", model))


class _Function(torch.nn.Module):
    """A module that has a function as its `forward`, and so has the function's signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


def words_of(error: BaseException) -> str:
    """Return an exception's type and message."""
    return f"{type(error).__name__}: {error}"[:MOST_PROBLEM_CHARS]


def export_call(call: Arguments, shapes: str) -> str:
    """Return the call of torch.export.export as source text; `shapes` is the text of `dynamic_shapes`."""
    kwargs = ["kwargs"] if call[1] else []
    shape_arguments = [f"dynamic_shapes={shapes}"] if shapes else []
    return f"torch.export.export({', '.join(['model', 'args', *kwargs, *shape_arguments])})"[: 4 * MOST_CHARS]


def _record(model_export: ExportedModel, text: str, seconds: float) -> Export:
    program = model_export.program
    nodes = [node for node in program.graph.nodes if node.op.startswith("call_")]
    values = list(_values(program))
    ranges = [f"{symbol}: {bounds}" for symbol, bounds in program.range_constraints.items()]
    return Export(
        call=text,
        seconds=seconds,
        dims=model_export.dims,
        nodes=len(nodes),
        targets=dict(Counter(str(node.target)[:MOST_CHARS] for node in nodes)),
        values=tuple(values[:MOST_VALUES]),
        left_out=max(0, len(values) - MOST_VALUES),
        ranges=tuple(line[:MOST_CHARS] for line in ranges[:MOST_LINES]),
        guards=tuple(_guards(program)[:MOST_LINES]),
    )


def _graph(program: ExportedProgram) -> str:
    text: str = program.graph_module.print_readable(print_output=False, include_stride=True, include_device=True)
    return text


def _values(program: ExportedProgram) -> Iterator[ExportedValue]:
    """Yield the inputs and outputs in the program's signature, with dtype and sizes of tensors as text."""
    nodes = {node.name: node for node in program.graph.nodes}
    signature = program.graph_signature
    for spec in (*signature.input_specs, *signature.output_specs):
        name = str(getattr(spec.arg, "name", ""))
        value = nodes[name].meta.get("val") if name in nodes else getattr(spec.arg, "value", None)
        target = "" if spec.target is None else str(spec.target)
        yield ExportedValue(name[:MOST_CHARS], spec.kind.name.lower(), target[:MOST_CHARS], _value_text(value))


def _value_text(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return tensor_text(str(value.dtype), [str(size) for size in value.shape])
    return "" if value is None else str(value)[:MOST_CHARS]


def _guards(program: ExportedProgram) -> list[str]:
    """Return the program's assertions on its inputs, which torch stores only as messages in a function."""
    checks = [module.forward for module in program.module().modules() if type(module).__name__ == GUARDS]
    texts = [text for check in checks for text in _constants(check)]
    guards = [text.removeprefix(GUARD) for text in texts if isinstance(text, str) and text.startswith(GUARD)]
    return [" ".join(text.split())[:MOST_CHARS] for text in guards]


def _constants(function: Any, depth: int = 3) -> Iterator[Any]:
    """Yield the constants of a function and of the functions that it wraps."""
    yield from getattr(getattr(function, "__code__", None), "co_consts", ())
    for cell in getattr(function, "__closure__", None) or () if depth else ():
        yield from _constants(cell.cell_contents, depth - 1)


@dataclass(frozen=True, slots=True)
class ExportShapes:
    """The dimensions for the report, and the `dynamic_shapes` argument of torch.export.

    `spec` is the argument, None if all dimensions are static. `text` is the argument as Python source.
    """

    dims: tuple[ExportedDim, ...]
    spec: Any
    text: str


def export_shapes(job: CompileJob, model: torch.nn.Module, call: Arguments) -> ExportShapes:
    """Return the dynamic dimensions of a call.

    Raises JobError for a dimension that does not exist or has several sizes, and for bounds that torch rejects.
    """
    exported: list[ExportedDim] = []
    shapes: dict[int, tuple[torch.Tensor, dict[int, Any]]] = {}
    texts: dict[str, str] = {}
    for requested in _requested_dims(job):
        places = tuple(requested.at.split("+"))
        matches = [dimension for place in places for dimension in dimensions(call, place, FIELD)]
        dim = _dim(requested)
        texts[dim.__name__] = _text(requested)
        exported.append(
            ExportedDim(
                dim.__name__, places, _text(requested), _size(requested, matches), requested.least, requested.most
            )
        )
        for dimension in matches:
            shapes.setdefault(id(dimension.tensor), (dimension.tensor, {}))[1][dimension.index] = dim
    if not exported:
        return ExportShapes((), None, "")
    collected = ShapesCollection()
    for tensor, dims in shapes.values():
        collected[tensor] = dims
    spec = collected.dynamic_shapes(model, *call)
    return ExportShapes(tuple(exported), spec, _written(spec, texts))


def _requested_dims(job: CompileJob) -> tuple[DynamicDim, ...]:
    """Return the job's dimensions for export, then its other marked dimensions, without bounds."""
    dims = job.aoti.dims if job.aoti is not None else ()
    bounded = {place for dim in dims for place in dim.at.split("+")}
    return (*dims, *(DynamicDim(at) for at in dict.fromkeys(job.marks) if at not in bounded))


def _name(requested: DynamicDim) -> str:
    first = requested.at.split("+")[0]
    return BATCH if first == BATCH else re.sub(r"\W", "_", f"dim_{first}")


def _dim(requested: DynamicDim) -> Any:
    bounds = {"min": requested.least, "max": requested.most}
    try:
        return Dim(_name(requested), **{name: bound for name, bound in bounds.items() if bound is not None})
    except (AssertionError, ValueError) as error:
        raise JobError(FIELD, f"torch does not take `{requested.text}`: {error}") from None


def _text(requested: DynamicDim) -> str:
    bounds = [("min", requested.least), ("max", requested.most)]
    limits = [f"{name}={bound}" for name, bound in bounds if bound is not None]
    return f"Dim({', '.join([repr(_name(requested)), *limits])})"


def _size(requested: DynamicDim, matches: Sequence[Dimension]) -> int:
    sizes = {int(dimension.tensor.shape[dimension.index]) for dimension in matches}
    if len(sizes) != 1:
        size_words = " and ".join(map(str, sorted(sizes)))
        raise JobError(FIELD, f"`{requested.at}` has sizes {size_words}, and a Dim stands for one")
    return sizes.pop()


def _written(spec: Any, texts: Mapping[str, str]) -> str:
    """Return `dynamic_shapes` as Python source."""
    return repr(tree_map_only(object, lambda dim: _DimsText(texts.get(getattr(dim, "__name__", ""), repr(dim))), spec))


class _DimsText(str):
    """A text whose repr has no quotes, so that it can be nested in another value's repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


MOST_FILES = 2_000  #: limit: files of a package
MOST_TEXT_BYTES = 2_000_000  #: limit: a text in a package
MOST_TEXTS_BYTES = 16_000_000  #: all texts of a package
MOST_NAME_CHARS = 400  #: a name in a package
MOST_METADATA = 200  #: entries of a package's metadata
MOST_VALUE_CHARS = 2_000  #: a value in a package's metadata
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".json": "json", ".s": "asm", ".S": "asm", ".txt": "text"}
KINDS: dict[str, PackagedKind] = {
    ".wrapper.cpp": "wrapper",
    ".kernel.cpp": "kernels",
    ".cpp": "wrapper",
    ".so": "library",
    ".cubin": "binary",
    ".hsaco": "binary",
    ".spv": "binary",
    ".o": "object",
    ".S": "object",
    ".bin": "weights",
    ".json": "metadata",
}
# Errors that `zipfile` raises for a file that is damaged or not an archive.
DAMAGED = (OSError, zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, EOFError)
# Files that torch writes about the archive itself.
OF_THE_ARCHIVE = ("archive_format", "archive_version", "byteorder", "version", "serialization_id")


@dataclass(frozen=True, slots=True)
class ArchiveText:
    """A text in a package."""

    name: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Archive:
    """Contents of a package: its files, the number of further files, texts, and metadata."""

    files: tuple[PackagedFile, ...]
    left_out: int = 0
    texts: tuple[ArchiveText, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)


def open_archive(path: Path) -> Archive:
    """Return the contents of a package; raises ProgramError if the file is not a package."""
    try:
        with zipfile.ZipFile(path) as package:
            entries = [info for info in package.infolist() if not info.is_dir()]
            texts = tuple(_texts(package, entries[:MOST_FILES]))
    except DAMAGED as error:
        raise ProgramError(f"{path.name} is no package: {error}") from None
    files = tuple(
        PackagedFile(_file_name(info), kind_of(_file_name(info)), info.file_size, info.CRC) for info in entries
    )
    return Archive(files[:MOST_FILES], max(0, len(entries) - MOST_FILES), texts, _metadata(texts))


def kind_of(name: str) -> PackagedKind:
    """Return the kind of a file in a package, by its name."""
    last = PurePosixPath(name).name
    if last in OF_THE_ARCHIVE:
        return "metadata"
    if last.startswith(("weight_", "weights_", "tensor_")):
        return "weights"
    return next((kind for ending, kind in KINDS.items() if last.endswith(ending)), "other")


def _file_name(info: zipfile.ZipInfo) -> str:
    return info.filename[:MOST_NAME_CHARS]


def _texts(package: zipfile.ZipFile, files: list[zipfile.ZipInfo]) -> Iterator[ArchiveText]:
    """Yield the package's texts in order, uncut, up to a total size."""
    left = MOST_TEXTS_BYTES
    for info in files:
        name = _file_name(info)
        language = LANGUAGES.get(PurePosixPath(name).suffix, "text" if kind_of(name) == "metadata" else "")
        most = min(left, MOST_TEXT_BYTES)
        if not language or info.file_size > most:
            continue
        with package.open(info) as file:
            data = file.read(most + 1)
        if len(data) <= most:
            left -= len(data)
            yield ArchiveText(name, language, data.decode("utf-8", "replace"))


def _metadata(texts: tuple[ArchiveText, ...]) -> dict[str, str]:
    """Return the entries that AOTInductor wrote into files whose names end with `metadata.json`, by key."""
    metadata: dict[str, str] = {}
    for text in texts:
        if text.name.endswith("metadata.json"):
            metadata.update(_pairs(text.text))
    return dict(list(metadata.items())[:MOST_METADATA])


def _pairs(text: str) -> dict[str, str]:
    try:
        data = decoded(text)
    except DecodeError:
        return {}
    pairs = data.items() if isinstance(data, Mapping) else ()
    return {str(name)[:MOST_NAME_CHARS]: str(value)[:MOST_VALUE_CHARS] for name, value in pairs}
