"""Contradictions of a run's cards: with one another, with the counts of the page, and with what the run recorded.

Each check takes the cards of a run, and yields a sentence for each contradiction. `contradictions` makes all checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from core.analysis.dynamo.failures import failures
from core.analysis.dynamo.recompiles import local_names, recompiled
from core.analysis.dynamo.varied_sizes import tensor_sizes
from core.analysis.findings import Finding, findings
from core.analysis.repairs.offers import repair_of
from core.analysis.repairs.source import edited
from core.report import Report, frame_id

SETTING = re.compile(r"torch\._(?:dynamo|functorch|inductor)\.config\.([\w.]+) = (\w+)")
DYNAMIC = re.compile(r"`dynamic=(True|False)`(?! is not enough| compiles one graph)")
WITHOUT_DYNAMIC = re.compile(r"`dynamic=False` compiles one graph per size: leave it out")
MARK = re.compile(r"mark_(dynamic|static)\((\w[\w.\[\]']*), (\d+|\[[\d, ]+\])")
# Advice to mark a function so that Dynamo does not trace it, and advice to remove such a mark.
DISABLES = re.compile(r"mark(?:ed)? (?:\S+ of \S+ |[\w' ]+ )?with `torch\.compiler\.disable`")
ENABLES = re.compile(r"Remove the `?torch\.compiler\.disable|Remove `torch\.compiler\.disable")
FULLGRAPH = re.compile(r"Without `fullgraph=True`, Dynamo breaks|Consider using fullgraph=(False)")
ASKS_FULLGRAPH = re.compile(r"(?:[Uu]se|[Pp]ass|[Ww]ith) `fullgraph=True`")
PLACE = re.compile(r"^(?:Graph break|`\[[^\]]*\]` \S+) at `([^`]+:\d+)`")
RECOMPILED = re.compile(r"recompiled (\d+) times?")
OWN_BREAKS = re.compile(r"^(\d+) graph breaks? in the code of")
EAGER = re.compile(r"^(\d+) frames? runs? eagerly|^(\d+) compilations? failed|^(\d+) frames? (?:is|are) over")
CHANGED_SIZE = re.compile(r": dimension (\d+) of `([^`]+)` changed size")
NO_BACKEND, NOTHING_TO_DO = "no other backend helps", "There is nothing to change"
MAY_RAISE = "may result in an error when running in eager"
Ask = tuple[str, object]


@dataclass(frozen=True)
class Cards:
    """The cards of a run, with its report and the text of its file."""

    report: Report
    found: Sequence[Finding]
    source: str = ""

    @cached_property
    def options(self) -> dict[str, object]:
        """Options of torch.compile and names of Dynamo's config that the run had."""
        job = self.report.setting.job or {}
        return {**(job.get("compile") or {}), **((job.get("conditions") or {}).get("dynamo") or {})}


def asks(card: Finding) -> Iterator[Ask]:
    """Yield what a card asks to set: names of options or settings, dimensions and marks, each with its value."""
    if card.proposal is not None:
        yield from card.proposal.compile.items()
        yield from card.proposal.dynamo.items()
    text = card.advice
    yield from (
        (name, value == "True" if value in ("True", "False") else value) for name, value in SETTING.findall(text)
    )
    if WITHOUT_DYNAMIC.search(text):
        yield "dynamic", None
    yield from (("dynamic", value == "True") for value in DYNAMIC.findall(text))
    yield from ((f"{tensor}, {dim}", kind) for kind, tensor, dim in MARK.findall(text))
    if FULLGRAPH.search(text) or ASKS_FULLGRAPH.search(text):
        yield "fullgraph", ASKS_FULLGRAPH.search(text) is not None


def opposed_asks(cards: Cards) -> Iterator[str]:
    """Yield pairs of cards that ask for different values of one option, or name different marks of a dimension."""
    for first, second in combinations(cards.found, 2):
        wanted = dict(asks(first))
        for name, value in asks(second):
            if name in wanted and wanted[name] != value:
                yield f"{name}: {wanted[name]} for `{first.title}`, {value} for `{second.title}`"


def opposed_words(cards: Cards) -> Iterator[str]:
    """Yield cards that disable what another one enables, or whose proposal another card calls useless."""
    for first, second in combinations(cards.found, 2):
        for one, two in ((first, second), (second, first)):
            if DISABLES.search(one.advice) and ENABLES.search(two.advice) and _place(one) == _place(two):
                yield f"disables and enables: `{one.title}`, `{two.title}`"
            other = two.proposal is not None and "backend" in two.proposal.compile
            if NO_BACKEND in one.advice and other and one.compilation == two.compilation:
                yield f"no backend helps, and another is proposed: `{one.title}`, `{two.title}`"


