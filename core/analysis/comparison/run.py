"""Comparison of two runs: all differences as values; and of the keys of their cache lookups.

Torch logs the components of a key as lines `[hash] name[item]: value`. Two keys differ in the components with different
hashes; a value is only torch's text about it, and may be equal although the hashes differ.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Any, Literal

from core.analysis.comparison.compilations import CompilationComparison, compare_compilations
from core.analysis.comparison.figures import (
    Figure,
    PhasePair,
    TimeComparison,
    figures,
    phase_pairs,
    time_comparison,
)
from core.analysis.comparison.matching import (
    MatchedPair,
    OptionDifference,
    RunSide,
    SourceDifference,
    breaks,
    compilations,
    option_differences,
    recompiles,
    source_differences,
)
from core.analysis.dynamo.failures import failure_sentence, failures
from core.analysis.results import results
from core.analysis.verdict import side_words
from core.base.decoder import decoded_object
from core.job.options import OPTIONS
from core.report import CacheEvent, GraphBreak, Payload, Recompile, Report

# Options of a job that don't change its eager call.
OF_THE_COMPILER = frozenset(option.name for option in OPTIONS if not option.eager)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Full comparison of two runs; `left` and `right` describe the runs.

    `sources` is None if a log does not contain the code. `failures` and `results` describe each run in words.
    """

    left: str
    right: str
    options: tuple[OptionDifference, ...]
    sources: tuple[SourceDifference, ...] | None
    figures: tuple[Figure, ...]
    compilations: tuple[CompilationComparison, ...]
    breaks: tuple[MatchedPair[GraphBreak], ...]
    recompiles: tuple[MatchedPair[Recompile], ...]
    phases: tuple[PhasePair, ...]
    times: TimeComparison | None
    failures: tuple[str, str]
    results: tuple[str, str]
    caches: tuple[CachePair, ...] = ()

    def figure(self, name: str) -> Figure:
        """Return the figure of this name; both values are None if neither run has it."""
        return next((figure for figure in self.figures if figure.name == name), Figure(name, None, None))


def compare_runs(left: RunSide, right: RunSide) -> RunComparison:
    """Compare the right run with the left run."""
    left_report, right_report = left.report, right.report
    options, sources = option_differences(left_report.setting, right_report.setting), source_differences(left, right)
    return RunComparison(
        side_words(left_report),
        side_words(right_report),
        options,
        sources,
        figures(left_report, right_report),
        compare_compilations(left, right),
        breaks(left_report, right_report),
        recompiles(left_report, right_report),
        phase_pairs(left_report, right_report),
        time_comparison(left_report, right_report, same_eager(left_report, right_report, options, sources)),
        (_failure_words(left_report), _failure_words(right_report)),
        (_outcome(left_report), _outcome(right_report)),
        tuple(cache_pairs(left, right)),
    )


def same_eager(
    left: Report,
    right: Report,
    options: tuple[OptionDifference, ...],
    sources: tuple[SourceDifference, ...] | None,
) -> bool:
    """Return True if eager is known to do the same work in both runs: same code, inputs and machine."""
    comparable = left.setting.job is not None and right.setting.job is not None and sources is not None
    differing = {
        difference.name for difference in options if not difference.name.startswith(("options.", "dynamo.", "rival."))
    }
    return comparable and not sources and not differing - OF_THE_COMPILER - {"model"}


def _failure_words(report: Report) -> str:
    if report.error is not None:
        return f"failed while {report.error.stage}: {report.error.type}"
    return failure_sentence(failures(report))


def _outcome(report: Report) -> str:
    result = results(report)
    return result.outcome if result is not None else ""


