"""Findings about results of compiled calls, and about torch features that could not be used.

`set_logs_call` converts `TORCH_LOGS` to the call of `torch._logging.set_logs` with the same effect after import.
`next_rung` proposes the next backend to try, one layer below the run's, to locate the faulty part of torch.compile.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.analysis.findings.finding import Finding, Rule, RunFacts, case, known_causes
from core.analysis.numerics import bisection_words, cure_words
from core.analysis.repairs.offers import stale_cache
from core.analysis.repairs.source import Proposal, with_options
from core.analysis.results import difference_words, results_words
from core.base.decoder import toml_as
from core.base.syntax import NOT_READ, expression, module
from core.base.words import agree, count, number
from core.ops.costs import op_class
from core.report import Compilation, Difference, Frame, FxGraph, RemarkKind

RANDOM = "random"
DIRECTIONS = ("aot_joint_graph", "aot_forward_graph", "aot_backward_graph")
# Ops that draw random numbers; the first draws from a seed, which the next two make.
SEEDED_OP, SEED_OPS = "inductor_random", ("inductor_seeds", "inductor_seed")
# They draw nothing: `inductor_random` draws with their numbers.
NO_DRAWS = (*SEED_OPS, "inductor_lookup_seed")
# Dropout by torch's function, which drops unless told that the model is in evaluation.
ALWAYS_DROPS = re.compile(r"\b(?:F|functional)\.dropout\((?![^\n]*\btraining\b)")
KEEP_DRAWS = (
    "Leave `torch._functorch.config.activation_memory_budget` at 1, so that autograd saves what was drawn; with "
    "`torch.utils.checkpoint`, leave `preserve_rng_state` at True."
)
OF_TORCH = "`fallback_random` makes compiled code draw the same random numbers as eager; it is slower."
NUMPY_STREAM = "use_numpy_random_stream"
OF_NUMPY = "makes compiled code draw NumPy's own random numbers. Each draw is then a graph break."
MOST_PLACES = 3  #: lines of the model's file in one finding
OF_THE_CODE = "try `backend='eager'`, which uses no backend. If results still differ, this is the likely cause."
_log_names = toml_as(Path(__file__).with_name("answers.toml"), dict[str, frozenset[str]])
LOGGERS, WITHOUT_ARGUMENT = _log_names["loggers"], _log_names["without_argument"]
LEVELS = {"+": "logging.DEBUG", "-": "logging.ERROR"}
EXAMPLE = "torch._logging.set_logs(graph_breaks=True, recompiles=True)"
MOST_NAMES = 12  #: logs in one advised `set_logs` call
# A level of Python's own module, whose name torch's `_logging` ends with.
LEVEL = re.compile(r"\blogging\.")
NAMED = re.compile(r"backend='([^']+)' raised")
# Backends that end after AOTAutograd.
AOT = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot")
EAGER = Proposal(
    "torch.compile(model, backend='eager')",
    compile={"backend": "eager", "backend_code": "", "mode": None, "options": None},
)
AOT_EAGER = Proposal(
    "torch.compile(model, backend='aot_eager')",
    compile={"backend": "aot_eager", "backend_code": "", "mode": None, "options": None},
)


def differs(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if the compiled call's results or side effects differ from eager's."""
    compared = facts.compared
    if compared is None or compared.outcome != "differs":
        return
    asking = _asks_words(facts)
    if asking and backend_of(facts) != "eager":
        advice, proposal = f"{asking}: {OF_THE_CODE}", EAGER
    elif asking:
        advice, proposal = f"{asking}: the difference may be intended.", None
    elif cached := stale_words(facts):
        advice, proposal = cached, None
    elif known := _known_result(facts, compared.told[0]):
        advice, proposal = known
    elif answer := answered(facts):
        advice, proposal = answer, cure(facts)
    else:
        advice, proposal = next_rung(facts, compared.told[0].what)
    yield Finding(
        rule="results differ",
        title=f"Compiled differs from eager in {count(len(compared.differing), 'result')}.",
        reason=f"{results_words(compared)}.",
        advice=advice,
        page="speedup",
        weight="wrong",
        proposal=proposal,
    )