def opposed_fixes(cards: Cards) -> Iterator[str]:
    """Yield cards about one line that propose different changes, and changes that edit the same text differently."""
    proposing = [card for card in cards.found if card.proposal is not None]
    for first, second in combinations(proposing, 2):
        keys = {each.proposal.key for each in (first, second) if each.proposal is not None}
        both_edit = all(each.proposal is not None and each.proposal.repairs for each in (first, second))
        if len(keys) == 2 and both_edit and _place(first) and _place(first) == _place(second):
            yield f"two changes for {_place(first)}: {sorted(keys)}"
        ids = {repair for each in (first, second) if each.proposal is not None for repair in each.proposal.repairs}
        fixes = [fix for each in sorted(ids) if (fix := repair_of(cards.source, each)) is not None]
        if len(keys) == 2 and edited(cards.source, [edit for fix in fixes for edit in fix.fix.edits]) is None:
            yield f"edits overlap: {sorted(ids)}"


def opposed_advice(cards: Cards) -> Iterator[str]:
    """Yield cards about one line that name different settings, or a change beside no change."""
    for first, second in combinations(cards.found, 2):
        if _place(first) and _place(first) == _place(second):
            nothing = [NOTHING_TO_DO in each.advice for each in (first, second)]
            if any(nothing) and not all(nothing):
                yield f"something and nothing to do for {_place(first)}"
            if (
                first.rule != second.rule
                and "failed" not in first.rule + second.rule
                and dict(asks(first)) != dict(asks(second))
            ):
                yield f"{first.rule} and {second.rule} ask for different settings at {_place(first)}"


def wrong_counts(cards: Cards) -> Iterator[str]:
    """Yield counts in titles that are not those of the page."""
    by_rule: dict[str, list[Finding]] = {}
    for card in cards.found:
        by_rule.setdefault(card.rule, []).append(card)
    report = cards.report
    again = sum(int(match[1]) for card in by_rule.get("recompiles", ()) if (match := RECOMPILED.search(card.title)))
    if again > len(recompiled(report)):
        yield f"cards have {again} recompiles, the page {len(recompiled(report))}"
    own = [OWN_BREAKS.match(card.title) for card in by_rule.get("graph breaks", ())]
    breaks = sum(int(match[1]) if match else 1 for match in own)
    if breaks != len(report.graph_breaks):
        yield f"cards have {breaks} graph breaks, the page {len(report.graph_breaks)}"
    for kind in {failure.kind for failure in failures(report)}:
        number = len({each.compilation for each in failures(report) if each.kind == kind})
        for card in by_rule.get(f"not compiled: {kind}", ()):
            match = EAGER.match(card.title)
            if match and int(next(filter(None, match.groups()))) != number:
                yield f"`{card.title}` has another number than the page, {number}"


def refuted(cards: Cards) -> Iterator[str]:
    """Yield advice that the run itself refutes: what it had set, sizes it made constant, errors eager did not raise."""
    for card in cards.found:
        for name, value in asks(card):
            if name in cards.options and name != "options" and cards.options[name] == value not in (None, ""):
                yield f"the run has {name}={value}: `{card.title}`"
        if NOTHING_TO_DO in card.advice and card.proposal is not None:
            yield f"nothing is to change, and a change is proposed: `{card.title}`"
        if MAY_RAISE in card.advice and cards.report.error is None and cards.report.calls:
            yield f"eager did not raise: `{card.title}`"
        match = CHANGED_SIZE.search(card.title)
        if match and ("dynamic", True) in asks(card) and _is_constant(cards.report, card, match[2], int(match[1])):
            yield f"torch makes dimension {match[1]} of `{match[2]}` a constant: `{card.title}`"


def _is_constant(report: Report, card: Finding, name: str, index: int) -> bool:
    """Return True if a dimension of an input is a number in all guards of a frame, and no parameter has its size."""
    if "force_parameter_static_shapes" in card.advice:
        return False
    frame = frame_id(card.compilation)
    compiled = [each for each in report.compilations if frame_id(each.id) == frame and each.status == "ok"]
    sizes = [
        listed[index]
        for each in compiled
        for source, listed in tensor_sizes(each).items()
        if local_names(source) == name and index < len(listed)
    ]
    return len(sizes) > 1 and None not in sizes


def _place(card: Finding) -> str:
    match = PLACE.search(card.title) or PLACE.search(card.reason)
    return match[1] if match else ""


CHECKS = (opposed_asks, opposed_words, opposed_fixes, opposed_advice, wrong_counts, refuted)


def contradictions(
    report: Report, found: Iterable[Finding] | None = None, source: str = "", output: str = ""
) -> list[str]:
    """Return all contradictions of a run's cards, a sentence each; `found` are its cards if they are known."""
    cards = Cards(report, [*(findings(report, output, source) if found is None else found)], source)
    return [each for check in CHECKS for each in check(cards)]