MOST_LOOKUPS = 200  #: limit: cache lookups of two runs whose keys are compared
MOST_LINES = 5  #: changed lines of a graph that a comparison of keys names
KeyPartKind = Literal["config", "source", "constant", "input", "version", "environment", "mode", "pass", "call"]
# Beginning of a component's name → its kind; the first that fits counts. Any other component is of the call.
PART_KINDS: tuple[tuple[str, KeyPartKind], ...] = (
    *((name, "source") for name in ("gm", "user_defined_triton_source", "triton_kernel_source_codes")),
    ("example_inputs", "input"),
    *((name, "config") for name in ("inductor_config", "autograd_config", "cache_key_tag", "provenance_tracking")),
    ("custom_backend_codegen_configs", "config"),
    ("torch_version", "version"),
    *((name, "environment") for name in ("system_info", "cpp_runtime_thread_count")),
    *((name, "mode") for name in ("grad_enabled", "autocast", "deterministic", "default_dtype", "cuda_matmul")),
    *(
        (name, "pass")
        for name in ("pre_grad_custom", "post_grad_custom", "joint_custom", "_pre_fusion", "_post_fusion")
    ),
    *((name, "pass") for name in ("_fuse_ddp", "custom_backend_passes", "_custom_partitioner", "custom_estimator")),
)
COMPONENT = re.compile(r"\[(\w+)\] (\w+)(?:\[([^\]]*)\])?: ?(.*)", re.DOTALL)
RELEASED = re.compile(r";( +\w+ =)+ None.*")
CONSTANT = re.compile(r"_tensor_constant|_buffers\.|_parameters\.")
# Field of a tensor's metadata, such as `shape=torch.Size([4, 8])`.
METADATA = re.compile(r"(\w+)=((?:[^,()\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])*)")
# Fields that follow from the shape and the dtype.
FOLLOWS = frozenset({"storage_bytes", "stride", "memory_format"})
UNSEEN = "another value with the same text"


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A part of a cache key that differs between two lookups; a side without the part is empty.

    `variable` is the environment variable that differs and sets this option; empty if none is known.
    """

    kind: KeyPartKind
    name: str
    left: str
    right: str
    variable: str = ""


@dataclass(frozen=True, slots=True)
class CachePair:
    """The same cache lookup in two runs; a side without the lookup is None.

    `differences` is None if a log lacks the components of its key.
    """

    cache: str
    left: CacheEvent | None
    right: CacheEvent | None
    differences: tuple[KeyDifference, ...] | None = None

    @property
    def same_key(self) -> bool:
        """True if both lookups had the same key."""
        return bool(self.left and self.right and self.left.key and self.left.key == self.right.key)


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Components of a key: name → (hash, text); and what our recorder adds, by part."""

    components: dict[tuple[str, str], tuple[str, str]]
    inputs: dict[str, dict[str, str]]


def cache_pairs(left: RunSide, right: RunSide) -> Iterator[CachePair]:
    """Yield each cache lookup with its counterpart in the other run, AOTAutograd's before the FX graph's."""
    names = {
        pair.right.id: pair.left.id for pair in compilations(left.report, right.report) if pair.left and pair.right
    }
    lefts, rights = _by_lookup(left.report, {}), _by_lookup(right.report, names)
    for cache, compilation in sorted({*lefts, *rights}, key=lambda lookup: (lookup[1], lookup[0])):
        lookups = (lefts[cache, compilation], rights[cache, compilation])
        for ours, theirs in zip_longest(*lookups):
            differences = None
            if ours and theirs and ours.key and theirs.key:
                differences = () if ours.key == theirs.key else _differences(_key(left, ours), _key(right, theirs))
            yield CachePair(cache, ours, theirs, differences)


def _by_lookup(report: Report, names: dict[str, str]) -> dict[tuple[str, str], list[CacheEvent]]:
    lookups: dict[tuple[str, str], list[CacheEvent]] = defaultdict(list)
    for event in report.caches[:MOST_LOOKUPS]:
        lookups[event.cache, names.get(event.compilation, event.compilation)].append(event)
    return lookups


def _key(side: RunSide, event: CacheEvent) -> CacheKey:
    components = {}
    for line in _json(side, event.details).get("components") or ():
        if match := COMPONENT.fullmatch(str(line)):
            components[match[2], match[3] or ""] = (match[1], match[4])
    inputs = {name: value for name, value in _json(side, event.inputs).items() if isinstance(value, dict)}
    return CacheKey(components, inputs)


def _json(side: RunSide, place: Payload | None) -> dict[str, Any]:
    return decoded_object(side.text(place)) if place is not None else {}


