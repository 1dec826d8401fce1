"""Advice for graph breaks, and for recompiles caused by sizes.

A break gets a fix of the code or a setting, otherwise torch's first fitting hint or, in a library, the call to move.
Hints are corrected by a literal table where following them fails. A recompile gets a code change.
"""

import ast
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.analysis.dynamo.failures import is_wrapper
from core.analysis.dynamo.recompiles import local_names
from core.analysis.dynamo.varied_sizes import InputDimension, SizeAdvice, size_advice
from core.analysis.findings.finding import RunFacts, book, case, known_causes
from core.analysis.findings.number_advice import OF_TEMPLATE, makes_classes
from core.analysis.repairs.choices import COMPARES
from core.analysis.repairs.offers import LAST_RESORT, decides, decides_by_size, line_of, repairs_of_break
from core.analysis.repairs.source import (
    SETTINGS,
    SIZES_OF_MODULES,
    CodeFix,
    Proposal,
    UserCode,
    dotted,
    dynamo_settings,
    proposal_of,
    read_code,
    setting_fix,
    settings_of_break,
)
from core.base.syntax import expression
from core.report import Frame, GraphBreak, Recompile, frame_id, is_library

OPTIMIZER = re.compile(r"(?:^|/)torch/optim/")
TORCH = re.compile(r"(?:^|/)torch/(?:_\w+|distributed|nn|optim|utils|autograd|fx)/")
STANDARD = re.compile(r"(?:^|/)lib/python3\.\d+/(?!site-packages|dist-packages)|^<frozen ")
# Path in torch → class whose code it is.
OWNERS = {
    "torch/nn/parallel/distributed": "DistributedDataParallel",
    "torch/distributed/fsdp": "FSDP",
    "torch/distributed/_composable": "FSDP",
}
BUILTIN = re.compile(r"how to trace the builtin `(?P<name>[^`]+?)\.?`")
SKIPPED = re.compile(r"that the function `(?P<name>[^`]+)`(?: in file `(?P<file>[^`]+)`)?")
# Hints that name no change of the code.
NO_CHANGE = re.compile(
    r"(?:report|file|open) an issue|report a bug|graph break is fundamental|may result in an error when running in"
)
UNKNOWN_MODULE = "<unknown module>."
OUTSIDE = (
    "`{name}` belongs to Python, and Dynamo cannot trace it: call it before or after the compiled function. If the "
    "code needs the result, pass it as a tensor."
)
OF_OPTIMIZER = (
    "torch's optimizer requests this break itself; no change in your code removes it. Compile the step separately, "
    "`torch.compile(optimizer.step)`: the update is then one graph, separate from forward and backward."
)
DRAW_OUTSIDE = (
    "`use_numpy_random_stream` keeps NumPy's own random numbers by this graph break. Draw them before the call, and "
    "pass them as an input: one graph, with the same numbers."
)
# Hint that asks for a setting only, so that it helps for any line.
SETTING = re.compile(r"torch\._dynamo\.config\.|torch\.compiler\.(?!set_stance)|ignore_logging|reorderable_logging")
WITHOUT_FULLGRAPH = re.compile(r"fullgraph\s*=\s*False")
# Part of the worker's explanation of a Triton kernel launched without a GPU; torch's hint would be to allow it.
INTERPRETED = "Triton's interpreter runs this kernel"
# First words of a line that decides by a value; a condition may also be within the line.
BRANCHES = re.compile(r"^\s*(?:if|elif|while|assert)\b|\bif\b.*\belse\b")
DECIDES = (
    "Python decides here by a tensor's value. Compute both results and choose with `torch.where`, or decide outside "
    "the compiled function."
)
BRANCHING, OF_SHAPES, RAISES = "GB0170", "GB0036", "GB0088"
# Line that makes text of a value, which the graph does not know.
MAKES_TEXT = re.compile(r"""["'] ?% ?[\w(]|\.format\(|\bf["']|\b(?:str|repr)\(""")
# Context of the exception that Dynamo met, and a sentence for Dynamo's developers.
EXCEPTION = re.compile(r"raised exception (?P<type>\w+)\((?P<text>.*)\)$")
OF_DEVELOPERS = re.compile(r"[^.]*\bVariableTracker\b[^.]*\.?")
IN_BACKWARD = (
    "The line runs in a backward that compiled autograd traces. Write the `backward` of the `autograd.Function`, or "
    "the hook, with ops that Dynamo traces."
)
ON_GPU = "On a GPU the kernel is part of the graph: choose a target, or compile there."
# Words before a text of torch that nothing here has tried.
TORCHS = "torch's hint:"
TORCHS_REASON = "torch's explanation:"
UNKNOWN_CAUSE = "The page Graph breaks has torch's explanation and the stack."
# Names that Dynamo gives to arguments of a wrapper with `**kwargs`, and of its own wrapper.
KEYWORD = re.compile(r"^kwargs\['(\w+)'\]")
WRAPPED = {"args[": "inputs[", "fn.": "model."}
# The caller's name for the object whose method is compiled.
METHOD = {"self.": "model."}
ONE_GRAPH = "One graph then takes all of these sizes."
LAYOUT_OF_SIZES = "The other compilations come from conditions on sizes in the code."
# Setting that reads numbers into the graph, where no code decides by them.
READS = "capture_scalar_outputs"
MARKS_STATIC, STATIC_SIZES = "mark_static", re.compile(r"(?m)^[^#\n]*\bdynamic\s*=\s*False")
SYMBOLIC_PARAMETERS = Proposal(
    "".join(f"torch._dynamo.config.{name} = False; " for name in SIZES_OF_MODULES)
    + "torch.compile(model, dynamic=True)",
    compile={"dynamic": True},
    dynamo=dict.fromkeys(SIZES_OF_MODULES, False),
)
EQUAL = "`dynamic=True` is not enough: sizes that are equal in the first call share one symbol."
DYNAMIC = "`dynamic=True` makes sizes symbolic from the first call"
SPECIALIZED = (
    "torch specializes size {}: a call with it always needs its own compilation. Padding to 2 or more avoids it."
)


