"""Advice for recompiles by sizes and numbers: the code change, and the remaining recompiles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from core.analysis.dynamo.frame_names import is_wrapper
from core.analysis.dynamo.varied_sizes import InputDimension, SizeAdvice, number_is_symbolic, size_advice
from core.analysis.findings.finding import Proposal, RunFacts
from core.analysis.repairs.settings import SETTINGS
from core.report import Recompile

# Names that Dynamo gives to arguments of a wrapper with `**kwargs`, and of its own wrapper.
KEYWORD = re.compile(r"^kwargs\['(\w+)'\]")
WRAPPED = {"args[": "inputs[", "fn.": "model."}
# The caller's name for the object whose method is compiled.
METHOD = {"self.": "model."}
ONE_GRAPH = "One graph then takes all of these sizes."
LAYOUT_OF_SIZES = "The conditions that the code has on sizes make the other compilations."
EQUAL = "`dynamic=True` is not enough: it makes one symbol of sizes that are equal in the first call."
DYNAMIC = "`dynamic=True` makes symbols of sizes from the first call on"
SPECIALIZED = "torch makes a specialization for size {}: a call with it stays a compilation of its own."
CONSTANT_NUMBER = (
    "The code makes a constant of it, so that each value takes a compilation. Where it is used in arithmetic alone, "
    "pass `torch.tensor({})`, whose value is data."
)
INTEGER_OF_MODULE = SETTINGS["allow_unspec_int_on_nn_module"]
NUMBER_OF_MODULE = (
    f"torch takes integers of a module for constants: `{INTEGER_OF_MODULE.line}` makes symbols of them, and a buffer "
    "holds the number as data."
)
NUMBER_ATTRIBUTE = "Keep it in a tensor, such as a buffer of the module, which holds the number as data."


def users_name(facts: RunFacts, reason: Recompile, name: str) -> str:
    """Return the caller's name of a frame's local: `inputs[0]` for `args[0]` of torch's wrapper."""
    compilation = facts.report.compilation(reason.compilation)
    starts = WRAPPED if compilation is not None and is_wrapper(compilation) else {}
    return KEYWORD.sub(r"\1", _renamed(name, starts))


def _renamed(name: str, starts: Mapping[str, str]) -> str:
    for start, replacement in starts.items():
        if name.startswith(start):
            return replacement + name.removeprefix(start)
    return name


def size_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying tensor size, and the same as a job if a job option does it."""
    advice = size_advice(facts.report, reason)
    if advice.why == "static":
        leave_out = Proposal("torch.compile(model)", compile={"dynamic": None})
        return "`dynamic=False` asks for one graph a size: leave it out.", leave_out
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
            f"{_specialized_words(advice)} Where that size is not needed, make the first call with 2 or more; "
            "where it is, nothing is left to spare."
        )
    if advice.why == "number":
        return f"{DYNAMIC}, and of `{advice.number}`. A mark alone raises, since this size is tied to that number."
    if advice.why == "inner":
        inner = f"`{name}` is made within the model, where no size can be marked"
        return f"{DYNAMIC}; {inner}." if advice.dynamic else f"{inner}: without the graph break it has no frame."
    if advice.why == "module":
        return f"torch takes the sizes of parameters and buffers for constants: pass `{name}` as an input."
    if advice.why == "constant":
        at = f" at `{advice.place.short}`" if advice.place else ""
        return f"The code makes a constant of this size{at}, so that each size takes a compilation: pad to few sizes."
    if advice.why == "branch":
        return "The code takes another branch for the size of the first call: a compilation for each is what it takes."
    return f"{DYNAMIC}." if advice.dynamic else "The page tells which guard failed at which call."


def number_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying Python number, and the same as a job."""
    if number_is_symbolic(facts.report, reason) and facts.options.get("dynamic") is None:
        proposal = Proposal("torch.compile(model, dynamic=True)", compile={"dynamic": True})
        return "`dynamic=True` makes a symbol of it from the first call on.", proposal
    if INTEGER_OF_MODULE.name in reason.hint:
        return _module_number_advice()
    return CONSTANT_NUMBER.format(name), None


def attribute_words(facts: RunFacts, reason: Recompile, name: str) -> tuple[str, Proposal | None]:
    """Return the advice for a varying number in an attribute, and the same as a job."""
    return _module_number_advice() if INTEGER_OF_MODULE.name in reason.hint else (NUMBER_ATTRIBUTE, None)


def _module_number_advice() -> tuple[str, Proposal]:
    setting = INTEGER_OF_MODULE
    return NUMBER_OF_MODULE, Proposal(setting.line, dynamo={setting.name: setting.value})