def stale_words(facts: RunFacts, after: int = 0) -> str:
    """Return the advice for a cached function that reads what the file changes; empty without one."""
    name, reads = stale_cache(facts.source, after)
    return case("stale cache", name=name, reads=reads) if name else ""


def rounds_otherwise(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for differences that count as rounding, if the code is known to be sensitive to it."""
    compared = facts.compared
    if compared is None or compared.outcome != "same":
        return
    if not compared.excused:
        yield from _rounds_in_sensitive_code(facts)
        return
    first, row = compared.excused[0], known_causes("rounding")[0]
    known = _known_result(facts, first)
    is_low = any(each.dtype in LOW for each in compared.excused) or re.search(row.source, facts.source)
    if known is None and not (backend_of(facts) == "inductor" and is_low):
        return
    yield Finding(
        rule=row.rule,
        title=row.title.format(difference=difference_words(first)),
        reason=row.reason.format(why=first.reason),
        advice=row.advice if known is None else known[0],
        page="speedup",
        weight="note",
    )


def _rounds_in_sensitive_code(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for 16-bit results within the tolerance, if the code is sensitive to roundings."""
    differences = [each for call in facts.report.calls for each in call.differences if each.dtype in LOW]
    first = max(differences, key=lambda each: each.max_abs, default=None)
    rows = (row for row in known_causes("rounding")[1:] if re.search(row.source, facts.source))
    row = next(rows, None) if backend_of(facts) == "inductor" else None
    if row is not None and first is not None and first.max_abs:
        title = row.title.format(difference=difference_words(first))
        yield Finding(row.rule, title, row.reason, row.advice, page="speedup", weight="note")


LOW = ("bfloat16", "float16")


def _known_result(facts: RunFacts, first: Difference) -> tuple[str, Proposal | None] | None:
    """Return the advice of the book of causes for a differing result, in words and as a job."""
    inductor_options = facts.options.get("options") or {}
    for cause in known_causes("result"):
        match = re.search(cause.source, facts.source)
        is_here = not cause.backends or backend_of(facts) in cause.backends
        if not match or not is_here or cause.option in inductor_options:
            continue
        if re.search(cause.result, difference_words(first)):
            proposal = with_options({**inductor_options, cause.option: True}) if cause.option else None
            return cause.advice.format(**match.groupdict()), proposal
    return None


SEE_OUTPUT = " The page Backend shows its output ({evidence})."


def asks_whether_compiled(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for code that branches on being compiled, so eager and compiled can differ."""
    lines = remarks(facts, "asks whether it is compiled")
    if not lines:
        return
    compared = facts.compared
    results_differ = compared is not None and compared.outcome == "differs"
    yield Finding(
        rule="asks whether it is compiled",
        title=f"{_asks_words(facts)}.",
        reason=f"`{lines[0].text}` is true only under torch.compile, so compiled may run different lines than eager.",
        advice="If the branches compute different things, results and times are not comparable. Use the test only for "
        "side effects such as `print`.",
        page="overview",
        weight="wrong" if results_differ else "note",
    )


def _asks_words(facts: RunFacts) -> str:
    lines = remarks(facts, "asks whether it is compiled")
    return f"The code branches on being compiled, at {places(lines)}" if lines else ""


def logs_set_too_late(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a file that sets TORCH_LOGS too late: torch reads it once, at import."""
    lines = remarks(facts, "sets TORCH_LOGS")
    if not lines:
        return
    yield Finding(
        rule="TORCH_LOGS set too late",
        title=f"`TORCH_LOGS` at {places(lines)} has no effect: it is set after torch was imported.",
        reason="torch reads the variable once, at import.",
        advice=_set_logs_advice(lines[0].text),
        page="overview",
        weight="note",
    )


def _set_logs_advice(line: str) -> str:
    call = set_logs_call(line)
    done = f"Replace it with `{call}`" if call else f"Call `torch._logging.set_logs` instead, as in `{EXAMPLE}`"
    levels = ", after `import logging`" if LEVEL.search(call) else ""
    return f"{done}{levels}. While the variable is set, torch ignores that call."


def remarks(facts: RunFacts, kind: RemarkKind) -> tuple[Frame, ...]:
    """Return the lines of the model's file with a remark of this kind."""
    return tuple(remark.line for source in facts.report.sources for remark in source.remarks if remark.kind == kind)


def places(lines: Sequence[Frame]) -> str:
    """Return lines in words: `m.py:3`, `m.py:9`."""
    first = ", ".join(f"`{line.short}`" for line in lines[:MOST_PLACES])
    return first + (f" and {number(len(lines) - MOST_PLACES)} more" if len(lines) > MOST_PLACES else "")


def other_strides(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for results whose strides differ from eager's."""
    compared = facts.compared
    if compared is None or compared.outcome != "other strides":
        return
    many = len(compared.restrided)
    yield Finding(
        rule="other strides",
        title=f"{count(many, 'result')} {agree(many, 'has', 'have')} eager's values and other strides.",
        reason=f"{results_words(compared)}.",
        advice="Use `.reshape()` instead of `.view()` on it: it takes any strides. Before you pass its memory to other "
        "code, call `.contiguous()` with the memory format that the code expects.",
        page="speedup",
    )


def random_numbers(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a model whose random numbers differ between compiled and eager."""
    compared = facts.compared
    if compared is None or compared.outcome != "not comparable":
        return
    # With equal draws, the gradients of the finding `backward draws` still differ.
    redrawn = any(map(_redrawn, facts.report.compilations))
    drawn = [difference for difference in compared.untold if RANDOM in difference.reason and not redrawn]
    advised = _random_advice(facts, drawn[0].reason) if drawn else None
    if advised is None:
        return
    advice, proposal = advised
    if ".eval()" in facts.source and ALWAYS_DROPS.search(facts.source):
        advice = f"{case('dropout in evaluation')} {advice}"
    yield Finding(
        rule="random numbers",
        title=f"{count(len(drawn), 'result')} cannot be compared with eager.",
        reason=f"{difference_words(drawn[0])}.",
        advice=advice,
        page="speedup",
        proposal=proposal,
    )


def _random_advice(facts: RunFacts, reason: str) -> tuple[str, Proposal] | None:
    """Return the advice that makes compiled code draw eager's numbers; None if there is none."""
    if NUMPY_STREAM in reason:
        line = f"torch._dynamo.config.{NUMPY_STREAM} = True"
        return f"`{line}` {OF_NUMPY}", Proposal(line, dynamo={NUMPY_STREAM: True})
    inductor_options = facts.options.get("options") or {}
    if inductor_options.get("fallback_random") or backend_of(facts) not in ("inductor", ""):
        return None
    return OF_TORCH, Proposal(
        "torch.compile(model, options={'fallback_random': True})",
        compile={"options": {**inductor_options, "fallback_random": True}, "mode": None},
    )


def backward_draws(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for random ops that backward recomputes with other numbers than forward drew."""
    for compilation in facts.report.compilations:
        recomputed = _redrawn(compilation)
        if recomputed:
            yield Finding(
                rule="backward draws",
                title=f"Backward draws its own random numbers: {count(recomputed, 'random op')} of forward "
                f"{agree(recomputed, 'is', 'are')} recomputed.",
                reason="Forward and backward have more random ops than AOTAutograd's joint graph, and backward "
                "has no seed of forward. Gradients then belong to other numbers than the output.",
                advice=KEEP_DRAWS,
                page="overview",
                compilation=compilation.id,
                weight="wrong",
            )


def _redrawn(compilation: Compilation) -> int:
    """Return the number of random ops that backward draws again; 0 if it gets forward's numbers or seeds."""
    ops: dict[str, Counter[str]] = {
        graph.stage: _ops(graph) for graph in compilation.graphs if graph.stage in DIRECTIONS
    }
    if set(ops) != set(DIRECTIONS):
        return 0
    joint, forward, backward = (_drawn(ops[stage]) for stage in DIRECTIONS)
    last = ops[DIRECTIONS[-1]]
    seeds = any(last[name] for name in SEED_OPS) or _drawn(last) > last[SEEDED_OP]
    return max(0, min(backward, forward + backward - joint)) if seeds else 0


def _drawn(ops: Counter[str]) -> int:
    """Return the number of ops that draw random numbers."""
    return sum(times for name, times in ops.items() if op_class(name) == "random" and name not in NO_DRAWS)


def _ops(graph: FxGraph) -> Counter[str]:
    """Return the counts of a graph's ops by name: `rand` for `torch.ops.aten.rand.default`."""
    counts: Counter[str] = Counter()
    for target, occurrences in graph.targets.items():
        parts = target.split(".")
        counts[parts[-2] if len(parts) > 1 else target] += occurrences
    return counts


def known_error(facts: RunFacts) -> Finding | None:
    """Return the finding for the error that ended a run, if the book of causes has it."""
    error = facts.report.error
    if error is None:
        return None
    for cause in known_causes("error"):
        match = cause.match(error.message) if re.search(cause.source, facts.source) else None
        if match:
            title, reason, advice = (
                text.format(**match.groupdict()) for text in (cause.title, cause.reason, cause.advice)
            )
            return Finding(cause.rule, title, reason, advice, page="overview", weight="wrong")
    return None


def known_errors(facts: RunFacts) -> Iterator[Finding]:
    """Yield the finding for an error of the book of causes."""
    finding = known_error(facts)
    if finding is not None:
        yield finding


def cuda_graphs(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding if CUDA graphs were requested and skipped, with torch's first reason."""
    counters = facts.report.counters
    counted = counters.dynamo.get("inductor", {}).get("cudagraph_skips", 0) if counters else 0
    reasons = {
        compilation.id: compilation.cudagraph_skip.strip().partition("\n")[0].rstrip(". ")
        for compilation in facts.report.compilations
        if compilation.cudagraph_skip
    }
    skips = max(counted, len(reasons))
    if not skips:
        return
    reason = next(iter(reasons.values()), "")
    yield Finding(
        rule="CUDA graphs skipped",
        title=f"{count(skips, 'graph')} did not become {agree(skips, 'a CUDA graph', 'CUDA graphs')}.",
        reason=f"torch's reason: {reason}." if reason else "The log does not contain torch's reason.",
        advice=_cuda_graph_advice(facts, reason),
        page="overview",
        compilation=next(iter(reasons), ""),
    )


def _cuda_graph_advice(facts: RunFacts, reason: str) -> str:
    if facts.job and str(facts.job.get("device", "cpu")).partition(":")[0] != "cuda":
        return NO_CUDA
    return next((advice for mark, advice in SKIPPED.items() if mark in reason), SKIPPED_OTHERWISE)


# Part of torch's reason → advice.
SKIPPED = {
    "cpu device": "Every op of a CUDA graph must run on the GPU: move inputs, buffers and constants there.",
    "multiple devices": "A CUDA graph runs on one device: compile the part on each device separately.",
    "mutated inputs": "A CUDA graph cannot mutate an input: return the new value, or store it in a buffer of the "
    "module.",
    "symbolic shapes": "Each size needs a separate CUDA graph: use few sizes and `dynamic=False`.",
    "incompatible op": "This op synchronizes with the GPU or draws random numbers on the CPU: move it out.",
    "override_cudagraphs": "The model disables CUDA graphs by an annotation.",
}
NO_CUDA = (
    "CUDA graphs need a CUDA device, and this run used another: leave out `mode='reduce-overhead'` and "
    "`triton.cudagraphs`."
)
SKIPPED_OTHERWISE = "`torch._logging.set_logs(cudagraphs=True)` in the model's file prints torch's reason."


def set_logs_call(line: str) -> str:
    """Return the `set_logs` call for a line that sets `TORCH_LOGS`; empty if it can't be converted."""
    names = [name for part in _value(line).split(",") if (name := part.strip())]
    if not names or len(names) > MOST_NAMES or not all(_is_name(name.lstrip("+-")) for name in names):
        return ""
    settings = {name.lstrip("+-"): _setting(name) for name in names}
    arguments = [f"{name}={value}" for name, value in settings.items() if _is_argument(name)]
    modules = ", ".join(f"'{name}': {value}" for name, value in settings.items() if not _is_argument(name))
    return f"torch._logging.set_logs({', '.join([*arguments, *([f'modules={{{modules}}}'] if modules else [])])})"


def _value(line: str) -> str:
    """Return the value that a line assigns to `TORCH_LOGS`; empty if it is not one string.

    The line is `os.environ["TORCH_LOGS"] = "…"`, `setdefault`, `putenv` or `update`.
    """
    try:
        tree = module(line)
    except NOT_READ:
        return ""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    values = [text for text in texts if text != "TORCH_LOGS"]
    return values[0] if len(values) == 1 else ""


def _is_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _is_argument(name: str) -> bool:
    return "." not in name and name not in WITHOUT_ARGUMENT


def _setting(name: str) -> str:
    is_logger = "." in name or name in LOGGERS
    return LEVELS.get(name[0]) or ("logging.INFO" if is_logger else "True")


def backend_of(facts: RunFacts) -> str:
    """Return the backend of a run; empty if an imported log does not have it."""
    if facts.job:
        conditions = facts.job.get("conditions") or {}
        return str(conditions.get("force_backend") or facts.options.get("backend") or "inductor")
    compilations = facts.report.compilations
    named = (NAMED.search(compilation.error) for compilation in compilations)
    if any(compilation.kernels or compilation.schedules for compilation in compilations):
        return "inductor"
    return next((match[1] for match in named if match), "")


def answered(facts: RunFacts) -> str:
    """Return the answer of torch's bisector about the faulty part; empty if it did not run, or found none."""
    bisection = facts.report.bisection
    if bisection is None or bisection.problem or not bisection.backend:
        return ""
    return " ".join(filter(None, (bisection_words(bisection), cure_words(bisection))))


def cure(facts: RunFacts) -> Proposal | None:
    """Return the options with which a trial of the bisector gave eager's results; None without one."""
    bisection = facts.report.bisection
    try:
        options = ast.literal_eval(expression(bisection.mitigation)) if bisection is not None else None
    except NOT_READ:
        return None
    return with_options(options) if isinstance(options, dict) else None


def next_rung(facts: RunFacts, output: str = "") -> tuple[str, Proposal | None]:
    """Return the next step that isolates the faulty part, in words and as a job.

    `output` is the first differing result.
    """
    backend = backend_of(facts)
    if backend == "eager":
        return "No backend is involved: compare the graph that Dynamo captured with the model's code.", None
    is_inductor = backend in ("inductor", "")
    part = "Inductor" if is_inductor else "AOTAutograd" if backend in AOT else f"`{backend}`"
    lower = "aot_eager" if is_inductor else "eager"
    look = "" if part[0] != "`" else SEE_OUTPUT.format(evidence=f"execution 0, {output}" if output else "its error")
    advice = f"Try `backend='{lower}'`: if the problem is gone, {part} causes it."
    return f"{advice}{look}", (AOT_EAGER if backend else None) if is_inductor else EAGER


RULES: tuple[Rule, ...] = (
    backward_draws,
    known_errors,
    differs,
    rounds_otherwise,
    other_strides,
    asks_whether_compiled,
    random_numbers,
    cuda_graphs,
    logs_set_too_late,
)