def _differences(left: CacheKey, right: CacheKey) -> tuple[KeyDifference, ...] | None:
    """Return the parts in which two keys differ; None if a log lacks the components."""
    if not left.components or not right.components:
        return None
    named = dict.fromkeys((*left.components, *right.components))
    unlike = (part for part in named if left.components.get(part, ("",))[0] != right.components.get(part, ("",))[0])
    return tuple(difference for part in unlike for difference in _parts(part, left, right))


def _parts(part: tuple[str, str], left: CacheKey, right: CacheKey) -> Iterator[KeyDifference]:
    name, item = part
    kinds = (kind for prefix, kind in PART_KINDS if name.startswith(prefix))
    kind: KeyPartKind = next(kinds, "call")
    texts = [side.components.get(part, ("", ""))[1] for side in (left, right)]
    if name == "gm":
        yield from _graph_parts(texts, left, right)
    elif name in OF_RECORD and (more := tuple(_recorded(OF_RECORD[name], kind, left, right))):
        yield from more
    elif kind == "input":
        yield KeyDifference(kind, f"input {item}", *_metadata(*texts))
    else:
        label = item if kind == "config" and item else f"{name}[{item}]" if item else name
        yield _difference(kind, label, texts, left, right)


# Component that is one hash → the part of our record with its values.
OF_RECORD = {"torch_version": "versions", "autograd_config": "settings"}


def _recorded(part: str, kind: KeyPartKind, left: CacheKey, right: CacheKey) -> Iterator[KeyDifference]:
    ours, theirs = left.inputs.get(part, {}), right.inputs.get(part, {})
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            yield _difference(kind, name, [ours.get(name, ""), theirs.get(name, "")], left, right)


def _difference(kind: KeyPartKind, name: str, texts: list[str], left: CacheKey, right: CacheKey) -> KeyDifference:
    if texts[0] == texts[1]:
        texts = [texts[0], UNSEEN]
    ours, theirs = (side.inputs.get("environment", {}) for side in (left, right))
    ending = f"_{name.replace('.', '_').upper()}"
    differing = (variable for variable in (*ours, *theirs) if ours.get(variable) != theirs.get(variable))
    variable = next((variable for variable in differing if kind == "config" and variable.endswith(ending)), "")
    return KeyDifference(kind, name, texts[0], texts[1], variable)


def _metadata(left: str, right: str) -> tuple[str, str]:
    """Return the fields in which two inputs differ, without a stride that follows from the shape."""
    ours, theirs = dict(METADATA.findall(left)), dict(METADATA.findall(right))
    unlike = [name for name in dict.fromkeys((*ours, *theirs)) if ours.get(name) != theirs.get(name)]
    shown = [name for name in unlike if name not in FOLLOWS or not {"shape", "dtype"}.intersection(unlike)]
    if not ours or not theirs or not shown:
        return left, right
    texts = (", ".join(f"{name} {side.get(name, '')}" for name in shown) for side in (ours, theirs))
    return next(texts), next(texts)


def _graph_parts(texts: list[str], left: CacheKey, right: CacheKey) -> Iterator[KeyDifference]:
    """Yield the changed lines of a graph, then the constants and attributes whose hashes differ."""
    ours, theirs = ([RELEASED.sub("", line).strip() for line in text.splitlines()] for text in texts)
    changes = (
        (one, other)
        for change, start, end, from_, to in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
        if change != "equal"
        for one, other in zip_longest(ours[start:end], theirs[from_:to], fillvalue="")
    )
    lines = [KeyDifference("source", "graph", *pair) for pair in islice(changes, MOST_LINES)]
    yield from lines
    ours_by, theirs_by = left.inputs.get("graph", {}), right.inputs.get("graph", {})
    unlike = [name for name in dict.fromkeys((*ours_by, *theirs_by)) if ours_by.get(name) != theirs_by.get(name)]
    named = [name for name in unlike if CONSTANT.match(name) or not lines]
    for name in named:
        yield KeyDifference("constant", name, ours_by.get(name, "")[:12], theirs_by.get(name, "")[:12])
    if not lines and not named:
        yield KeyDifference("constant", "graph module", "", UNSEEN)
