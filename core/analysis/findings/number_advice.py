"""Advice for recompiles caused by a Python number (argument, attribute, …) or by an object."""

import re
from collections.abc import Iterable, Iterator

from core.analysis.dynamo.failures import is_called_inside
from core.analysis.dynamo.varied_sizes import number_is_symbolic
from core.analysis.findings.finding import RunFacts, case
from core.analysis.repairs.offers import AttributeUse, attribute_use, condition, key_of, newest_reasons, scheduler_steps
from core.analysis.repairs.source import SETTINGS, Proposal
from core.base.words import number
from core.report import Recompile, Report, frame_id

NAMED_LINES = 3
INTEGER_OF_MODULE = SETTINGS["allow_unspec_int_on_nn_module"]
# Name of a number that a caller passes.
ARGUMENT = re.compile(r"[A-Za-z_]\w*|inputs\[\d+\]")
# Names of values that a line has computed before its graph break.
LEFT_BY_A_BREAK = "___stack"
LAST_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])*$")
HYPERPARAMETER = re.compile(r"\.param_groups\[\d+\]\['(\w+)'\]")
# Hyper-parameters that schedulers of these classes change, unless they get `cycle_momentum=False`.
CYCLED, CYCLES = ("betas", "momentum"), ("OneCycleLR", "CyclicLR")
SYMBOLIC = "`dynamic=True` makes it symbolic from the first call."
SPECIALIZES = "Dynamo specializes on its value, so each value needs a compilation."
PASS_TENSOR = f"{SPECIALIZES} If it is only used in arithmetic, pass `torch.tensor({{}})`."
STORE_TENSOR = f"{SPECIALIZES} If it is only used in arithmetic, store it in a tensor, such as a buffer of the module."
OF_INTEGERS = (
    f"torch treats integer attributes of a module as constants. Set `{INTEGER_OF_MODULE.line}` to make them symbolic, "
    "or store the number in a buffer."
)
KEY = "`{key}` needs the value itself. Look it up where `{name}` is set, and keep the result in an attribute."
KEY_OF_ARGUMENT = "`{key}` needs the value itself. Look it up before the call, and pass the result."
SHARED = "It never changes; instances with other values share this code."
COMPUTE_ONCE = (
    "Compute `{condition}` once, in `__init__`, and test the result: instances with equal results share a compilation."
)
BUFFER_OF_INSTANCE = "Store it in a buffer: guards do not check the value of a tensor."
INLINED = "Without the graph break, they are inlined, and need no compilation of their own."
PASS_CONDITION = (
    "Compute `{condition}` outside of the compiled function, and pass the result: two compilations take all values."
)
COUNT_OUTSIDE = "Count outside of the compiled function, or store the number in a buffer."
NEEDED = "Python needs the number itself, so each value needs a compilation."
CYCLE = "`OneCycleLR` and `CyclicLR` keep `{key}` with `cycle_momentum=False`: one compilation is then enough."
RATE = "Pass `lr=torch.tensor(…)` to the optimizer: a scheduler then changes its value in place, which no guard checks."
CONSTANT = "Each value of `{key}` needs a compilation: keep it constant."
DEFINE_ONCE = (
    "A class that is defined again is another class: define it once, at module level. If `{name}` has several classes, "
    "each needs a compilation."
)
# Mark of a class that a function defines.
LOCAL_CLASS = "<locals>"
# Integers that torch specializes on even with `dynamic=True`.
ZERO_OR_ONE = re.compile(r" == [01]\s*(?:#|$)", re.MULTILINE)
# Class in torch's reason.
CLASS = re.compile(r"type=<class '[^']*?(\w+)'>")
# Class that the backend `eager` makes in each call for an `autograd.Function` in a graph.
TEMPLATE = "ApplyTemplateBackward"
OF_TEMPLATE = (
    "With the backend `eager`, torch makes a class for each call of an `autograd.Function` in a graph. Compile the "
    "forward with Inductor or `backend='aot_eager'`: AOTAutograd traces the function, and makes no class."
)


def number_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying Python number, in words and as a job.

    The job is None if no option helps.
    """
    last = LAST_NAME.search(name)
    is_argument = ARGUMENT.fullmatch(name) is not None
    is_symbolic = _is_symbolic(facts, reason)
    if is_symbolic and not ZERO_OR_ONE.search(reason.reason):
        return SYMBOLIC, _dynamic()
    key = key_of(reason.code, last[1]) if last else ""
    if key:
        return (KEY_OF_ARGUMENT if is_argument else KEY).format(key=key, name=name), None
    if INTEGER_OF_MODULE.name in reason.hint:
        return OF_INTEGERS, _symbolic_integers()
    if name.startswith(LEFT_BY_A_BREAK):
        return case("before the break"), None
    if is_argument and is_symbolic:
        return case("zero or one", name=name), None
    return (PASS_TENSOR.format(name) if is_argument else STORE_TENSOR), None


def _is_symbolic(facts: RunFacts, reason: Recompile) -> bool:
    """Return True if torch made the number a symbol, and the job leaves `dynamic` to torch."""
    return number_is_symbolic(facts.report, reason) and facts.options.get("dynamic") is None


def hyperparameter_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying hyper-parameter, in words and as a job; the job may be None."""
    match = HYPERPARAMETER.search(name)
    key = match[1] if match else ""
    if key in CYCLED:
        return _cycling_words(facts, key), None
    dynamic = _is_symbolic(facts, reason)
    return (RATE if key == "lr" else CONSTANT.format(key=key)), _dynamic() if dynamic and key == "lr" else None


