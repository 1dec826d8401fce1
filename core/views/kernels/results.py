"""Results of kernel tools.

Each view has the sentences and rows of one tool. `TouchedView` shows the tensor elements that a Triton
program accesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from core.base import words as fmt
from core.code import without_locations
from core.code.torch_source import stage_landmark
from core.report import Autotuning, Choice
from core.runs.tools import (
    Answer,
    AssemblyAnswer,
    ConfigsAnswer,
    InterpretAnswer,
    LadderAnswer,
    Loop,
    PassesAnswer,
    ReproduceAnswer,
    Resources,
    Rung,
    TouchedElements,
    Trouble,
)
from core.views.glossary import place_of
from core.views.markdown import quoted, short

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
Kind = TypeVar("Kind")
CELLS = 192
WRAP = 64
LADDER, PASSES, CONFIGS, ASSEMBLY = "ladder", "passes", "configs", "assembly"
COMPILING = "Compiling…"


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The result of a kernel tool; the property for its kind returns the view, other views are None."""

    answer: Answer

    def _of(self, kind: type[Kind]) -> Kind | None:
        return self.answer if isinstance(self.answer, kind) else None

    @property
    def trouble(self) -> Trouble | None:
        """The tool's error with its output."""
        return self._of(Trouble)

    @property
    def ladder(self) -> LadderView | None:
        """Rungs of a Triton kernel."""
        return LadderView(self.answer) if isinstance(self.answer, LadderAnswer) else None

    @property
    def passes(self) -> TritonPasses | None:
        """MLIR passes of a Triton kernel."""
        return TritonPasses(self.answer) if isinstance(self.answer, PassesAnswer) else None

    @property
    def configs(self) -> ConfigsView | None:
        """Configs of a Triton kernel."""
        return ConfigsView(self.answer) if isinstance(self.answer, ConfigsAnswer) else None

    @property
    def assembly(self) -> AssemblyView | None:
        """Assembly of a C++ kernel."""
        return AssemblyView(self.answer) if isinstance(self.answer, AssemblyAnswer) else None

    @property
    def reproduction(self) -> ReproductionView | None:
        """Outcome and output of the reproduction script."""
        return ReproductionView(self.answer) if isinstance(self.answer, ReproduceAnswer) else None

    @property
    def interpretation(self) -> InterpretationView | None:
        """Accesses of an interpreted program."""
        return InterpretationView(self.answer) if isinstance(self.answer, InterpretAnswer) else None

    @property
    def rungs(self) -> dict[str, Rung]:
        """Rungs of a Triton or C++ kernel by name, the source first; empty for other results."""
        if isinstance(self.answer, AssemblyAnswer):
            source = self.answer.source
            lines = {number: number for number in range(1, source.count("\n") + 2)}
            return {"cpp": Rung("cpp", source, lines), "asm": self.answer.assembly}
        return {rung.name: rung for rung in self.answer.rungs} if isinstance(self.answer, LadderAnswer) else {}

    def rung_text(self, name: str) -> str | None:
        """Return a rung's text for a diff; MLIR loses its debug locations. None if the rung is missing."""
        rung = self.rungs.get(name)
        if rung is None:
            return None
        return without_locations(rung.text) if name in MLIR else rung.text


@dataclass(frozen=True, slots=True)
class ReproductionView:
    """Outcome and output of a reproduction script."""

    answer: ReproduceAnswer

    @property
    def is_same(self) -> bool:
        """True if the script ended without an error, so that all compared results equal eager."""
        return self.answer.exit_code == 0

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        if self.is_same:
            return "It ran, and all compared results equal eager."
        return f"It ended with exit code {self.answer.exit_code}."

    @property
    def output(self) -> str:
        """The script's output, or a note that it printed nothing."""
        return self.answer.output or "It printed nothing."


@dataclass(frozen=True, slots=True)
class LadderView:
    """A Triton kernel from its source to machine code."""

    answer: LadderAnswer

    @property
    def caption(self) -> str:
        """Target and used resources."""
        resources = resource_words(self.answer.resources)
        return f"Compiled for {short(self.answer.target)} on this machine; not run. {resources}"

    @property
    def problem(self) -> str:
        """Reason why the last rung is missing or does not fit the target; empty if there is none."""
        return self.answer.problem

    @property
    def stages_title(self) -> str:
        """Time of all stages; empty if Triton did not report it."""
        total_s = sum(self.answer.stage_us.values()) / 1e6
        return f"Triton's stages: {fmt.duration_s(total_s)}" if self.answer.stage_us else ""

    @property
    def stages(self) -> list[dict[str, object]]:
        """Table with a row per stage that Triton ran: its function, time, and place in the installed Triton."""
        amd = "amdgcn" in self.answer.stage_us
        return [
            {
                "stage": f"make_{stage}",
                "time": fmt.duration_s(microseconds / 1e6),
                "source": place_of(stage_landmark(stage, amd)),
            }
            for stage, microseconds in self.answer.stage_us.items()
        ]

    @property
    def files_title(self) -> str:
        """Number of files in Triton's cache."""
        return f"{fmt.count(len(self.answer.files), 'file')} that Triton cached"

    @property
    def files(self) -> list[dict[str, object]]:
        """Table with a row per file in Triton's cache."""
        return [{"file": file.name, "size": file.size_bytes} for file in self.answer.files]

    @property
    def texts(self) -> dict[str, str]:
        """Texts of the files and rungs, by title."""
        files = {file.name: file.text for file in self.answer.files if file.text}
        return files | {f"{rung.name}, as above": rung.text for rung in self.answer.rungs}


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


