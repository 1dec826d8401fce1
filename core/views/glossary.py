"""Glossary of torch's terms, and landmarks of a compilation in the source of torch and Triton.

A term has its meaning, the page that shows it for the run, and a link to torch's manual. A landmark has its
count and time in the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.analysis.durations import PhaseTotal, phase_totals
from core.base import words as fmt
from core.base.machine import package_version
from core.code.torch_source import LANDMARKS, Landmark, landmark_source
from core.report import Report
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Picks,
    Search,
    Table,
    Text,
    Title,
    spans,
)
from core.views.markdown import plain

# Names of a visitor's search and selection.
TERM, SELECT = "term", "select"
MANUAL = "https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/"
FX = "https://docs.pytorch.org/docs/stable/fx.html"
TRITON = "https://triton-lang.org/main/programming-guide/chapter-1/introduction.html"


@dataclass(frozen=True, slots=True)
class Term:
    """A term: its meaning as Markdown, the page that shows it for a run, and a URL in torch's manual."""

    meaning: str
    page: str
    manual: str = ""

    @property
    def help(self) -> str:
        """The meaning, with a link to the manual."""
        return f"{self.meaning} [torch's manual]({self.manual})" if self.manual else self.meaning


# In the order of a compilation.
TERMS = {
    "torch.compile": Term(
        "Compiles a function or module at its first call: Dynamo captures graphs, a backend compiles them, "
        "and guards say when the compiled code fits a call.",
        "overview",
        f"{MANUAL}torch.compiler.html",
    ),
    "eager": Term(
        "PyTorch as it runs without torch.compile: op by op, each a call of a kernel.",
        "speedup",
    ),
    "frame": Term(
        "A call of a Python function. Dynamo compiles one frame at a time, with the functions that it inlines.",
        "compilations",
    ),
    "fullgraph": Term(
        "`torch.compile(model, fullgraph=True)` raises an error at the first graph break.",
        "graph_breaks",
        f"{MANUAL}compile/programming_model.fullgraph_true.html",
    ),
    "Dynamo": Term(
        "TorchDynamo, the frontend of torch.compile. It runs the bytecode of a Python function symbolically "
        "and records its tensor ops as FX graphs.",
        "compilations",
        f"{MANUAL}compile/programming_model.dynamo_core_concepts.html",
    ),
    "graph": Term(
        "An FX graph is a program: one node per op, in execution order.",
        "fx_graph",
        FX,
    ),
    "graph break": Term(
        "Dynamo cannot trace this line. It ends the graph, runs the line in eager Python, and starts a new "
        "graph after it.",
        "graph_breaks",
        f"{MANUAL}compile/programming_model.graph_breaks_index.html",
    ),
    "guard": Term(
        "A condition on inputs and state. Compiled code is reused only if all its guards pass; they are "
        "checked at every call.",
        "guards",
        f"{MANUAL}compile/programming_model.dynamo_core_concepts.html",
    ),
    "recompile": Term(
        "When a guard fails, Dynamo compiles the frame again for the new values. After `recompile_limit` "
        "compilations, it runs the frame eagerly.",
        "recompiles",
        f"{MANUAL}compile/programming_model.recompilation.html",
    ),
    "dynamic shapes": Term(
        "A compilation with symbols in place of sizes serves many sizes. torch makes a size dynamic once it "
        "has changed, or from the start with `dynamic=True` or `mark_dynamic`.",
        "dynamic_shapes",
        f"{MANUAL}torch.compiler_dynamic_shapes.html",
    ),
    "symbol": Term(
        "A symbol stands for a size or a Python number, so one compilation serves many values. An unbacked "
        "symbol stands for a data-dependent value.",
        "dynamic_shapes",
        f"{MANUAL}torch.compiler_dynamic_shapes.html",
    ),
    "bytecode": Term(
        "The instructions that Python runs. Dynamo rewrites them: they load the graph's inputs, call the "
        "compiled graph, and call a resume function after a graph break.",
        "bytecode",
        f"{MANUAL}compile/programming_model.dynamo_core_concepts.html",
    ),
    "compilation": Term(
        "Dynamo compiles one Python frame at a time. After a graph break, the called function and the resume "
        "function are separate frames. If a guard fails, Dynamo compiles the frame again. A small helper has less than "
        "5 % of the captured ops. After `torch.compiler.reset`, ids begin again: `[2:0/0]` is the second `[0/0]`.",
        "compilations",
        f"{MANUAL}compile/programming_model.dynamo_core_concepts.html",
    ),
    "fake tensor": Term(
        "A tensor with shape, dtype and device, and without data. Dynamo and AOTAutograd compute with fake tensors.",
        "fx_graph",
        f"{MANUAL}torch.compiler_fake_tensor.html",
    ),
    "AOTAutograd": Term(
        "Traces Dynamo's graph again, down to ATen ops without side effects. For training it traces the "
        "backward, too, before the first step runs.",
        "partition",
        f"{MANUAL}torch.compiler.html",
    ),
    "partition": Term(
        "AOTAutograd traces forward and backward as one joint graph and partitions it. Values that the "
        "backward needs are saved in memory.",
        "partition",
    ),
    "capture": Term(
        "A graph of a model made by tracing it: by `symbolic_trace` with proxies, by Dynamo from bytecode, or "
        "by `torch.export` as one whole graph.",
        "captures",
        FX,
    ),
    "backend": Term(
        "A backend is a callable. `torch.compile` passes it each graph that Dynamo captures, with example "
        "inputs. It returns a callable, which runs whenever the guards of the graph pass.",
        "backend",
        f"{MANUAL}torch.compiler_custom_backends.html",
    ),
    "Inductor": Term(
        "TorchInductor, the default backend. It rewrites ATen graphs by passes, fuses ops, and writes Triton "
        "for a GPU and C++ with OpenMP for a CPU.",
        "fusion",
        f"{MANUAL}torch.compiler.html",
    ),
    "pass": Term(
        "A pass is a function that rewrites a graph: it folds constants, removes no-ops, replaces patterns or "
        "reorders ops.",
        "passes",
    ),
    "scheduler node": Term(
        "An op or a loop of Inductor that reads and writes buffers. The scheduler fuses nodes, and writes a kernel for "
        "each that is left.",
        "fusion",
    ),
    "view": Term(
        "A tensor over the memory of another one, such as a transpose. It moves no data, so it is no kernel.",
        "fx_graph",
    ),
    "fusion": Term(
        "Inductor's scheduler fuses ops into one kernel, so intermediate results do not go through memory.",
        "fusion",
    ),
    "kernel": Term(
        "A function generated by Inductor, or an extern kernel: a library function called by the generated code, such "
        "as a matmul.",
        "kernels",
    ),
    "launch": Term(
        "A call of a kernel. A compiled graph launches each of its kernels once or several times in a call.",
        "kernels",
    ),
    "Triton": Term(
        "A language for GPU kernels in Python. A program computes a block of elements, and the compiler "
        "lowers it in stages to machine code.",
        "kernel",
        TRITON,
    ),
    "pipeline": Term(
        "The backend `accelerator` partitions a graph into segments of ops that it has kernels for. It builds a "
        "program for each segment: a file that a C++ runtime runs without torch and Python.",
        "accelerator",
    ),
    "package": Term(
        "A `.pt2` file that AOTInductor builds from an exported model: a shared library, its source and the "
        "constants. It accepts the exported sizes and compiles nothing at run time.",
        "aotinductor",
        f"{MANUAL}torch.compiler_aot_inductor.html",
    ),
    "neighbour": Term(
        "Another compiler or runtime that takes a model of torch: TorchScript, ONNX Runtime, OpenVINO, OpenXLA, "
        "TVM, TensorRT. Most take an exported graph instead of Python code.",
        "neighbours",
    ),
    "warm-up": Term(
        "The first calls: they compile, fill caches and pick algorithms. Measurements leave them out.",
        "speedup",
    ),
    "steady state": Term(
        "Calls after the first ones: nothing compiles, and caches are warm. The ratio is eager time over "
        "compiled time, with its 99 % confidence interval in brackets.",
        "speedup",
    ),
    "compile time": Term(
        "Compile time is the time in which at least one phase of torch ran, for forward and backward. Parallel "
        "threads count once. "
        "A phase is a span that torch logs: Dynamo captures, AOTAutograd traces forward and backward, "
        "Inductor lowers, schedules and generates code.",
        "compile_time",
    ),
    "sweep": Term(
        "One model under many options: a run for each value, in one table.",
        "sweep",
    ),
    "peak memory": Term(
        "The most bytes allocated at one time during a call, without parameters, buffers and inputs. Fusion "
        "lowers it: results between fused ops are not allocated.",
        "memory",
    ),
    "numerics": Term(
        "The reference is the same model in float64. An error is the norm of the difference from float64, "
        "over the norm in float64. Compiled may round differently from eager. It is accurate enough if its "
        "error is no larger than the error of eager.",
        "numerics",
    ),
    "bit by bit": Term(
        "Two configurations give equal bits only if each sum adds in the same order. A split reduction, "
        "another algorithm of a library, or a template adds in another order.",
        "numerics",
    ),
    "artifact": Term(
        "A record of torch's structured log (`TORCH_TRACE`): a graph, a piece of generated code, guards, metrics. "
        "tlparse lists the same records.",
        "artifacts",
        "https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/torch.compiler_troubleshooting.html",
    ),
    "profile": Term(
        "A recording by `torch.profiler`: start and duration of each op and kernel launch on the host, and of each "
        "kernel on the device.",
        "timeline",
        "https://docs.pytorch.org/docs/stable/profiler.html",
    ),
    "torch's log": Term(
        "The messages that the environment variable `TORCH_LOGS` prints. An artifact, such as `guards`, is "
        "one kind of message; `+dynamo` is everything that Dynamo logs.",
        "logs",
    ),
}


