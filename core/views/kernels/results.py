"""Results of kernel tools as blocks, and the tensor elements that a program accesses."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from core.base import words as fmt
from core.code.cpp import Loop
from core.code.diff import without_locations
from core.code.stages import Resources
from core.code.torch_source import stage_landmark
from core.report import Autotuning
from core.runs.tools.tasks import (
    Answer,
    AssemblyAnswer,
    CachedFile,
    ConfigFigures,
    ConfigsAnswer,
    InterpretAnswer,
    LadderAnswer,
    PassChange,
    PassesAnswer,
    ReproduceAnswer,
    Rung,
    TouchedElements,
    Trouble,
)
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Drawn,
    Listing,
    PageBlock,
    Picks,
    Table,
    Text,
    folded,
    paragraph,
    spans,
)
from core.views.glossary import place_of
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose, quoted, short
from core.views.texts import SourceView

__all__ = ["Answer", "AssemblyAnswer", "LadderAnswer", "Rung", "TouchedView", "Trouble", "result_blocks"]
# Titles of the rungs, by Triton's names.
RUNGS = {
    "python": "Triton Python",
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "sass": "SASS",
    "amdgcn": "AMDGCN",
    "cpp": "C++",
    "asm": "assembly",
}
MLIR = ("ttir", "ttgir")
MOST_OUTLINED = 12  #: functions of OpenMP regions that are named
CELLS = 192
WRAP = 64
LADDER, PASSES, CONFIGS, ASSEMBLY = "ladder", "passes", "configs", "assembly"
COMPILING = "Compiling…"


# Parts that the dashboard draws by hand.
CODES, FILE, TOUCHED = "rungs", "file", "touched"


def result_blocks(
    answer: Answer, autotuning: Autotuning | None = None, key: str = "", picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield the result of a kernel tool, or its error with its output.

    `autotuning` has the times of the run's autotuning. `key` is a name for the kernel with the tool's settings.
    """
    match answer:
        case LadderAnswer():
            yield from _ladder(answer)
        case PassesAnswer():
            yield from _passes(answer, f"passes-{key}", picks)
        case ConfigsAnswer():
            yield from _configs(answer, autotuning)
        case AssemblyAnswer():
            yield from _assembly(answer)
        case ReproduceAnswer():
            ended = f"It ended with exit code {answer.exit_code}."
            is_same = answer.exit_code == 0
            yield from paragraph("It ran, and all compared results equal eager." if is_same else ended, _tone(is_same))
            yield _printed("Output", answer.output or "It printed nothing.")
        case InterpretAnswer():
            yield from _interpretation(answer)
        case Trouble():
            yield from paragraph(plain(answer.message, LONGEST_TEXT), "bad")
            yield from folded("What it printed", [_printed("Output", answer.detail)] if answer.detail.strip() else [])


def _tone(is_same: bool | None) -> str:
    return "" if is_same is None else "ok" if is_same else "bad"


def _printed(title: str, text: str) -> Listing:
    return Listing(title, Code(text, "text"), is_open=True)


def rungs(answer: Answer) -> dict[str, Rung]:
    """Return the rungs of a Triton or C++ kernel by name, the source first; empty for other results."""
    if isinstance(answer, AssemblyAnswer):
        lines = {number: number for number in range(1, answer.source.count("\n") + 2)}
        return {"cpp": Rung("cpp", answer.source, lines), "asm": answer.assembly}
    return {rung.name: rung for rung in answer.rungs} if isinstance(answer, LadderAnswer) else {}


def rung_text(answer: Answer, name: str) -> str | None:
    """Return a rung's text for a diff; MLIR loses its debug locations. None if the rung is missing."""
    rung = rungs(answer).get(name)
    if rung is None:
        return None
    return without_locations(rung.text) if name in MLIR else rung.text


def _codes(answer: LadderAnswer | AssemblyAnswer) -> Drawn:
    listings = (Listing(RUNGS.get(name, name), Code(rung.text, "text")) for name, rung in rungs(answer).items())
    return Drawn(CODES, tuple(listings), (answer,))


def file_texts(answer: LadderAnswer) -> dict[str, str]:
    """Return the texts of the files in Triton's cache and of the rungs, by title."""
    files = {file.name: file.text for file in answer.files if file.text}
    return files | {f"{rung.name}, as above": rung.text for rung in answer.rungs}