@dataclass(frozen=True, slots=True)
class TritonPasses:
    """The MLIR passes that changed the module of a Triton kernel."""

    answer: PassesAnswer

    @property
    def caption(self) -> str:
        """Number of passes that changed the module."""
        changed = fmt.count(len(self.answer.changes) + self.answer.left_out, "pass", "passes")
        return (
            f"{changed} of {self.answer.ran} changed the module, compiled for {short(self.answer.target)}. "
            "Debug locations are left out."
        )

    @property
    def rows(self) -> list[dict[str, object]]:
        """Table with a row per pass, with added and removed lines."""
        return [{"pass": change.name, "+": change.added, "−": change.removed} for change in self.answer.changes]

    def diff(self, index: int) -> tuple[str, str, int]:
        """Return the title of a pass, its diff, and the number of lines that were left out."""
        change = self.answer.changes[index]
        return f"{change.name} ({change.argument})", change.diff, change.left_out


@dataclass(frozen=True, slots=True)
class ConfigsView:
    """The configs that the autotuner can choose from."""

    answer: ConfigsAnswer

    def caption(self, autotuning: Autotuning | None) -> str:
        """Return the number of configs, and the source of their times."""
        times = "times are those of the run's autotuning" if _times(autotuning) else None
        timed = times or "not timed: the device is not present"
        return f"{fmt.count(len(self.answer.configs), 'config')} for {short(self.answer.target)}; {timed}."

    def rows(self, autotuning: Autotuning | None) -> list[dict[str, object]]:
        """Return one row per config, with its time if the run measured it; the chosen one is marked."""
        times = _times(autotuning)
        return [self._row(index, times) for index in range(len(self.answer.configs))]

    def _row(self, index: int, times: Mapping[str, Choice]) -> dict[str, object]:
        config = self.answer.configs[index]
        choice, resources = times.get(config.name), config.resources
        return {
            "config": index,
            "": "chosen" if choice and choice.chosen else "",
            "settings": config.words,
            "time": choice.time_s if choice else None,
            "registers": resources.registers if resources else None,
            "spill stores": resources.spill_store_bytes if resources else None,
            "spill loads": resources.spill_load_bytes if resources else None,
            "shared memory": resources.shared_bytes if resources else None,
            "occupancy": resources.occupancy if resources else None,
            "problem": config.problem,
        }


def _times(autotuning: Autotuning | None) -> dict[str, Choice]:
    return {choice.name: choice for choice in autotuning.choices} if autotuning else {}


@dataclass(frozen=True, slots=True)
class AssemblyView:
    """A C++ kernel and its assembly."""

    answer: AssemblyAnswer

    @property
    def caption(self) -> str:
        """Number of vectorised loops and of OpenMP regions."""
        vectorised = fmt.number(sum(loop.kind != "scalar" for loop in self.answer.loops))
        outlined = self.answer.outlined
        regions = f"{fmt.count(len(outlined), 'OpenMP region')} outlined" if outlined else "no OpenMP region"
        return f"{vectorised} of {fmt.count(len(self.answer.loops), 'loop')} vectorised; {regions}."

    @property
    def command(self) -> str:
        """The compiler's command."""
        return self.answer.command

    @property
    def notes(self) -> dict[int, str]:
        """Notes by line of the source: loops and OpenMP regions."""
        notes = {loop.line: loop_words(loop) for loop in self.answer.loops}
        return notes | {region.line: f"OpenMP: {region.pragma.removeprefix('omp ')}" for region in self.answer.regions}

    @property
    def vectorised(self) -> dict[int, bool]:
        """Line of each loop → True if it was vectorised."""
        return {loop.line: loop.kind != "scalar" for loop in self.answer.loops}

    @property
    def outlined(self) -> str:
        """Names of the functions that OpenMP regions became; empty without regions."""
        names = ", ".join(map(quoted, self.answer.outlined[:MOST_OUTLINED]))
        return f"OpenMP regions as functions: {names}" if names else ""


def loop_words(loop: Loop) -> str:
    """Return in words how a loop was vectorised, or why it was not."""
    tail = "tail: " if loop.tail else ""
    if loop.kind == "scalar":
        return f"{tail}not vectorised: {loop.words}"
    width = f"{loop.width_bytes}-byte vectors" if loop.width_bytes else "vectors of unknown width"
    how = "written as" if loop.kind == "explicit" else "by the compiler:"
    return f"{tail}vectorised with {width}, {how} {loop.words}"


@dataclass(frozen=True, slots=True)
class InterpretationView:
    """A program of a kernel in Triton's interpreter.

    `answer` has the output of the program and the comparison of its result with eager.
    """

    answer: InterpretAnswer

    @property
    def caption(self) -> str:
        """Kernel, program and grid."""
        answer = self.answer
        program = ", ".join(map(str, answer.program[: max(1, len(answer.grid))]))
        grid = " × ".join(map(str, answer.grid))
        return f"{quoted(answer.kernel)} in Triton's interpreter on the CPU: program {program} of a grid of {grid}."

    @property
    def tensors(self) -> list[TouchedView]:
        """The tensor arguments."""
        return [TouchedView(tensor) for tensor in self.answer.tensors]


@dataclass(frozen=True, slots=True)
class TouchedView:
    """A tensor argument and its touched elements."""

    tensor: TouchedElements

    @property
    def name(self) -> str:
        """Name of the argument."""
        return self.tensor.name

    @property
    def dtype_and_shape(self) -> str:
        """Dtype and shape in torch's notation."""
        return f"{self.tensor.dtype}[{', '.join(map(str, self.tensor.shape))}]"

    @property
    def accesses(self) -> str:
        """Number of loads and stores; "untouched" without any."""
        loads, stores = fmt.count(self.tensor.loads, "load"), fmt.count(self.tensor.stores, "store")
        parts = [loads] * bool(self.tensor.loads) + [stores] * bool(self.tensor.stores)
        return " and ".join(parts) or "untouched"

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
