"""Advice for errors, by the phase that raised them: no question is asked whose answer the phase is.

The text of Dynamo's errors has the form of a graph break: reason, explanation, hints, the line. So fixes of breaks
apply to them, too.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from core.analysis.backend import backend_problems, problem_words
from core.analysis.dynamo.failures import Failure, Phase, failed_phase, failures, phase_of
from core.analysis.findings.answers import AOT_EAGER, EAGER, known_error, stale_words
from core.analysis.findings.break_advice import (
    NO_CHANGE,
    as_torchs,
    break_advice,
    fitting_hints,
    fix_proposal,
    fix_words,
    fixes_of_break,
    known_cure,
    with_tensors,
)
from core.analysis.findings.finding import Finding, Rule, RunFacts, book, case, first_sentences, known_causes
from core.analysis.repairs.offers import line_of
from core.analysis.repairs.source import CodeFix, Proposal, UserCode, dotted, names_in, read_code
from core.base.words import duration_s
from core.report import Compilation, EntryPoint, GraphBreak

HINT = re.compile(r"^\s*Hint: (.+)$", re.MULTILINE)
EXPLANATION = re.compile(r"^\s*Explanation: (.+)$", re.MULTILINE)
REGISTRY = re.compile(r"/gb(\d+)\.html")
UNCAPTURED = "UncapturedHigherOrderOpError"
OPERATOR = re.compile(r"Higher Order Operator: (\S+)")
# Higher-order operators that compile their functions without torch.compile, too.
COMPILES_ITSELF = re.compile(r"\b(?:cond|while_loop|scan|map)(?:_impl)?$")
OF_DATA = "data-dependent expression"
# Error of a symbol for a number or a size that depends on data, and the settings that make such symbols.
UNBACKED = re.compile(r"[Uu]nbacked symbol|\bu\d+\b")
CAPTURES = ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")
# Read of a tensor's value as a number, and torch's id of a branch by a tensor.
READ, BRANCHING = re.compile(r"\.item\(\)"), "GB0170"
BEFORE_BACKENDS = "Dynamo raised it while it traced{at}, before any backend: no other backend helps."
EAGER_TOO = "{name} raises it without `torch.compile`, too: it compiles code by itself."
RAISED = "{part} raised it{at}. With `backend='{lower}'`, it is not used."
# What raised an error after capture, and the job without it.
PARTS: dict[Phase, tuple[str, Proposal]] = {
    "AOTAutograd": ("AOTAutograd", EAGER),
    "Inductor": ("Inductor", AOT_EAGER),
    "generated code": ("Inductor's compiler", AOT_EAGER),
}
OP = re.compile(r"^\s*target: (\S+)$", re.MULTILINE)
# Torch's hint about an op whose fake kernel has wrong sizes or strides.
OPCHECK = re.compile(r"^Use torch\.library\.opcheck .+", re.MULTILINE)
BISECT = "`python -m core bisect` finds the part of `torch.compile` without which it is gone."
# Line that compiles a module in place.
# Script that exports a model and compiles none.
EXPORTS = re.compile(r"(?s)\A(?!.*\btorch\.compile\b).*\bexport\b")
IN_PLACE = re.compile(r"^(?!.*\btorch\.compile\().*\.compile\(")
WITHOUT_FULLGRAPH = "Without `fullgraph=True`, Dynamo breaks the graph here, compiles the rest and runs this eagerly."
CHECK = (
    "The line decides by a size or number that depends on data. If it always holds, write `torch._check({condition})` "
    "before it; otherwise compute without this condition."
)

# What torch says of two inputs of a higher-order op.
SHARED_INPUTS = "Input-to-input aliasing"


SEPARATE = (
    "Dynamo calls the returned callable with the graph's inputs as separate arguments: `def run(*args)`. One list of "
    "inputs, with `_boxed_call`, is how AOTAutograd calls a compiler's callable."
)
SEE_BACKEND = "The page Backend shows the graph that it received, and this execution."


def backend_raised(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if the callable that a backend returned raised an exception."""
    if known_error(facts) is not None:
        return
    for problem in (each for each in backend_problems(facts.report) if each.execution is not None):
        words = problem_words(problem)
        yield Finding(
            rule="backend raised",
            title=f"The callable that `{problem.backend}` returned raised in [{problem.compilation}].",
            reason=f"{words[:1].upper()}{words[1:].rstrip('.')}.",
            advice=SEPARATE if "positional argument" in words else SEE_BACKEND,
            page="overview",
            compilation=problem.compilation,
            weight="wrong",
        )
        return