def _ladder(answer: LadderAnswer) -> Iterator[PageBlock]:
    resources = resource_words(answer.resources)
    yield from paragraph(prose(f"Compiled for {short(answer.target)} on this machine; not run. {resources}"), "quiet")
    yield from paragraph(plain(answer.problem, LONGEST_TEXT), "warn")
    yield _codes(answer)
    stages, is_amd = tuple(answer.stage_us.items()), "amdgcn" in answer.stage_us
    columns: tuple[Column[tuple[str, float]], ...] = (
        Column("stage", lambda stage: f"make_{stage[0]}"),
        Column("time", lambda stage: stage[1] / 1e6, fmt.duration_s),
        Column("source", lambda stage: place_of(stage_landmark(stage[0], is_amd))),
    )
    total = fmt.duration_s(sum(answer.stage_us.values()) / 1e6)
    yield from folded(f"Triton's stages: {total}", [Table("stages", columns, stages)] if stages else [])
    texts = tuple(Listing(file.name, Code(file.text, "text")) for file in answer.files if file.text)
    files = Table("files", FILES, answer.files)
    title = f"{fmt.count(len(answer.files), 'file')} that Triton cached"
    yield from folded(title, [files, Drawn(FILE, texts, (answer,))])


def resource_words(resources: Resources | None) -> str:
    """Return registers, spills, shared memory and occupancy in one sentence."""
    if resources is None:
        return "Its registers and shared memory were not reported."
    parts = [
        f"{fmt.count(resources.registers or 0, 'register')} a thread",
        _spill_words(resources),
        f"{fmt.bytes_(resources.shared_bytes)} of shared memory a block",
    ]
    if resources.occupancy is not None:
        parts.append(f"theoretical occupancy {fmt.percent(resources.occupancy)}")
    return ", ".join(parts) + "."


def _spill_words(resources: Resources) -> str:
    sizes = {"stores": resources.spill_store_bytes, "loads": resources.spill_load_bytes}
    if not any(size is not None for size in sizes.values()):
        return "spills not reported"
    spills = [f"{fmt.bytes_(size)} of spill {name}" for name, size in sizes.items() if size]
    return " and ".join(spills) or "no spills"


def _passes(answer: PassesAnswer, name: str, picks: Picks) -> Iterator[PageBlock]:
    changed = fmt.count(len(answer.changes) + answer.left_out, "pass", "passes")
    target = prose(short(answer.target))
    yield from paragraph(
        f"{changed} of {answer.ran} changed the module, compiled for {target}. Debug locations are left out.", "quiet"
    )
    if answer.changes:
        table = Table(name, PASS_COLUMNS, answer.changes, pick="Select a pass to see its changes.")
        chosen = picks.row(name, answer.changes) or answer.changes[0]
        diff = Listing(f"{chosen.name} ({chosen.argument})", Code(chosen.diff, "diff"), is_open=True)
        more = SourceView.more_lines(chosen.left_out) if chosen.left_out else ""
        yield Beside((table,), (diff, *paragraph(more, "quiet")), shares=(3, 7))


def _configs(answer: ConfigsAnswer, autotuning: Autotuning | None) -> Iterator[PageBlock]:
    times = {choice.name: choice for choice in autotuning.choices} if autotuning else {}
    timed = "times are those of the run's autotuning" if times else "not timed: the device is not present"
    count = fmt.count(len(answer.configs), "config")
    yield from paragraph(f"{count} for {prose(short(answer.target))}; {timed}.", "quiet")
    columns: tuple[Column[tuple[int, ConfigFigures]], ...] = (
        Column("config", lambda row: row[0], fmt.number),
        Column("", lambda row: "chosen" if row[1].name in times and times[row[1].name].chosen else ""),
        Column("settings", lambda row: row[1].words),
        Column("time", lambda row: times[row[1].name].time_s if row[1].name in times else None, fmt.duration_s),
        *CONFIG_RESOURCES,
        Column("problem", lambda row: row[1].problem),
    )
    yield Table("configs", columns, tuple(enumerate(answer.configs)))


def _assembly(answer: AssemblyAnswer) -> Iterator[PageBlock]:
    vectorised = fmt.number(sum(loop.kind != "scalar" for loop in answer.loops))
    regions = f"{fmt.count(len(answer.outlined), 'OpenMP region')} outlined" if answer.outlined else "no OpenMP region"
    loops = fmt.count(len(answer.loops), "loop")
    yield from paragraph(f"{vectorised} of {loops} vectorised; {regions}.", "quiet")
    yield _codes(answer)
    yield from folded("The compiler's command", [_printed("Command", answer.command)])
    names = ", ".join(map(quoted, answer.outlined[:MOST_OUTLINED]))
    yield from paragraph(prose(f"OpenMP regions as functions: {names}") if names else "", "quiet")


def line_notes(answer: AssemblyAnswer) -> dict[int, str]:
    """Return notes by line of the source: loops and OpenMP regions."""
    notes = {loop.line: loop_words(loop) for loop in answer.loops}
    return notes | {region.line: f"OpenMP: {region.pragma.removeprefix('omp ')}" for region in answer.regions}


