"""Page of the kernels of a compilation; a kernel and its tools.

`KernelView` has the title, code, FX nodes, source lines, and counterparts in another run. `KernelTool` requests a tool
and reads the stored result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from core.analysis.comparison.kernels import counterpart, node_ops
from core.analysis.kernels.kernel import called_lines, kernel_names, node_op
from core.base import words as fmt
from core.code.diff import TextDiff, diff_texts
from core.code.output_code import AROUND_CALL, kernel_code
from core.graph.fx import source_path
from core.job import CompileJob
from core.job.targets import TARGETS
from core.report import Compilation, FxNode, Kernel, Payload, Report
from core.runs.store import Run
from core.runs.tools.tasks import (
    Answer,
    Assembly,
    Configs,
    Interpret,
    Ladder,
    Passes,
    Reproduce,
    Request,
    forget,
    reproduction_of,
    result,
    tool_run,
)
from core.views.blocks import (
    Block,
    Code,
    Drawn,
    Lazy,
    Listing,
    PageBlock,
    Table,
    Text,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.colours import kernel_colours
from core.views.decisions import estimates
from core.views.glossary import GLOSSARY
from core.views.kernels.ledger import TARGET_CHOICES, KernelsView, tuning_words
from core.views.kernels.results import ASSEMBLY, COMPILING, CONFIGS, LADDER, PASSES, RUNGS
from core.views.markdown import LONGEST_LINE, code, plain, prose, sentence, short

REPRODUCE, INTERPRETER, COMPARE = "reproduce", "interpreter", "compare"
PANELS = {
    "triton": [LADDER, PASSES, CONFIGS, REPRODUCE, INTERPRETER, COMPARE],
    "cpp": [ASSEMBLY, REPRODUCE, INTERPRETER, COMPARE],
}
COMPARED_RUNGS = {"triton": ["python", "ttir", "ttgir", "llir", "ptx", "sass", "amdgcn"], "cpp": ["cpp", "asm"]}


# Parts that the dashboard draws by hand.
CALL, MEASURE, TIME_AGAIN, LAUNCHES, KERNEL = "call", "measure", "time again", "launches", "kernel"
PANEL = "panel"
NO_KERNEL: tuple[PageBlock, ...] = (
    Title(spans("This compilation has no kernel")),
    Text(spans("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")),
)
NOT_GENERATED: tuple[PageBlock, ...] = (
    Title(spans("This compilation generated no C++ and no Triton kernel")),
    Text(spans("Extern kernels are library functions, whose code is not available.")),
)
# Kernels whose code is in the outputs that have the code of all kernels.
MOST_PLACES = 8  #: lines of other files beside a kernel's own file
MOST_CODES = 40  #: limit: kernels with code in an HTML file, and in a page as text
# ATen products, which Inductor leaves to a library unless a template is faster; some add a tensor, such as a bias.
ADDING = ("addmm", "baddbmm")
PRODUCTS = ("mm", "bmm", "_int_mm", "_scaled_mm", "linear", *ADDING)
TEMPLATES = "Templates, such as those of `max-autotune`, can fuse the ops after a matmul."


def kernel_launches(view: KernelsView, read: Callable[[Payload], str], live: bool = False) -> Iterator[PageBlock]:
    """Yield the kernel calls of a compilation: parts of the call, a table, code, and torch's estimates.

    `read` returns a payload of the log. `live` means that the run has not ended.
    """
    if not view.rows:
        yield from NO_KERNEL
        return
    ceilings_words = prose(view.ceilings_help) if view.measured or not live else ""
    yield Title(spans(f"{view.scope}{prose(view.title)}"), GLOSSARY["kernel"])
    yield Text(spans(prose(view.caption_of(live))), "quiet", ceilings_words)
    if view.call_parts:
        yield Drawn(CALL, (view.call_bars,))
    if view.measured or not live:
        yield Drawn(TIME_AGAIN if view.measured else MEASURE)
    choices = view.compilation.target_choices
    yield from folded(view.target_choices_title, [Table("target choices", TARGET_CHOICES, choices)] if choices else [])
    yield Drawn(LAUNCHES, (*paragraph(ceilings_words, "quiet"), view.ledger(view.rows)))
    yield Drawn(KERNEL, Lazy(lambda: _codes(view, read)))
    yield from estimates(view.compilation, read)


def one_kernel(
    generated: Mapping[str, KernelView], read: Callable[[Payload], str], kernel: str = "", panel: str = ""
) -> Iterator[PageBlock]:
    """Yield one of the generated kernels of a compilation, by default the one with the most FX nodes."""
    if not generated:
        yield from NOT_GENERATED
        return
    view = generated.get(kernel) or generated[most_nodes(generated)]
    yield Title(spans(prose(view.title(panel))), GLOSSARY["kernel"])
    yield from paragraph(view.tuning, "quiet")
    yield Drawn(PANEL, Lazy(lambda: view.sources(read)))


def most_nodes(generated: Mapping[str, KernelView]) -> str:
    """Return the id of the kernel that is made of the most FX nodes."""
    return max(generated, key=lambda name: len(generated[name].kernel.origins))


def _codes(view: KernelsView, read: Callable[[Payload], str]) -> Iterator[Block]:
    labels, colours = {row.kernel: row.label for row in view.rows}, kernel_colours(view.report)
    generated = [kernel for kernel in view.compilation.kernels if not kernel.extern]
    for kernel in generated[:MOST_CODES]:
        shown = KernelView(view.report, view.compilation, kernel)
        language = "cpp" if kernel.language == "cpp" else "python"
        if text := shown.code(read(kernel.output_code)):
            yield Listing(
                labels.get(kernel.id) or kernel.name,
                Code(text, language, shown.first_line),
                f"k:{kernel.id}",
                colours.get(kernel.id, ""),
                f"{kernel.name}, made of {fmt.count(len(kernel.origins), 'FX node')}",
            )
    if len(generated) > MOST_CODES:
        more = fmt.count(len(generated) - MOST_CODES, "more kernel")
        yield from paragraph(f"Without the code of {more}.", "quiet")


@dataclass(frozen=True)
class KernelView:
    """A kernel of a compilation; `label` is its display name and its generated name.

    `convention` describes a module that can be pasted into the interpreter. The other constants are panel
    messages.
    """

    convention: ClassVar[str] = (
        "A module that defines a `@triton.jit` kernel and launches it on CPU tensors. Its `result` is compared with "
        "its `expected`."
    )
    script_note: ClassVar[str] = (
        "Self-contained: it needs torch alone, checks the kernel against eager, and times both."
    )
    not_allowed: ClassVar[str] = "The tools run code from the log. This server allows that only for its own runs."
    trust_question: ClassVar[str] = (
        "This log is imported, and the tools run code from it. Continue only if you trust it."
    )
    result_deleted: ClassVar[str] = "The result was deleted."
    no_line: ClassVar[str] = "Torch recorded no line of the user's code for these ops."
    no_origins: ClassVar[str] = "Its FX nodes were not recorded. Set INDUCTOR_PROVENANCE=1 to record them."
    graph_link: ClassVar[str] = "Show these nodes in the FX graph"
    no_other_run: ClassVar[str] = (
        "No other run of this model generates C++. Run it again with other options to compare the same kernel here. "
        "*assembly* shows the machine code of this one."
    )
    no_report: ClassVar[str] = "That run has no report."
    no_counterpart: ClassVar[str] = "That run has no kernel of the same language."
    same_text: ClassVar[str] = "Both are identical."

    report: Report
    compilation: Compilation
    kernel: Kernel
    label: str = ""

    @property
    def panels(self) -> list[str]:
        """Panels of the kernel's page, by its language."""
        return PANELS[self.kernel.language]

    def title(self, panel: str) -> str:
        """Return the kernel's name, kind and number of FX nodes.

        In the interpreter panel of a kernel that is not Triton, it is a note on the example kernel.
        """
        if panel == INTERPRETER and self.kernel.language != "triton":
            return "Triton's interpreter on an example kernel: the selected kernel is not Triton."
        nodes = fmt.count(len(self.kernel.origins), "FX node")
        return f"{short(self.kernel.name)}: {short(self.kernel.category)}, made of {nodes}."

    @property
    def tuning(self) -> str:
        """Torch's choice of the kernel's config, and its compile time; empty if the log has neither."""
        tuning, compile_s = self.kernel.tuning, self.kernel.compile_s
        config = f" {code(tuning.config, LONGEST_LINE)}" if tuning and tuning.config else ""
        parts = [f"Autotuning: {plain(tuning_words(tuning), LONGEST_LINE)}{config}"] if tuning else []
        parts += [f"compiled by Triton in {fmt.duration_s(compile_s)}"] if compile_s is not None else []
        return sentence("; ".join(parts))

    @cached_property
    def source_path(self) -> str:
        """Path of the user's file; empty if it is not recorded."""
        return source_path(self.report)

    def code(self, output_code: str) -> str:
        """Return the kernel's source in the output code; for an extern kernel the lines around its call."""
        return kernel_code(self.kernel, output_code)

    def sources(self, read: Callable[[Payload], str]) -> Iterator[PageBlock]:
        """Yield the kernel's source and the names of its FX nodes; `read` returns a payload of the log."""
        language = "cpp" if self.kernel.language == "cpp" else "python"
        code = Code(self.code(read(self.kernel.output_code)), language, self.first_line)
        yield Listing(self.label, code, is_open=True)
        if self.kernel.origins:
            yield Listing("FX nodes", Code("\n".join(self.kernel.origins), "text"), is_open=True)
        else:
            yield from paragraph(self.no_origins, "quiet")

    @property
    def first_line(self) -> int:
        """Number of the code's first line in the output code."""
        return max(1, self.kernel.lines[0] - (AROUND_CALL - 1 if self.kernel.extern else 0))

    def lines_in(self, path: str, nodes: Mapping[str, FxNode]) -> set[int]:
        """Return the lines of a file that the kernel comes from.

        They come from its FX nodes (`nodes` maps names to nodes) and from torch's stacks.
        """
        origins = (nodes[name] for name in self.kernel.origins if name in nodes)
        places = (place for node in origins for place in (node.stack or ((node.source,) if node.source else ())))
        stacks = {frame.line for frame in self.kernel.stacks if frame.file == path}
        return {place.line for place in places if place.file == path} | stacks

    def called_in(self, path: str, nodes: Mapping[str, FxNode]) -> Collection[int]:
        """Return the lines of a file that call the kernel's ops; without known ops, those of stacks."""
        return called_lines(self.kernel, path, nodes) or self.lines_in(path, nodes)

    def line_in(self, path: str, nodes: Mapping[str, FxNode], op: str = "") -> int | None:
        """Return the line of a file where to begin, that of an op or of most ops; None without one."""
        called = called_lines(self.kernel, path, nodes, op)
        return called[0] if called else min(self.lines_in(path, nodes), default=None)

    def called_words(self, path: str, nodes: Mapping[str, FxNode]) -> str:
        """Return the lines of a file that call the kernel's ops, or else their callers; or nothing."""
        lines = called_lines(self.kernel, path, nodes)
        places = {nodes[name].source for name in self.kernel.origins if name in nodes}
        own = sorted({place.line for place in places if place is not None and place.file == path} & {*lines})
        callers = sorted({*lines} - {*own})
        file = code(path.rpartition("/")[2], LONGEST_LINE)
        parts = [f"Its ops are on {_line_words(own)} of {file}"] if own else []
        parts += [f"called from {_line_words(callers)}" + ("" if own else f" of {file}")] if callers else []
        return sentence(", ".join(parts))

    def elsewhere(self, path: str, nodes: Mapping[str, FxNode]) -> str:
        """Return the lines of other files that called the kernel's ops; empty if all are in this file."""
        sources = [nodes[name].source for name in self.kernel.origins if name in nodes]
        others = {
            (place.file, place.line): place.short for place in sources if place is not None and place.file != path
        }
        places = [code(others[at], LONGEST_LINE) for at in sorted(others)]
        if not places:
            return "" if self.lines_in(path, nodes) else self.no_line
        return f"Other files: {fmt.first_of(places, MOST_PLACES)}."

    def origins(self, nodes: Iterable[str]) -> list[str]:
        """Return the names of the FX nodes that became this kernel, in the order of `nodes`."""
        names = set(self.kernel.origins)
        return [name for name in nodes if name in names]

    def origins_title(self, nodes: Iterable[str]) -> str:
        """Return the number of the FX nodes that became this kernel."""
        return fmt.count(len(self.origins(nodes)), "FX node")

    def reproduction(self, run: Run) -> str:
        """Return the script that reproduces the kernel alone; raises ToolError."""
        return reproduction_of(run, self.report, self.kernel.id)

    def counterparts(self, report: Report) -> tuple[dict[str, KernelView], str]:
        """Return a run's kernels in this kernel's language, by id, and the id of the counterpart.

        The counterpart computes the same part of the model. Without a counterpart, the id is the first kernel's;
        without any kernel, it is empty.
        """
        kernels = {
            name: kernel
            for compilation in report.compilations
            for name, kernel in KernelView.generated(report, compilation).items()
            if kernel.kernel.language == self.kernel.language
        }
        same = counterpart(self.kernel, self.compilation, report)
        return kernels, same.id if same is not None and same.id in kernels else next(iter(kernels), "")

    @property
    def rungs(self) -> list[str]:
        """Names of the kernel's rungs (its texts from source to machine code) that can be compared."""
        return COMPARED_RUNGS[self.kernel.language]

    def rung_words(self, rung: str, target: str, config: int) -> str:
        """Return the title of a rung in a diff; target and config are for a Triton kernel."""
        triton = [self.target_title(target), f"config {config}"] if self.kernel.language == "triton" else []
        return ", ".join([self.kernel.name, *triton, self.rung_title(rung)])

    @staticmethod
    def rung_title(name: str) -> str:
        return RUNGS.get(name, name)

    @staticmethod
    def missing_rung(name: str) -> str:
        """Return the message for a rung that one side of a comparison lacks."""
        return f"The left or right side has no {KernelView.rung_title(name)}: that target ends on another rung."

    @classmethod
    def generated(cls, report: Report, compilation: Compilation) -> dict[str, KernelView]:
        """Return the generated kernels of a compilation, by id."""
        names = kernel_names(compilation)
        return {
            kernel.id: cls(report, compilation, kernel, f"{names[kernel.id]} ({kernel.name})")
            for kernel in compilation.kernels
            if not kernel.extern and kernel.language in PANELS
        }

    @staticmethod
    def target_title(target: str) -> str:
        """Return the title of a target; "as generated" for an empty name."""
        return TARGETS[target].title if target in TARGETS else "as generated"

    @staticmethod
    def same_language(left: CompileJob | None, right: CompileJob | None) -> bool:
        """Return True if both jobs generate C++ kernels, or both generate kernels for an accelerator."""
        return _is_for_accelerator(left) == _is_for_accelerator(right)

    @staticmethod
    def diff(texts: tuple[str, str], titles: tuple[str, str]) -> TextDiff:
        """Return the diff of two rungs."""
        return diff_texts(*texts, *titles)

    @staticmethod
    def diff_caption(diff: TextDiff) -> str:
        """Return the numbers of lines that only one side has."""
        return f"{fmt.count(diff.removed, 'line')} only on the left, {fmt.number(diff.added)} only on the right."