def break_advice(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the advice for a graph break, in words."""
    if INTERPRETED in graph_break.explanation:
        return ON_GPU
    if cure := cure_of_break(facts, graph_break):
        return cure
    hints = fitting_hints(facts, graph_break)
    if not is_library(graph_break.place.file):
        why = (
            " ".join((case("not traced"), TORCHS_REASON, explanation))
            if (explanation := OF_DEVELOPERS.sub("", graph_break.explanation).strip())
            else case("not traced")
            if graph_break.explanation
            else UNKNOWN_CAUSE
        )
        hint = next((hint for hint in hints if not NO_CHANGE.search(hint)), "")
        return as_torchs(graph_break, hint) or (DECIDES if _decides(facts, graph_break) else why)
    if OPTIMIZER.search(graph_break.place.file) and "graph_break()" in graph_break.reason:
        return OF_OPTIMIZER
    line = users_line(graph_break)
    captured = [compile_id for compile_id in graph_break.compilations if "!" in compile_id]
    if captured and line is None:
        return OF_TEMPLATE if makes_classes(facts, captured) else IN_BACKWARD
    setting = setting_hint(facts, graph_break)
    at = f"it is reached from `{line.short}`" if line else "it is reached from your call"
    code = f", `{line.text}`" if line and line.text else ""
    return (
        f"The line is in a library that you cannot edit; {at}{code}. "
        + (f"{setting.rstrip('.')}. Otherwise move" if setting else "Move")
        + f" that call out of the compiled function{_moved_out(facts, graph_break, line)}."
    )


def with_tensors(line: str) -> str:
    """Return a returned or assigned condition with torch's logical functions; empty for another line."""
    start = re.match(r"return |\w+ = ", line)
    code = read_code(line.removeprefix(start[0])) if start else None
    statement = code.tree.body[0] if code is not None and len(code.tree.body) == 1 else None
    value = statement.value if isinstance(statement, ast.Expr) else None
    is_logical = isinstance(value, ast.BoolOp) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
    return ast.unparse(_Logical().visit(value)) if is_logical and value is not None else ""


class _Logical(ast.NodeTransformer):
    """Replacement of Python's logical operators by torch's functions."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        values: list[ast.expr] = [self.visit(value) for value in node.values]
        name = "torch.logical_and" if isinstance(node.op, ast.And) else "torch.logical_or"
        joined = values[0]
        for value in values[1:]:
            joined = ast.Call(expression(name), [joined, value], [])
        return joined

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand: ast.expr = self.visit(node.operand)
        if not isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, operand)
        return ast.Call(expression("torch.logical_not"), [operand], [])


def _branch_words(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the advice for a line that decides by a tensor, by what it does; empty for other lines."""
    code = read_code(facts.source) if graph_break.registry_id == BRANCHING else None
    statement = code.statement(graph_break.place.line) if code and graph_break.place.file == facts.path else None
    if code is None or statement is None:
        return ""
    if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[0], ast.Raise):
        return case("raises", test=code.says(statement.test))
    if isinstance(statement, ast.If) and _ends_a_loop(code, statement):
        return case("ends a loop")
    logical = with_tensors(graph_break.code)
    reads = [node for node in ast.walk(statement) if isinstance(node, ast.BoolOp)]
    return case("logical", code=logical) if logical and all(map(_are_tensors, reads)) else ""