def raised_at_run_time(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for an error that compiled code raised in a call."""
    error = facts.report.error
    if error is None or failed_phase(facts.report) != "run time" or known_error(facts) is not None:
        return
    hint = OPCHECK.search(error.message)
    lines = {frame.line for frame in error.frames if frame.file == facts.path}
    broken = [each for each in facts.report.graph_breaks if line_of(each, facts.path) in lines]
    advice = break_advice(facts, broken[0]) if broken else BISECT
    yield Finding(
        rule="raised at run time",
        title=f"Compiled code raised `{error.type}` in 1 call that eager made.",
        reason=first_sentences(error.message),
        advice=hint[0] if hint else advice,
        page="overview",
        weight="wrong",
    )


def raised_in_eager(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for an error that the model raised in a call without `torch.compile`."""
    error = facts.report.error
    if error is None or not error.stage.endswith(": eager") or error.field or known_error(facts) is not None:
        return
    at = f" at `{error.frames[-1].short}`" if error.frames else ""
    yield Finding(
        rule="raised in eager",
        title=case("eager", "title", type=error.type, call=error.stage.partition(":")[0], at=at),
        reason=first_sentences(error.message),
        advice=case("eager"),
        page="overview",
        weight="wrong",
    )


def raised_in_script(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for an error that ended a script outside of a compilation."""
    error, script = facts.report.error, facts.report.script
    if error is None or script is None or error.field or known_error(facts) is not None:
        return
    if failed_phase(facts.report) or any(each.kind == "failed" for each in failures(facts.report)):
        return
    at = f" at `{error.frames[-1].short}`" if error.frames else ""
    yield Finding(
        rule="raised in a script",
        title=case("script raised", "title", type=error.type, at=at),
        reason=first_sentences(error.message),
        advice=case("export raised" if EXPORTS.search(facts.source) else "script raised"),
        page="overview",
        weight="wrong",
    )


def not_called(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for each callable of a script's `torch.compile` that a whole script never called."""
    script = facts.report.script
    if script is None or script.exit_code or facts.report.compilations:
        return
    for entry, calls in zip(script.entries, script.calls, strict=False):
        if not calls:
            at = f" at `{entry.place.short}`" if entry.place.file else ""
            is_function = re.search(rf"^class {re.escape(entry.name)}\(.*\bFunction\)", facts.source, re.MULTILINE)
            in_place = IN_PLACE.search(_line_of(facts, entry))
            name = "not called function" if is_function else "not called in place" if in_place else "not called"
            yield Finding(
                rule="not called",
                title=case("not called", "title", name=entry.name, at=at),
                reason=case("not called", "reason"),
                advice=case(name, name=entry.name),
                page="overview",
            )


def _line_of(facts: RunFacts, entry: EntryPoint) -> str:
    """Return the line of the file that compiles a callable; empty for another file."""
    lines = facts.source.split("\n") if entry.place.file == facts.path else []
    return "".join(lines[entry.place.line - 1 : entry.place.line])


def nothing_compiled(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a whole script in which a setting kept `torch.compile` from compiling anything."""
    script = facts.report.script
    if script is None or script.exit_code or facts.report.compilations or not all(script.calls):
        return
    texts = {
        "stance": " ".join(call.stance for call in facts.report.calls),
        "line": "\n".join(_line_of(facts, entry) for entry in script.entries),
        "source": facts.source,
    }
    for row in book()["uncompiled"]:
        if any(name in row and re.search(row[name], text) for name, text in texts.items()):
            yield Finding("nothing compiled", row["title"], row["reason"], row["advice"], page="overview")
            return
    line = 0 if script.entries else _compiling_line(facts.source)
    if line:
        at = f" at `{facts.path.rpartition('/')[2]}:{line}`"
        title, reason = (case("not reached", part, at=at) for part in ("title", "reason"))
        yield Finding("empty first call", title, reason, case("not reached"), page="overview")


def empty_first_call(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a callable without ops in its first call: Dynamo leaves later calls to eager."""
    report = facts.report
    empty = [each for each in report.compilations if each.status == "empty"]
    calls = sum(report.script.calls) if report.script else len(report.calls)
    if not empty or len(empty) < len(report.compilations) or report.graph_breaks or report.error or calls < 2:
        return
    title = case("empty first call", "title", name=facts.names[empty[0].id])
    reason, advice = case("empty first call", "reason"), case("empty first call")
    yield Finding("empty first call", title, reason, advice, page="overview", compilation=empty[0].id)


def _compiling_line(source: str) -> int:
    """Return the number of the first line with `torch.compile`; 0 without one."""
    code = read_code(source)
    named = ast.walk(code.tree) if code is not None else ()
    lines = (each.lineno for each in named if isinstance(each, ast.Attribute) and dotted(each) == "torch.compile")
    return min(lines, default=0)


def traps(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for each known trap of a run, whose results nobody compares with eager's."""
    script, graphs = facts.report.script, (graph for each in facts.report.compilations for graph in each.graphs)
    targets = "\n".join(target for graph in graphs for target in graph.targets)
    backends = {entry.backend for entry in script.entries} if script else set()
    yield from _stale_cache(facts)
    for row in book()["trap"] if targets and not (script and script.exit_code) else ():
        if any(each.registry_id in row.get("unless", ()) for each in facts.report.graph_breaks):
            continue
        is_compiled = "backends" not in row or backends & {*row["backends"]}
        if is_compiled and re.search(row.get("target", ""), targets) and re.search(row["source"], facts.source):
            texts = (row["title"], row["reason"], row["advice"])
            yield Finding(row.get("rule", "results may differ"), *texts, page="overview", weight="wrong")


def _stale_cache(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a cached function that a script compiles, and that reads what changes later."""
    script = facts.report.script
    if script is None or script.exit_code or not script.entries or CACHE_IGNORED not in facts.output:
        return
    if advice := stale_words(facts, max(entry.place.line for entry in script.entries)):
        title, reason = case("stale cache", "title"), case("stale cache", "reason")
        yield Finding("results may differ", title, reason, advice, page="overview", weight="wrong")


# Part of torch's warning about a function whose cache Dynamo does not use.
CACHE_IGNORED = "ignores the cache wrapper"


def first_call_timed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if a script's clock measures the first call of a compiled callable."""
    script, code = facts.report.script, read_code(facts.source)
    took_s = sum(facts.seconds.values())
    if script is None or script.exit_code or not script.entries or code is None or not took_s:
        return
    compiled, regions = _compiled_names(code), list(_timed_regions(code))
    name = next(filter(None, (_first_called(code, region, compiled) for region in regions)), "")
    # Who measures it again knows that the first call compiles.
    if sum(any(_calls_name(node, name) for node in region) for region in regions) > 1:
        return
    if name:
        title = case("first call timed", "title", name=name, seconds=duration_s(took_s))
        texts = (title, case("first call timed", "reason"), case("first call timed", name=name))
        yield Finding("first call timed", *texts, page="compile_time", weight="note")


CLOCK = re.compile(r"(?:\.|^)(?:perf_counter(?:_ns)?|monotonic|process_time|default_timer|time)$")
TIMER = re.compile(r"(?:^|\.)(?:timeit|repeat)$")
MEAN = re.compile(r"(?:^|\.)(?:sum|f?mean|average)$")


def _compiled_names(code: UserCode) -> set[str]:
    """Return the names of compiled callables in a file, and of modules that it compiles in place."""
    names = set()
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Assign) and _compiles(node.value):
            names |= {dotted(target) for target in node.targets}
        elif isinstance(node, ast.FunctionDef) and any(map(_compiles, node.decorator_list)):
            names.add(node.name)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            owner, _, method = dotted(node.value.func).rpartition(".")
            names |= {owner} if method == "compile" else set()
    for node in ast.walk(code.tree):
        if isinstance(node, ast.For) and _lists(node):
            listed = names_in(node.iter) & names or any(map(_compiles, ast.walk(node.iter)))
            names |= names_in(node.target) if listed else set()
    return names - {"", "torch", "re"}


def _compiles(value: ast.AST) -> bool:
    callee = value.func if isinstance(value, ast.Call) else value
    return isinstance(callee, ast.expr) and dotted(callee) == "torch.compile"


def _timed_regions(code: UserCode) -> Iterator[list[ast.AST]]:
    """Yield the nodes between two readings of a clock, in code whose first round counts."""
    for block in (getattr(node, "body", None) for node in ast.walk(code.tree)):
        statements = block if isinstance(block, list) else []
        for at, first in enumerate(statements):
            start = _started(first)
            rest = statements[at + 1 :]
            last = next((index for index, each in enumerate(rest) if start and _takes_difference(each, start)), None)
            loops = code.around(first, ast.For, ast.While)
            if last is not None and all(_counts_first(code, loop, rest[last]) for loop in loops):
                yield [node for each in rest[: last + 1] for node in ast.walk(each)]
    yield from ([*ast.walk(node)] for node in ast.walk(code.tree) if _calls(node, TIMER))


def _counts_first(code: UserCode, loop: ast.AST, last: ast.stmt) -> bool:
    """Return True for a loop over listed callables, and if all times that `last` appends are averaged."""
    if _lists(loop):
        return True
    appended = {dotted(node.func) for node in ast.walk(last) if isinstance(node, ast.Call)}
    averaged, cut = set(), set()
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Subscript):
            cut.add(dotted(node.value))
        elif isinstance(node, ast.Call):
            owner, _, method = dotted(node.func).rpartition(".")
            cut |= {owner} if method == "pop" else set()
            averaged |= set(map(dotted, node.args)) if _calls(node, MEAN) else set()
    return any(f"{name}.append" in appended for name in averaged - cut)


def _lists(loop: ast.AST) -> bool:
    return isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List))


def _started(statement: ast.stmt) -> str:
    """Return the name of a clock's reading, or of an event that is recorded; empty for another statement."""
    if isinstance(statement, ast.Assign) and _calls(statement.value, CLOCK):
        return dotted(statement.targets[0])
    call = statement.value if isinstance(statement, ast.Expr) else None
    owner, _, method = dotted(call.func).rpartition(".") if isinstance(call, ast.Call) else ("", "", "")
    return owner if method == "record" else ""


def _takes_difference(statement: ast.stmt, start: str) -> bool:
    nodes = list(ast.walk(statement))
    differences = [node.right for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)]
    return start in map(dotted, differences) or any(_calls_name(node, f"{start}.elapsed_time") for node in nodes)