def _is_for_accelerator(job: CompileJob | None) -> bool:
    return job is not None and (bool(job.target) or job.device.partition(":")[0] != "cpu")


@dataclass(frozen=True, slots=True)
class KernelTool:
    """A request to a tool about one kernel of a run; `waiting` is the caption while the tool works."""

    run: Run
    request: Request
    waiting: str = COMPILING

    @classmethod
    def compiled(cls, run: Run, kernel: str, panel: str, target: str = "", config: int = 0) -> KernelTool:
        """Return the tool that compiles a kernel for a panel; an empty target means the kernel's own target."""
        requests: dict[str, tuple[Request, str]] = {
            LADDER: (Ladder(kernel, target, config), COMPILING),
            PASSES: (Passes(kernel, target, config), "Compiling with MLIR's dumps…"),
            CONFIGS: (Configs(kernel, target), "Compiling every config…"),
            ASSEMBLY: (Assembly(kernel), "Compiling to assembly…"),
        }
        return cls(run, *requests[panel])

    @classmethod
    def rungs(cls, run: Run, kernel: str, language: str, target: str = "", config: int = 0) -> KernelTool:
        """Return the tool for the rungs of a kernel; target and config are for a Triton kernel."""
        return cls(run, Ladder(kernel, target, config) if language == "triton" else Assembly(kernel))

    @classmethod
    def reproduced(cls, run: Run, kernel: str) -> KernelTool:
        """Return the tool that runs a kernel's reproduction script."""
        return cls(run, Reproduce(kernel), "Running it…")

    @classmethod
    def interpreted(cls, run: Run, kernel: str, code: str, program: tuple[int, int, int]) -> KernelTool:
        """Return the tool that interprets one program of a kernel.

        Without a kernel, it interprets the pasted code or a sample.
        """
        return cls(run, Interpret(kernel, code, program), "Interpreting in a fresh Python…")

    @property
    def directory(self) -> Run:
        """Directory of the request, whether it exists or not."""
        return tool_run(self.run, self.request)

    def result(self) -> Answer | None:
        """Return the stored result; None if the tool was not started or is still at work."""
        return result(self.run, self.request)

    def forget(self) -> None:
        """Remove the stored result; raises StoreError."""
        forget(self.run, self.request)


