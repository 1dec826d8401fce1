"""Guards as torch prints them: the tree of a compilation, and one guard's text with the user's line and torch's hint.

`construct_manager_string` in torch/_dynamo/guards.py prints a line for each manager and one for each *part* of a leaf:

    +- RootGuardManager
    | +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(…), type=…, tag_safe=(…)
    | | +- TENSOR_MATCH: check_tensor(L['x'], …)  # y = x.sin()  # m.py:7 in forward
    | | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['x'], '_dynamo_dynamic_indices') == False   (one of five parts)
    | | +- KeyValueManager pair at index=0
    | | | +- KeyManager: GuardManager: source=list(dict.keys(L['d']))[0], type=…
    +- LAMBDA_GUARD: 2 <= L['x'].size()[0]   (the root's epilogue)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.report import Frame, Guard, Place

TREE_LINE = re.compile(r"^((?:\| )*)\+- (\w+)(?:: (.*))?$")
SOURCE = re.compile(r"source=(.*?), (?:accessed_by|type)=")
LOCATION = re.compile(r"^(\S+):(\d{1,9}) in (\S+)$")
TRACEBACK_FRAME = re.compile(r'^ *File "(.*)", line (\d{1,9}), in (.*)$')
LATENCY = re.compile(r"^Guard latency = ([0-9.]+) us", re.MULTILINE)
HINT = " (HINT: "
# A manager has at most one leaf of these kinds, so neighbouring lines are its parts.
OF_PARTS = frozenset({"DIMENSION_DYNAMIC_MARKING_GUARD", "SYMBOLIC_SHAPE_GUARD"})
MAX_LINES = 500_000


@dataclass(frozen=True, slots=True)
class GuardText:
    """A guard's text: the condition, the user's code and line that needed it, and torch's hint."""

    text: str
    code: str = ""
    location: Place | None = None
    hint: str = ""


def parse_guard(text: str) -> GuardText:
    """Split `expression  # the user's code  # file.py:7 in forward (HINT: …)` into its parts; a stack below it has the
    full path.
    """
    text, _, trace = text.partition("\nUser stack trace:")
    text, hint = _without_hints(text.strip())
    parts = re.split(r"\s+# ", text)
    location, _, remark = parts[-1].partition(" (") if len(parts) > 1 else ("", "", "")
    match = LOCATION.match(location)
    if match is None:
        return GuardText(text, hint=hint)
    place = Place(match[1], int(match[2]), match[3])
    for frame in traceback_frames(trace)[-1:]:
        place = Place(frame.file, frame.line, frame.name)
    hint = "; ".join(filter(None, (remark.removesuffix(")"), hint)))
    return GuardText(parts[0].strip(), " # ".join(parts[1:-1]), place, hint)


def _without_hints(text: str) -> tuple[str, str]:
    hints: list[str] = []
    while text.endswith(")") and HINT in text:
        text, _, hint = text.rpartition(HINT)
        hints.insert(0, hint.removesuffix(")"))
    return text, "; ".join(hints)


def traceback_frames(text: str) -> tuple[Frame, ...]:
    """Return the frames of a traceback as Python prints it."""
    frames: list[Frame] = []
    for line in text.split("\n"):
        match = TRACEBACK_FRAME.match(line)
        if match:
            frames.append(Frame(match.group(1), int(match.group(2)), match.group(3)))
        elif frames and line.strip() and not frames[-1].text and not set(line.strip()) <= set("^~ "):
            frames[-1] = replace(frames[-1], text=line.strip())
    return tuple(frames)


def parse_guards(text: str) -> tuple[Guard, ...]:
    """Return the leaves of a `dynamo_cpp_guards_str`; neighbouring parts are joined if their kind shows that they are
    one.
    """
    groups: list[list[Guard]] = []
    manager = 0
    for opened, part in _parts(text):
        if groups and opened == manager and part.kind == groups[-1][0].kind and part.kind in OF_PARTS:
            groups[-1].append(part)
        else:
            groups.append([part])
        manager = opened
    return tuple(_merge(group) for group in groups)


def grouped_guards(text: str, parts: Sequence[int]) -> tuple[Guard, ...] | None:
    """Return the leaves, given the number of parts of each; None if the text has another number of parts."""
    lines = [part for _, part in _parts(text)]
    if sum(parts) != len(lines) or min(parts, default=1) < 1:
        return None
    remaining = iter(lines)
    return tuple(_merge([next(remaining) for _ in range(count)]) for count in parts)


def _parts(text: str) -> Iterator[tuple[int, Guard]]:
    """Yield each printed part of a leaf, with the number of managers above it in the text."""
    sources: dict[int, str] = {}
    managers = 0
    for number, line in enumerate(text.split("\n")):
        match = TREE_LINE.match(line.rstrip())
        if not match or number >= MAX_LINES:
            continue
        depth, kind, rest = len(match.group(1)) // 2, match.group(2), match.group(3) or ""
        if kind.endswith("Manager"):
            managers += 1
            source = SOURCE.search(rest)
            sources[depth] = source.group(1) if source else ""
            continue
        guard = parse_guard(rest)
        yield (
            managers,
            Guard(kind, sources.get(depth - 1, ""), guard.text, depth, guard.code, guard.location, guard.hint),
        )


def _merge(parts: Sequence[Guard]) -> Guard:
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], expression="\n".join(part.expression for part in parts))


def latency_us(text: str) -> float | None:
    """Return the µs that torch took to evaluate the guards once, right after it made them; None if it printed none."""
    match = LATENCY.search(text)
    return float(match.group(1)) if match else None