def _ends_a_loop(code: UserCode, statement: ast.If) -> bool:
    """Return True if a branch leaves the loop around it."""
    is_last = isinstance(statement.body[-1], (ast.Break, ast.Return))
    return is_last and not statement.orelse and bool(code.around(statement, ast.For, ast.While))


def _are_tensors(condition: ast.BoolOp) -> bool:
    """Return True if each part of a condition is a call that reduces or compares tensors."""
    parts = [part.operand if isinstance(part, ast.UnaryOp) else part for part in condition.values]
    names = [dotted(part.func) or getattr(part.func, "attr", "") for part in parts if isinstance(part, ast.Call)]
    return len(names) == len(parts) and all(name.rpartition(".")[2] in COMPARES for name in names)


def cure_of_break(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the cure of a break in words, by the book of causes, a fix or its code; empty without one."""
    if raised := raised_words(facts, graph_break):
        return raised
    if cure := known_cure(graph_break, outranks=True):
        return cure
    fix = next(iter(fixes_of_break(facts, graph_break)), None)
    if fix is not None:
        return fix_words(fix)
    of_size = case("size decides") if needs_size(facts, graph_break) else ""
    return _branch_words(facts, graph_break) or known_cure(graph_break) or of_size


def raised_words(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the advice for an exception that Dynamo met while it traced; empty for other breaks."""
    met = EXCEPTION.search(graph_break.context) if graph_break.registry_id == RAISES else None
    if met is None:
        return ""
    error, text = facts.report.error, met["text"].strip()
    text = text[1:-1] if text[:1] in ("'", '"') else text
    is_error = error is not None and error.type == met["type"] and text in error.message
    return case("raises here" if is_error else "raised in a trace", type=met["type"], text=text)


def setting_hint(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the first hint of a break that asks for a setting only, named as torch's; empty without one."""
    return as_torchs(
        graph_break, next((hint for hint in fitting_hints(facts, graph_break) if SETTING.search(hint)), "")
    )


def known_cure(graph_break: GraphBreak, outranks: bool = False) -> str:
    """Return the cure of a break in the book of causes, or one that outranks fixes; empty without one."""
    for row in book()["break"]:
        ids, code, file = row.get("ids", ()), row.get("code", ""), row.get("file", "")
        is_kind = (not ids or graph_break.registry_id in ids) and bool(file) >= outranks
        match = re.search(code, graph_break.code)
        if is_kind and match and re.search(file, graph_break.place.file):
            return str(row["advice"]).format(**match.groupdict())
    return ""


def _moved_out(facts: RunFacts, graph_break: GraphBreak, line: Frame | None) -> str:
    """Return the advice to use `torch.compiler.disable`, as the end of a sentence.

    Empty for a skipped frame, which would be skipped again.
    """
    if gives_up(facts, graph_break):
        return ""
    if line is None:
        marked = next((frame for frame in reversed(graph_break.stack) if not is_torchs(frame.file)), None)
        called = f"`{marked.name}` of `{marked.short}`" if marked and marked.name else "the library's function"
        return f", or mark {called} with `torch.compiler.disable`: one break at its call, none inside"
    return ", or into a separate function marked with `torch.compiler.disable`: one break at its call, none inside"


def gives_up(facts: RunFacts, graph_break: GraphBreak) -> bool:
    """Return True if Dynamo skipped the whole frame at this break and compiled nothing of it."""
    compilations = [
        compilation for compilation in facts.report.compilations if compilation.id in graph_break.compilations
    ]
    return bool(compilations) and all(compilation.status == "failed" for compilation in compilations)


def fixes_of_break(facts: RunFacts, graph_break: GraphBreak) -> list[CodeFix]:
    """Return the fixes of a break, best first: edits of the model's file, and settings of Dynamo.

    Without the file, only settings whose hint fits the line of the break.
    """
    if facts.source:
        repairs = repairs_of_break(facts.source, graph_break, facts.path)
        fixes = [repair.fix for repair in repairs if not repair.id.startswith(f"{LAST_RESORT}:")]
    else:
        fixes = [fix for name in settings_of_break(graph_break) if (fix := setting_fix(name))]
    is_value = MAKES_TEXT.search(graph_break.code) is not None
    return [fix for fix in fixes if fix.settings != (READS,) or not (is_value or _decides(facts, graph_break))]


def fix_words(fix: CodeFix) -> str:
    """Return a fix in words: the change, the reason, and the caveat."""
    return " ".join(filter(None, (fix.words, fix.why, fix.doubt)))


def _decides(facts: RunFacts, graph_break: GraphBreak) -> bool:
    """Return True if the line of a break, or a later line, decides by a tensor's value."""
    line = line_of(graph_break, facts.path)
    by_file = line is not None and decides(facts.source, line)
    return by_file or BRANCHES.search(graph_break.code) is not None


def needs_size(facts: RunFacts, graph_break: GraphBreak) -> bool:
    """Return True if a result has a size that depends on data, and the code decides by it."""
    line = line_of(graph_break, facts.path)
    return graph_break.registry_id == OF_SHAPES and line is not None and decides_by_size(facts.source, line)


def fix_proposal(facts: RunFacts, graph_break: GraphBreak) -> Proposal | None:
    """Return the change that the advice for a graph break names; None if it names no fix."""
    fix = next(iter(fixes_of_break(facts, graph_break)), None)
    if fix is None or known_cure(graph_break, outranks=True):
        return None
    if fix.settings and not fix.edits:
        return Proposal(SETTINGS[fix.settings[0]].line, dynamo=dynamo_settings(fix.settings))
    repairs = repairs_of_break(facts.source, graph_break, facts.path)
    return next((proposal_of([repair]) for repair in repairs if repair.fix == fix), None)


def users_line(graph_break: GraphBreak) -> Frame | None:
    """Return the innermost stack frame in the user's code; None if the log has none."""
    stack = (frame for frame in reversed(graph_break.stack) if frame.file and not is_generated(frame.file))
    return next((frame for frame in stack if not is_library(frame.file)), None)


def fitting_hints(facts: RunFacts, graph_break: GraphBreak) -> list[str]:
    """Return torch's corrected hints without those that the run follows or that do not fit the line."""
    fullgraph = bool(facts.options.get("fullgraph"))
    return [
        hint
        for hint in corrected_hints(graph_break)
        if (fullgraph or not WITHOUT_FULLGRAPH.search(hint)) and not any(name in hint for name in SETTINGS)
    ]


def as_torchs(graph_break: GraphBreak, hint: str) -> str:
    """Return a hint, named as torch's unless it is corrected; empty without a hint."""
    return f"{TORCHS} {hint}" if hint in graph_break.hints else hint


def users_name(facts: RunFacts, reason: Recompile, name: str) -> str:
    """Return the caller's name of a frame's local: `inputs[0]` for `args[0]` of torch's wrapper."""
    compilation = facts.report.compilation(reason.compilation)
    starts = WRAPPED if compilation is not None and is_wrapper(compilation) else {}
    return KEYWORD.sub(r"\1", _renamed(local_names(name), starts))


def _renamed(name: str, starts: Mapping[str, str]) -> str:
    for start, replacement in starts.items():
        if name.startswith(start):
            return replacement + name.removeprefix(start)
    return name


def size_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying tensor size, in words and as a job.

    The job is None if no option helps.
    """
    advice = size_advice(facts.report, reason)
    if advice.why == "parameter":
        return case("size of a parameter", name=name), SYMBOLIC_PARAMETERS
    if advice.why == "constant" and MARKS_STATIC in facts.source:
        return case("marked static"), None
    if advice.why == "constant" and advice.place is None and frame_id(reason.compilation) in facts.broken_frames:
        return case("constant at a break"), None
    if advice.why == "static" or (advice.why == "constant" and STATIC_SIZES.search(facts.source)):
        leave_out = Proposal("torch.compile(model)", compile={"dynamic": None}) if advice.why == "static" else None
        return "`dynamic=False` compiles one graph per size: leave it out.", leave_out
    proposal = Proposal("torch.compile(model, dynamic=True)", compile={"dynamic": True}) if advice.dynamic else None
    if advice.marks:
        named = [(users_name(facts, reason, tensor), index) for tensor, index in advice.marks]
        names = [InputDimension(_renamed(tensor, METHOD), index) for tensor, index in named]
        return _advice_with_marks(facts, advice, names), proposal
    return _advice_without_marks(advice, name), proposal


def _advice_with_marks(facts: RunFacts, advice: SizeAdvice, marks: Sequence[InputDimension]) -> str:
    code = [f"`torch._dynamo.mark_dynamic({tensor}, {_indices(dims)})`" for tensor, dims in _by_tensor(marks)]
    together = " together" if len(code) > 1 else ""
    done = f"Before the first call{together}: {', '.join(code)}"
    done += "; or `dynamic=True`." if advice.dynamic else "."
    left = ONE_GRAPH if advice.once else LAYOUT_OF_SIZES
    if advice.once and advice.special:
        left = f"One graph then takes every size from 2 up. {_specialized_words(advice)}"
    equal = not advice.dynamic and facts.options.get("dynamic") is not True
    return f"{done} {left}" + (f" {EQUAL}" if equal else "")


def _by_tensor(marks: Sequence[InputDimension]) -> list[tuple[str, list[int]]]:
    names = list(dict.fromkeys(mark.tensor for mark in marks))
    ordered = sorted(marks, key=lambda mark: (names.index(mark.tensor), mark.dim))
    return [(name, [mark.dim for mark in group]) for name, group in groupby(ordered, key=lambda mark: mark.tensor)]


def _indices(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else str(list(dims))


def _specialized_words(advice: SizeAdvice) -> str:
    return SPECIALIZED.format(" and for size ".join(map(str, advice.special)))


def _advice_without_marks(advice: SizeAdvice, name: str) -> str:
    """Return the advice if marking dimensions does not help."""
    if advice.why == "specialized":
        return (
            f"{_specialized_words(advice)} If you do not need that size, make the first call with 2 or more. If you "
            "need it, this compilation is expected."
        )
    if advice.why == "number":
        return f"{DYNAMIC}, and `{advice.number}` too. A mark alone raises, since this size depends on that number."
    if advice.why == "array":
        return case("size of an array")
    if advice.why == "inner":
        inner = f"`{name}` is created inside the model, where no size can be marked"
        return f"{DYNAMIC}; {inner}." if advice.dynamic else f"{inner}. Remove the graph break instead."
    if advice.why == "module":
        return f"torch treats the sizes of parameters and buffers as constants: pass `{name}` as an input."
    if advice.why == "constant":
        at = f" at `{advice.place.short}`" if advice.place else ""
        return f"Tracing specializes on this size{at}, so each size needs a compilation: pad inputs to few sizes."
    if advice.why == "branch":
        return "The size of the first call takes a different branch in the code, and each branch needs a compilation."
    return f"{DYNAMIC}." if advice.dynamic else "The page Recompiles shows which guard failed at which call."


@dataclass(frozen=True, slots=True)
class Correction:
    """A hint that fails when followed: its pattern, a test of the break, and the text instead.

    An empty text drops the hint. `{name}` in the text is the function in torch's explanation.
    """

    hint: re.Pattern[str]
    fits: Callable[[GraphBreak], bool]
    text: str


def is_generated(file: str) -> bool:
    """Return True for the code that torch generates for a graph, such as compiled autograd's."""
    return file.startswith("<eval_with_key>")


def is_torchs(file: str) -> bool:
    """Return True if a file belongs to torch or to Python's standard library."""
    return TORCH.search(file) is not None or STANDARD.search(file) is not None


def owner_in_torch(graph_break: GraphBreak) -> str:
    """Return the part of torch whose own code breaks the graph; empty if other code leads to the break.

    Below the last line of any other code, the stack has lines of torch and of Python's library only. A line of the user
    may call DistributedDataParallel or FSDP; for other parts of torch there must be none.
    """
    files = [frame.file for frame in graph_break.stack] or [graph_break.place.file]
    others = [index for index, file in enumerate(files) if not is_torchs(file)]
    inner = files[others[-1] + 1 :] if others else files
    owner = next((name for mark, name in OWNERS.items() if any(mark in file for file in inner)), "")
    return owner or ("torch" if not others and any(TORCH.search(file) for file in files) else "")


def builtin_name(graph_break: GraphBreak) -> str:
    """Return the builtin that Dynamo can't trace, as `time.perf_counter`; empty for any other break."""
    match = BUILTIN.search(graph_break.explanation)
    return match["name"].removeprefix(UNKNOWN_MODULE) if match else ""


def _is_pythons(graph_break: GraphBreak) -> bool:
    match = BUILTIN.search(graph_break.explanation)
    root = match["name"].partition(".")[0] if match else ""
    return root in sys.stdlib_module_names or root == UNKNOWN_MODULE.rstrip(".")


def _is_extension(graph_break: GraphBreak) -> bool:
    return not _is_pythons(graph_break)


def _is_in_library(graph_break: GraphBreak) -> bool:
    match = SKIPPED.search(graph_break.explanation)
    return match is not None and is_library(match["file"] or "")


def _is_of_optimizer(graph_break: GraphBreak) -> bool:
    match = SKIPPED.search(graph_break.explanation)
    return match is not None and OPTIMIZER.search(match["file"] or "") is not None


def _always(_: GraphBreak) -> bool:
    return True


CORRECTIONS = (
    Correction(
        re.compile(r"torch\._dynamo\.trace_autograd_ops"),
        _always,
        "Set `torch._dynamo.config.trace_autograd_ops = True`.",
    ),
    Correction(re.compile(r"If it is a Python builtin"), _is_pythons, OUTSIDE),
    Correction(re.compile(r"If it is a third-party C/C\+\+ Python extension"), _is_pythons, ""),
    Correction(re.compile(r"If it is a Python builtin"), _is_extension, ""),
    Correction(re.compile(r"dont_skip_tracing"), _is_in_library, ""),
    Correction(re.compile(r"Avoid calling the function"), _is_of_optimizer, OF_OPTIMIZER),
    Correction(re.compile(r"use_numpy_random_stream` to False"), _always, DRAW_OUTSIDE),
)


def corrected_hints(graph_break: GraphBreak) -> list[str]:
    """Return torch's hints for a break, corrected; hints without a change of the code come last."""
    hints = [_corrected(hint, graph_break) for hint in graph_break.hints]
    return sorted(filter(None, hints), key=lambda hint: NO_CHANGE.search(hint) is not None)


def _corrected(hint: str, graph_break: GraphBreak) -> str:
    for correction in CORRECTIONS:
        if correction.hint.search(hint) and correction.fits(graph_break):
            return correction.text.replace("{name}", builtin_name(graph_break))
    matches = ((cause, cause.match(hint)) for cause in known_causes("hint"))
    return next((cause.advice.format(**match.groupdict()) for cause, match in matches if match), hint)
