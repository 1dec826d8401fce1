"""Matching of two runs: options, source files, compilations, guards, graph breaks and recompiles."""

import hashlib
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Generic, TypeVar

from core.analysis.dynamo.failures import resumed
from core.analysis.repairs.claims import NO_TRIALS, RunTrials
from core.base.decoder import decoded
from core.base.errors import DecodeError
from core.code.diff import TextDiff, diff_texts
from core.job.options import OPTIONS
from core.report import Compilation, FxGraph, FxNode, GraphBreak, Guard, Payload, Recompile, Report, Setting

Read = Callable[[Payload], str]
ReadGraph = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]
# Options without effect on what is compiled or measured, and the code, which is compared separately.
LEFT_OUT = frozenset(
    {"schema", "sweep", "repairs_of", "from_file", *(option.name for option in OPTIONS if not option.compared)}
)
# Values that equal a missing option: logs of older versions lack newer options, which then had their defaults.
AS_ABSENT = frozenset({"", "''", "None", "False", "{}", "[]", "'default'", "'objects'", "'model'", "0"})
# Defaults as a log stores them: a tuple is a list in JSON.
DEFAULTS = {
    option.name: repr([*option.default] if isinstance(option.default, tuple) else option.default)
    for option in OPTIONS
    if option.compared
}
# Parts of a job whose fields are shown without this prefix.
PARTS = ("compile.", "conditions.")
# Torch's own options, whose defaults are not known without torch.
NAMED = ("options.", "dynamo.", "sizes.", "rival.")
LONGEST_VALUE = 200  #: characters of an option that is compared


@dataclass(frozen=True, slots=True)
class RunSide:
    """A report, with readers for the texts and graphs of its log, and the trials of its fixes."""

    report: Report
    text: Read
    nodes: ReadGraph
    trials: RunTrials = NO_TRIALS


# Object addresses, which differ between processes.
ADDRESS = re.compile(r"(?<=, )\d{7,}(?=\))|(?<=== )\d{9,}|\b\d{12,}\b|0x[0-9a-fA-F]{6,}")
# Names of globals that Dynamo adds, with running numbers.
NUMBERED = re.compile(r"(?<=__)(\w+?)_\d+_c\d+")
Element = TypeVar("Element")


@dataclass(frozen=True, slots=True)
class MatchedPair(Generic[Element]):
    """An element of the left run and its counterpart in the right run; a side without the element is None."""

    left: Element | None
    right: Element | None

    @property
    def both(self) -> bool:
        """True if both runs have the element."""
        return self.left is not None and self.right is not None


@dataclass(frozen=True, slots=True)
class GuardDifference:
    """Guards of two compilations: number of common guards, and the guards of one compilation only."""

    both: int
    only_left: tuple[Guard, ...]
    only_right: tuple[Guard, ...]


def settled(text: str) -> str:
    """Return one of torch's texts without the parts that differ between processes, such as addresses."""
    return NUMBERED.sub(r"\1", ADDRESS.sub("…", text))


def matched(
    left: Sequence[Element], right: Sequence[Element], *keys: Callable[[Element], Hashable]
) -> tuple[MatchedPair[Element], ...]:
    """Match two sequences by the first key they share, trying the keys in order.

    Each element occurs once: in the left order first, followed by elements of the right sequence only.
    """
    partner: dict[int, int] = {}
    for key in keys:
        matched_right = set(partner.values())
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for j, element in enumerate(right):
            if j not in matched_right:
                waiting[key(element)].append(j)
        for i, element in enumerate(left):
            if i not in partner and waiting[key(element)]:
                partner[i] = waiting[key(element)].popleft()
    matched_right = set(partner.values())
    pairs = [MatchedPair(element, right[partner[i]] if i in partner else None) for i, element in enumerate(left)]
    alone: list[MatchedPair[Element]] = [
        MatchedPair(None, element) for j, element in enumerate(right) if j not in matched_right
    ]
    return (*pairs, *alone)


def compilations(left: Report, right: Report) -> tuple[MatchedPair[Compilation], ...]:
    """Match the compilations of two runs by id and name, by name and file, by name, then by function.

    If nothing matches, compilations with the same id match.
    """
    pairs = matched(
        left.compilations,
        right.compilations,
        lambda compilation: (compilation.id, compilation.frame.name),
        lambda compilation: (compilation.frame.name, _file(compilation.frame.file)),
        lambda compilation: compilation.frame.name,
        lambda compilation: resumed(compilation.frame.name)[0],
    )
    if not any(pair.both for pair in pairs):
        return matched(left.compilations, right.compilations, lambda compilation: compilation.id)
    return pairs


def guard_difference(left: Sequence[Guard], right: Sequence[Guard]) -> GuardDifference:
    """Return the guards that two compilations share and the guards of one only, ignoring object addresses."""
    left_counts, right_counts = Counter(map(_guard_key, left)), Counter(map(_guard_key, right))
    return GuardDifference(
        (left_counts & right_counts).total(), _extra_guards(left, right_counts), _extra_guards(right, left_counts)
    )


def _extra_guards(guards: Sequence[Guard], counts: Counter[Hashable]) -> tuple[Guard, ...]:
    unmatched = Counter(counts)
    extra = []
    for guard in guards:
        key = _guard_key(guard)
        if unmatched[key]:
            unmatched[key] -= 1
        else:
            extra.append(guard)
    return tuple(extra)


def _guard_key(guard: Guard) -> Hashable:
    return guard.kind, settled(guard.source), settled(guard.expression)