def _calls_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == name


def _calls(node: ast.AST, pattern: re.Pattern[str]) -> bool:
    return isinstance(node, ast.Call) and pattern.search(dotted(node.func)) is not None


def _first_called(code: UserCode, region: Sequence[ast.AST], compiled: Collection[str]) -> str:
    """Return the compiled callable whose first call is in a timed region; empty without one.

    A function that times its parameter counts if its only call passes a compiled callable, which nothing called before.
    """
    calls = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call)]
    for name in dict.fromkeys(dotted(node.func) for node in region if isinstance(node, ast.Call)):
        first = min((call for call in calls if dotted(call.func) == name), key=lambda call: call.lineno, default=None)
        passes = [call for call in calls if name in map(dotted, call.args)]
        if first is None or first not in region or any(call.lineno < first.lineno for call in passes):
            continue
        if name in compiled:
            return name
        function = next(code.around(region[0], ast.FunctionDef), None)
        if function is None or name not in {each.arg for each in function.args.args}:
            continue
        users = [call for call in calls if dotted(call.func) == function.name]
        passed = [(call, dotted(each)) for call in users for each in call.args if dotted(each) in compiled]
        if len(passed) == 1 and not any(code.around(passed[0][0], ast.For, ast.While)):
            call, given = passed[0]
            if not any(dotted(other.func) == given and other.lineno < call.lineno for other in calls):
                return given
    return ""