def glossary(picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield each term with its meaning and the page that shows it for a run; a search selects terms."""
    yield Title(spans(f"{fmt.count(len(TERMS), 'term')}, in the order of a compilation"))
    yield Search(TERM, "guard, fusion, warm-up …")
    terms = matching_terms(picks.text(TERM))
    if not terms:
        yield Text(spans("No term has this text."), "note")
    for name, term in terms.items():
        yield Text(spans(f"**{name}** — {term.help}"))
        yield PageLink(term.page)


def matching_terms(text: str) -> dict[str, Term]:
    """Return name → term, for the terms whose name or meaning contains a text."""
    return {name: term for name, term in TERMS.items() if text.lower() in f"{name} {term.meaning}".lower()}


GLOSSARY = {name: term.help for name, term in TERMS.items()}


NOT_TIMED = "not timed"
MISSING = "not in the installed version"


def landmarks(report: Report | None, picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield places in the source of torch and Triton with a run's times, and the selected one."""
    view = LandmarksView(report)
    yield Title(spans(view.title))
    yield Text(spans(view.note), "quiet")
    table = Table("landmarks", view.columns, LANDMARKS, link=lambda landmark: landmark.full_name)
    chosen = view.of(picks.text(SELECT))
    yield Beside((table,), tuple(chosen.blocks), (3, 2)) if chosen else table


@dataclass(frozen=True)
class LandmarksView:
    """Landmarks of torch's source, with the times of a report; `report` is None without a run."""

    report: Report | None

    @property
    def title(self) -> str:
        """Number of landmarks in the installed torch and Triton, and number that torch timed in the run."""
        installed = sum(landmark_source(landmark) is not None for landmark in LANDMARKS)
        where = f"{fmt.count(installed, 'place')} in torch {_installed()} and Triton"
        if self.report is None:
            return where
        entered = sum(landmark.phase in self._times for landmark in LANDMARKS)
        return f"{where}. torch timed this run in {fmt.number(entered)} of them."

    @property
    def note(self) -> str:
        """Origin of the times, and a warning if the run was recorded with another torch."""
        note = "Entries and times are torch's own, from the run's trace. A time includes what is called inside."
        recorded = self.report.setting.torch if self.report else ""
        if recorded and recorded.partition("+")[0] != _installed():
            note += f" The run was recorded with torch {plain(recorded)}; the source is that of {_installed()}."
        return f"{note} Select a place for its source."

    @cached_property
    def _times(self) -> dict[str, PhaseTotal]:
        return {total.name: total for total in phase_totals(self.report)} if self.report else {}

    @property
    def columns(self) -> tuple[Column[Landmark], ...]:
        """Columns of the table of landmarks; two of them are the run's."""
        return (
            Column("stop", lambda landmark: landmark.stop),
            Column("landmark", lambda landmark: landmark.name, width=260),
            Column("entered", self._entered, help="By torch's own timers; torch times some places alone", width=80),
            Column("time", self._time_s, fmt.duration_s, width=80, optional=True),
            Column("what it does", lambda landmark: landmark.what, width=320),
            Column("source", place_of, width=300),
        )

    def _entered(self, landmark: Landmark) -> str:
        if self.report is None:
            return ""
        total = self._times.get(landmark.phase)
        return fmt.count(total.count if total else 0, "time") if landmark.phase else NOT_TIMED

    def _time_s(self, landmark: Landmark) -> float | None:
        total = self._times.get(landmark.phase)
        return total.total_s if total else None

    def of(self, name: str) -> LandmarkView | None:
        """Return a landmark by its full name; None if there is none."""
        landmark = next((landmark for landmark in LANDMARKS if landmark.full_name == name), None)
        return LandmarkView(landmark, self._times.get(landmark.phase)) if landmark else None


@dataclass(frozen=True)
class LandmarkView:
    """A landmark with its times in the run; `total` is None if torch did not time it."""

    landmark: Landmark
    total: PhaseTotal | None

    @property
    def words(self) -> str:
        """Purpose of the landmark, the number of times that the run entered it, and the time."""
        what = f"{self.landmark.what[:1].upper()}{self.landmark.what[1:]}."
        if self.total is None:
            why = "Not entered in this run." if self.landmark.phase else "torch does not time it."
            return f"{what} {why}"
        times = fmt.count(self.total.count, "time")
        return f"{what} Entered {times}, {fmt.duration_s(self.total.total_s)} in all (phase `{self.landmark.phase}`)."

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the name, the words and the source; an installed version can lack the source."""
        yield Heading(self.landmark.full_name)
        yield Text(spans(self.words))
        source = landmark_source(self.landmark)
        if source is None:
            yield Text(spans(MISSING), "quiet")
        else:
            yield Listing(place_of(self.landmark), Code(source.text, first=source.line), is_open=True)


def _installed() -> str:
    """Return the version of the installed torch without its local part, such as `+cu128`."""
    return package_version("torch").partition("+")[0]


def place_of(landmark: Landmark) -> str:
    """Return the file and line of a landmark, or a note that the installed version lacks it.

    The path begins with the directory of the package.
    """
    source = landmark_source(landmark)
    if source is None:
        return MISSING
    package, parts = landmark.module.partition(".")[0], source.path.parts
    below = parts[len(parts) - 1 - parts[::-1].index(package) :]
    return f"{'/'.join(below)}:{source.line}"