def breaks(left: Report, right: Report) -> tuple[MatchedPair[GraphBreak], ...]:
    """Match graph breaks by reason, code, file and line, then without the line if code is known."""
    return matched(
        left.graph_breaks,
        right.graph_breaks,
        lambda graph_break: (
            settled(graph_break.reason),
            graph_break.code.strip(),
            _file(graph_break.place.file),
            graph_break.place.line,
        ),
        lambda graph_break: (
            settled(graph_break.reason),
            graph_break.code.strip() or graph_break.place.line,
            _file(graph_break.place.file),
        ),
    )


def recompiles(left: Report, right: Report) -> tuple[MatchedPair[Recompile], ...]:
    """Match the recompiles of two runs by frame and reason."""
    names = {
        id(side): {compilation.id: compilation.frame.name for compilation in side.compilations}
        for side in (left, right)
    }

    def listed(report: Report) -> list[tuple[str, Recompile]]:
        return [(names[id(report)].get(recompile.compilation, ""), recompile) for recompile in report.recompiles]

    pairs = matched(listed(left), listed(right), lambda entry: (entry[0], settled(entry[1].reason)))
    return tuple(
        MatchedPair(pair.left[1] if pair.left else None, pair.right[1] if pair.right else None) for pair in pairs
    )


def _file(path: str) -> str:
    return PurePosixPath(path).name


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """A file whose text differs between the runs, with its name in each run."""

    left: str
    right: str
    diff: TextDiff


def source_differences(left: RunSide, right: RunSide) -> tuple[SourceDifference, ...] | None:
    """Return the compiled file and others in both logs that differ; None if one lacks the code."""
    left_texts, right_texts = _texts(left), _texts(right)
    if not left_texts or not right_texts:
        return None
    pairs = [(next(iter(left_texts)), next(iter(right_texts)))]
    pairs += [(name, name) for name in list(left_texts)[1:] if name in list(right_texts)[1:]]
    return tuple(
        SourceDifference(
            left_name, right_name, diff_texts(left_texts[left_name], right_texts[right_name], left_name, right_name)
        )
        for left_name, right_name in pairs
        if left_texts[left_name] != right_texts[right_name]
    )


def _texts(side: RunSide) -> Mapping[str, str]:
    """Return the files of a run by name without folder, the compiled file first."""
    texts: dict[str, str] = {}
    for source in side.report.sources:
        texts.setdefault(PurePosixPath(source.path).name, _text(side.text(source.payload)))
    return texts


def _text(payload: str) -> str:
    try:
        read = decoded(payload)
    except DecodeError:
        return ""
    return str(read.get("text", "")) if isinstance(read, dict) else ""


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """An option that differs between two runs, both values as Python source; empty if not set."""

    name: str
    left: str
    right: str


def option_differences(left: Setting, right: Setting) -> tuple[OptionDifference, ...]:
    """Return the options and devices that differ; for an imported log, among those both have."""
    left_options, right_options = _options(left), _options(right)
    names = dict.fromkeys((*left_options, *right_options))
    differences = (OptionDifference(name, left_options.get(name, ""), right_options.get(name, "")) for name in names)
    jobs = left.job is not None and right.job is not None
    return tuple(
        difference
        for difference in differences
        if not _is_same(difference) and (jobs or (difference.left and difference.right))
    )


def _is_same(difference: OptionDifference) -> bool:
    """Return True if both values are equal; an option that an old log lacks has its default."""
    if difference.name.startswith(NAMED):
        return difference.left == difference.right
    default = DEFAULTS.get(difference.name, "")
    values = {difference.left or default, difference.right or default}
    return len(values) == 1 or values <= AS_ABSENT


def _options(setting: Setting) -> dict[str, str]:
    ran = {
        name: str(value)
        for name, value in (
            ("torch", setting.torch),
            ("python", setting.python),
            ("device", setting.device),
            ("target", setting.target),
            ("threads", setting.threads),
            ("CPUs", setting.cpus),
        )
        if value
    }
    requested = dict(_flat_options(setting.job or {}))
    if requested.get("threads", "None") != "None":
        ran.pop("threads", None)
    return {**{name: value for name, value in requested.items() if name not in LEFT_OUT}, **ran}


def _flat_options(job: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in job.items():
        path = f"{before}{name}"
        if path == "model" and isinstance(value, dict):
            yield "model", "pasted code" if value.get("kind") == "code" else str(value.get("value"))[:LONGEST_VALUE]
            yield "callable", repr(value.get("name"))
        elif name == "backend_code" and value:
            yield _short_name(path), f"code {hashlib.sha256(str(value).encode(errors='replace')).hexdigest()[:8]}"
        elif path == "repairs":
            yield "repairs", _repair_words(value)
        elif isinstance(value, dict) and value:
            yield from _flat_options(value, f"{path}.")
        else:
            yield _short_name(path), repr(value)[:LONGEST_VALUE]


def _repair_words(steps: Any) -> str:
    """Return repairs in words: "keep tensor at line 17, capture scalars" for ids such as `keep_tensor:17`."""
    ids = [str(repair) for step in steps for repair in step] if isinstance(steps, list | tuple) else []
    named = (repair.partition(":") for repair in ids)
    words = (f"{rule.replace('_', ' ')}{_place_words(at)}" for rule, _, at in named)
    return ", ".join(words)[:LONGEST_VALUE]


def _place_words(at: str) -> str:
    if not at:
        return ""
    return f" at line {at}" if at.isdecimal() else f" of {at}"


def _short_name(path: str) -> str:
    part = next((part for part in PARTS if path.startswith(part)), "")
    return path.removeprefix(part)