def phase_words(compilation: Compilation, first: Failure) -> tuple[str, Proposal | None]:
    """Return what raised a compilation's error after capture, and a job without it; empty if unknown."""
    phase = phase_of(compilation)
    if phase not in PARTS:
        return "", None
    op, place = OP.search(compilation.error), f"`{first.place.short}`" if first.place.file else ""
    at = ", ".join(filter(None, (f"`{op[1]}`" if op and phase == "Inductor" else "", place)))
    part, without = PARTS[phase]
    return RAISED.format(part=part, at=f" at {at}" if at else "", lower=without.compile["backend"]), without


def dynamo_error_words(facts: RunFacts, compilation: Compilation, first: Failure) -> tuple[str, Proposal | None]:
    """Return the advice for an error of Dynamo, in words and as a job; the job is None if no option helps."""
    broken, operator = _as_break(facts, compilation, first), _operator(facts, compilation)
    at = f" `{first.place.short}`" if first.place.file else ""
    if symbol := _unbacked_words(facts, compilation):
        return symbol, _without_symbols(facts)
    of_op = next(iter(known_causes("traced")))
    raised = of_op.match(compilation.error)
    change = of_op.advice if raised and _is_tried(facts, broken) else _change(facts, compilation, broken)
    if not change and not operator and not facts.options.get("fullgraph") and not _eager_raises(facts, operator):
        change = case("op raised" if raised else "left to eager")
    words = [of_op.title.format(**raised.groupdict()) if raised else "", BEFORE_BACKENDS.format(at=at), change]
    if _eager_raises(facts, operator):
        words.append(EAGER_TOO.format(name=f"`{operator}`" if operator else "The code"))
    fullgraph = bool(facts.options.get("fullgraph")) and not operator
    if fullgraph:
        words.append(WITHOUT_FULLGRAPH)
    proposal = Proposal("torch.compile(model)", compile={"fullgraph": False}) if fullgraph else None
    if OF_DATA in compilation.error and _choices(facts, broken):
        proposal = fix_proposal(facts, replace(broken, registry_id=BRANCHING))
    return " ".join(filter(None, words)), proposal