def loop_words(loop: Loop) -> str:
    """Return in words how a loop was vectorised, or why it was not."""
    tail = "tail: " if loop.tail else ""
    if loop.kind == "scalar":
        return f"{tail}not vectorised: {loop.words}"
    width = f"{loop.width_bytes}-byte vectors" if loop.width_bytes else "vectors of unknown width"
    how = "written as" if loop.kind == "explicit" else "by the compiler:"
    return f"{tail}vectorised with {width}, {how} {loop.words}"


def _interpretation(answer: InterpretAnswer) -> Iterator[PageBlock]:
    program = ", ".join(map(str, answer.program[: max(1, len(answer.grid))]))
    grid = " × ".join(map(str, answer.grid))
    where = f"in Triton's interpreter on the CPU: program {program} of a grid of {grid}."
    yield from paragraph(prose(f"{quoted(answer.kernel)} {where}"), "quiet")
    yield from paragraph(plain(answer.words, LONGEST_TEXT), _tone(answer.same))
    tensors = [TouchedView(tensor) for tensor in answer.tensors]
    yield Drawn(TOUCHED, tuple(Text(spans(tensor.title)) for tensor in tensors), (tensors,))
    printed = [_printed("Output", answer.output)] if answer.output.strip() else []
    yield from folded("What the script printed", printed)


@dataclass(frozen=True, slots=True)
class TouchedView:
    """A tensor argument and its touched elements."""

    tensor: TouchedElements

    @property
    def title(self) -> str:
        """Name, dtype and shape in torch's notation, and numbers of loads and stores, as Markdown."""
        tensor = self.tensor
        loads, stores = fmt.count(tensor.loads, "load"), fmt.count(tensor.stores, "store")
        accesses = " and ".join([loads] * bool(tensor.loads) + [stores] * bool(tensor.stores)) or "untouched"
        value = f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"
        return f"{code(tensor.name)} {code(value)}: {accesses}"

    @property
    def axes(self) -> tuple[str, str]:
        """Titles of both axes of the picture."""
        flat = len(self.tensor.shape) < 2
        return ("elements", f"wrapped after {WRAP}") if flat else ("last dimension", "rows")

    @property
    def cells(self) -> list[list[int]]:
        """The tensor as rows of cells: 1 for loaded, 2 for stored, 3 for both, 0 for neither.

        Elements share a cell if there are too many.
        """
        rows, columns = _plane(self.tensor.shape)
        down, across = -(-rows // CELLS), -(-columns // CELLS)
        table = [[0] * -(-columns // across) for _ in range(-(-rows // down))]
        for offsets, bit in ((self.tensor.loaded, 1), (self.tensor.stored, 2)):
            for offset in offsets:
                row, column = divmod(_index(offset, self.tensor), columns)
                if 0 <= row < rows:
                    table[row // down][column // across] |= bit
        return table


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns to draw: the last dimension across, a single dimension wrapped."""
    if len(shape) < 2:
        size = prod(shape)
        return -(-size // WRAP) or 1, min(WRAP, max(1, size))
    return max(1, prod(shape[:-1])), max(1, shape[-1])


def _index(offset: int, tensor: TouchedElements) -> int:
    """Return the logical index of an offset into the storage; -1 for an offset between the elements."""
    rest, coordinates = offset, [0] * len(tensor.shape)
    for axis in sorted(range(len(tensor.shape)), key=lambda axis: -tensor.stride[axis]):
        if tensor.stride[axis]:
            coordinates[axis], rest = divmod(rest, tensor.stride[axis])
    if rest or any(not 0 <= at < size for at, size in zip(coordinates, tensor.shape, strict=True)):
        return -1
    index = 0
    for at, size in zip(coordinates, tensor.shape, strict=True):
        index = index * size + at
    return index


FILES: tuple[Column[CachedFile], ...] = (
    Column("file", lambda file: file.name),
    Column("size", lambda file: file.size_bytes, fmt.bytes_),
)
PASS_COLUMNS: tuple[Column[PassChange], ...] = (
    Column("pass", lambda change: one_line(change.name, LONGEST_NAME)),
    Column("+", lambda change: change.added, fmt.number),
    Column("−", lambda change: change.removed, fmt.number),
)


def _resource(name: str, field: str, unit: Callable[[Any], str], help: str = "") -> Column[tuple[int, ConfigFigures]]:
    return Column(name, lambda row: getattr(row[1].resources, field, None), unit, help)


CONFIG_RESOURCES = (
    _resource("registers", "registers", fmt.number),
    _resource("spill stores", "spill_store_bytes", fmt.bytes_),
    _resource("spill loads", "spill_load_bytes", fmt.bytes_),
    _resource("shared memory", "shared_bytes", fmt.bytes_),
    _resource("occupancy", "occupancy", fmt.percent, "Theoretical"),
)