def class_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for an object of another class, in words; there is no job for it."""
    if makes_classes(facts, [reason.compilation]):
        return OF_TEMPLATE, None
    return case("local class") if LOCAL_CLASS in reason.reason else DEFINE_ONCE.format(name=name), None


def member_words(facts: RunFacts, reason: Recompile, _: str) -> tuple[str, Proposal | None]:
    """Return the advice for another member of an enumeration, in words; empty for other objects."""
    match = CLASS.search(reason.reason)
    is_member = match is not None and re.search(rf"^\s*class {match[1]}\(.*Enum.*\):", facts.source, re.MULTILINE)
    return (case("member", kind=match[1]) if match and is_member else ""), None


def length_words(facts: RunFacts, _: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a list of numbers, or one that the file fills, in words; otherwise empty."""
    guards = (guard.expression for each in facts.report.compilations for guard in each.guards)
    if any(re.search(rf"\b{re.escape(name)}\W*\[\d+\] == -?\d", each) for each in guards):
        return case("numbers of a list"), None
    last = LAST_NAME.search(name)
    fills = last is not None and re.search(
        rf"\b{last[1]}\.(?:append|extend|insert|add|update|pop|clear)\(", facts.source
    )
    return (case("filled") if fills else ""), None


def makes_classes(facts: RunFacts, compile_ids: Iterable[str]) -> bool:
    """Return True if a frame was recompiled because torch made a class for an `autograd.Function`."""
    frames = set(map(frame_id, compile_ids))
    return any(TEMPLATE in each.reason and frame_id(each.compilation) in frames for each in facts.report.recompiles)


def _cycling_words(facts: RunFacts, key: str) -> str:
    file = facts.path.rpartition("/")[2]
    steps = [(kind, line) for kind, line in scheduler_steps(facts.source) if kind in CYCLES]
    if len(steps) != 1:
        return f"A scheduler changes `{key}`. {CYCLE.format(key=key)}"
    kind, line = steps[0]
    return f"`{kind}` changes `{key}` in its step at `{file}:{line}`. {CYCLE.format(key=key)}"


def attribute_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying number in an attribute, in words and as a job; the job may be None."""
    attribute = name.rpartition(".")[2]
    use = attribute_use(facts.source, attribute)
    if _is_symbolic(facts, reason) and not ZERO_OR_ONE.search(reason.reason):
        return SYMBOLIC, _dynamic()
    key = key_of(reason.code, attribute) or (use.key if use else "")
    if key:
        return KEY.format(key=key, name=name), None
    symbolic = INTEGER_OF_MODULE.name in reason.hint and not (use and (use.condition or use.needed))
    if use is None:
        return (OF_INTEGERS, _symbolic_integers()) if symbolic else (STORE_TENSOR, None)
    happens = _changes(facts, use, name) if use.changed else SHARED
    if symbolic:
        return f"{happens} {OF_INTEGERS}", _symbolic_integers()
    return f"{happens} {_use_words(facts, reason, use)}", None


def counters(text: str, report: Report) -> Iterator[Proposal]:
    """Yield the change, in words, for each counter that recompiles and that a condition needs."""
    names = [condition(each.reason).partition(" == ")[0] for each in newest_reasons(report.recompiles)]
    for attribute in dict.fromkeys(name.rpartition(".")[2] for name in names if "." in name):
        use = attribute_use(text, attribute)
        if use is not None and use.changed and use.condition:
            yield Proposal(PASS_CONDITION.format(condition=use.condition))


def value_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for an attribute with a condition that tells instances apart; empty otherwise."""
    use = attribute_use(facts.source, name.rpartition(".")[2])
    if use is None or use.changed or not use.condition:
        return "", None
    return f"{SHARED} {COMPUTE_ONCE.format(condition=use.condition)}", None


def differs_by_instance(facts: RunFacts, name: str) -> bool:
    """Return True if the model's file sets an attribute in `__init__` only."""
    use = attribute_use(facts.source, name.rpartition(".")[2])
    return use is not None and not use.changed


def _use_words(facts: RunFacts, reason: Recompile, use: AttributeUse) -> str:
    if use.changed and use.condition:
        return PASS_CONDITION.format(condition=use.condition)
    if use.changed:
        return NEEDED if use.needed else COUNT_OUTSIDE
    if use.condition:
        advice = COMPUTE_ONCE.format(condition=use.condition)
    else:
        advice = NEEDED if use.needed else BUFFER_OF_INSTANCE
    recompiled = facts.report.compilation(reason.compilation)
    inner = recompiled is not None and is_called_inside(recompiled) and bool(facts.report.graph_breaks)
    return f"{advice} {INLINED}" if inner else advice


def _changes(facts: RunFacts, use: AttributeUse, name: str) -> str:
    file = facts.path.rpartition("/")[2]
    lines = ", ".join(f"`{file}:{line}`" for line in use.changed[:NAMED_LINES])
    more = f" and {number(len(use.changed) - NAMED_LINES)} more" if len(use.changed) > NAMED_LINES else ""
    return f"The code changes `{name}` at {lines}{more}."


def _dynamic() -> Proposal:
    return Proposal("torch.compile(model, dynamic=True)", compile={"dynamic": True})


def _symbolic_integers() -> Proposal:
    return Proposal(INTEGER_OF_MODULE.line, dynamo={INTEGER_OF_MODULE.name: INTEGER_OF_MODULE.value})