def _unbacked_words(facts: RunFacts, compilation: Compilation) -> str:
    """Return the advice for an error of a symbol that torch could not resolve; empty for other errors."""
    if OF_DATA in compilation.error or not UNBACKED.search(compilation.error):
        return ""
    proposal = _without_symbols(facts)
    return case("unbacked", setting=next(iter(proposal.dynamo))) if proposal else case("unbacked input")


def _without_symbols(facts: RunFacts) -> Proposal | None:
    """Return the job without settings that turn data into symbols; None without them, or with `fullgraph`."""
    dynamo = (facts.job.get("conditions") or {}).get("dynamo") or {}
    names = [name for name in CAPTURES if dynamo.get(name)]
    words = "; ".join(f"torch._dynamo.config.{name} = False" for name in names)
    return Proposal(words, dynamo=dict.fromkeys(names, False)) if names and not facts.options.get("fullgraph") else None


def _change(facts: RunFacts, compilation: Compilation, broken: GraphBreak) -> str:
    """Return the change of the line; empty if neither a rule nor torch's text has one."""
    if OF_DATA in compilation.error:
        choice = next(iter(_choices(facts, broken)), None)
        if choice is not None:
            return fix_words(choice)
        condition = _condition(broken.code)
        return CHECK.format(condition=condition) if condition else ""
    if SHARED_INPUTS in compilation.error:
        return case("inputs share memory")
    logical = with_tensors(broken.code) if _operator(facts, compilation) else ""
    if logical:
        return case("logical", code=logical)
    fixes = sorted(fixes_of_break(facts, broken), key=lambda fix: bool(fix.settings))
    if fixes:
        return fix_words(fixes[0])
    if cure := known_cure(broken):
        return cure
    return as_torchs(broken, next((hint for hint in fitting_hints(facts, broken) if not NO_CHANGE.search(hint)), ""))