def epilogue_words(kernels: Sequence[Kernel]) -> str:
    """Return whether a matmul, its bias and another op are one of these kernels."""
    products = [kernel for kernel in kernels if _product(kernel)]
    library = [kernel for kernel in products if kernel.extern]
    fused = sum(not kernel.extern and _has_epilogue(kernel) for kernel in products)
    matmuls = fmt.count(len(products), "matmul")
    if not products:
        return "The kernels of this run have no matmul."
    if fused:
        return f"True for {fmt.number(fused)} of {matmuls} here."
    if len(library) < len(products):
        return f"Not here: of {matmuls}, none is one kernel with a bias and another op. {TEMPLATES}"
    return f"Not here: {_library_words(library)} No other op is fused into such a call. {TEMPLATES}"


def _library_words(library: Sequence[Kernel]) -> str:
    """Return that all matmuls are library calls, and how many of them add a tensor."""
    total, adding = len(library), sum(_product(kernel) in ADDING for kernel in library)
    several = "both matmuls are calls" if total == 2 else f"all {fmt.number(total)} matmuls are calls"
    calls = "the matmul is a call" if total == 1 else several
    if not adding:
        return f"{calls} of a library, without a bias."
    some = f"{fmt.number(adding)} of them {fmt.agree(adding, 'adds', 'add')}"
    which = some if adding < total else fmt.agree(total, "it adds", "each adds")
    return f"{calls} of a library; {which} a tensor, such as a bias, within the call."


def _product(kernel: Kernel) -> str:
    """Return the ATen product that a kernel computes; empty for other kernels."""
    names = [node_op(origin) for origin in kernel.origins]
    if kernel.extern:
        names += kernel.name.removesuffix(".default").split(".")[-1:]
    return next((name for name in names if name in PRODUCTS), "")


def _has_epilogue(kernel: Kernel) -> bool:
    """Return True if a kernel computes a product, an added tensor and another op."""
    others = [op for op in node_ops(kernel) if op not in PRODUCTS]
    return len(others) > (_product(kernel) not in ADDING)


def _line_words(lines: Sequence[int]) -> str:
    return f"{fmt.agree(len(lines), 'line', 'lines')} {fmt.ranges_words(lines)}"