def _choices(facts: RunFacts, broken: GraphBreak) -> list[CodeFix]:
    """Return the fixes for a line that decides by a number that it reads from a tensor."""
    if not READ.search(broken.code):
        return []
    return [fix for fix in fixes_of_break(facts, replace(broken, registry_id=BRANCHING)) if not fix.settings]


def _is_tried(facts: RunFacts, broken: GraphBreak) -> bool:
    """Return True if a line of the model's file is in the body of a `try`."""
    code = read_code(facts.source) if broken.place.file == facts.path else None
    statement = code.statement(broken.place.line) if code is not None else None
    if code is None or statement is None:
        return False
    return any(statement in ast.walk(part) for tried in code.around(statement, ast.Try) for part in tried.body)


def _eager_raises(facts: RunFacts, operator: str) -> bool:
    """Return True if eager raises the error, too: as the run tried, or else by the operator."""
    tried = facts.report.error.eager_raises if facts.report.error else None
    return bool(COMPILES_ITSELF.search(operator)) if tried is None else tried


def _operator(facts: RunFacts, compilation: Compilation) -> str:
    """Return the higher-order operator whose function can't be traced; empty for any other error.

    Torch names it in the raised error only.
    """
    if compilation.error_type != UNCAPTURED:
        return ""
    match = OPERATOR.search(facts.report.error.message if facts.report.error else "")
    return match[1] if match else "the higher-order operator"


def _as_break(facts: RunFacts, compilation: Compilation, first: Failure) -> GraphBreak:
    """Return an error in the form of a graph break."""
    explanation, registry = EXPLANATION.search(compilation.error), REGISTRY.search(compilation.error)
    lines = facts.source.split("\n") if first.place.file == facts.path else []
    code = (
        lines[first.place.line - 1].strip() if 0 < first.place.line <= len(lines) else _logged_line(compilation, first)
    )
    return GraphBreak(
        reason=first.reason,
        explanation=explanation[1] if explanation else "",
        hints=tuple(HINT.findall(compilation.error)),
        context="",
        registry_id=f"GB{registry[1]}" if registry else "",
        place=first.place,
        code=code,
        stack=(),
        compilations=(compilation.id,),
    )


def _logged_line(compilation: Compilation, first: Failure) -> str:
    """Return the text of the line in torch's message; empty without it."""
    place = rf'File "{re.escape(first.place.file)}", line {first.place.line}, in [^\n,]+(?:, code: |\n\s+)(.+)'
    match = re.search(place, compilation.error)
    return match[1].strip() if match else ""


def _condition(line: str) -> str:
    """Return the condition of an `if`, `while` or `assert`; empty for another line."""
    match = re.match(r"(?:(?:el)?if|while) (.+):$|assert ([^,]+)", line)
    return next(filter(None, match.groups()), "") if match else ""


RULES: tuple[Rule, ...] = (
    backend_raised,
    raised_at_run_time,
    raised_in_eager,
    raised_in_script,
    not_called,
    nothing_compiled,
    empty_first_call,
    traps,
    first_call_timed,
)
