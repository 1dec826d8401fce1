"""Debug locations: from a line of a kernel's compilation stage to its line of the Python source.

    MLIR        %1 = tt.load %0 loc(#loc7)          #loc7 = loc("/k.py":33:46)
    LLVM IR     %5 = load i32, ptr %4, !dbg !12     !12 = !DILocation(line: 33, column: 46, scope: !4)
    PTX, AMD    .loc 1 33 46    // k.py:33:46       (behind @[ … ] where it was inlined)
    SASS        //## File "/k.py", line 33
    g++         .loc 1 33 4

Only the kernel's own file counts; an instruction inlined from another file belongs to the calling line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Lines = dict[int, int]

MLIR_ENTRY = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
MLIR_USE = re.compile(r"loc\((#loc\d*|\"[^\"]*\":\d+:\d+)\)\s*$")
MLIR_PLACE = re.compile(r'"([^"]*)":(\d{1,9}):\d+')
LLVM_ENTRY = re.compile(r"^!(\d{1,9}) = (?:distinct )?!(DI\w+)\((.*)\)$")
LLVM_USE = re.compile(r"!dbg !(\d{1,9})")
LLVM_FILE = re.compile(r'filename: "([^"]*)"')
LLVM_NUMBER = re.compile(r"\bline: (\d{1,9})")
LLVM_LINK = re.compile(r"\b(scope|file|inlinedAt): !(\d{1,9})")
CHAIN = re.compile(r"([\w.+-]+):(\d{1,9}):\d+")
SASS_PLACE = re.compile(r'//## File "([^"]*)", line (\d{1,9})')
LOC = re.compile(r"^\s*\.loc\s+(\d{1,9})\s+(\d{1,9})")
FILE = re.compile(r'^\s*\.file\s+(\d{1,9})\s+(?:"([^"]*)"\s+)?"([^"]*)"')
MAX_DEPTH = 24


def mlir_lines(text: str, file: str) -> Lines:
    """Return the lines of TTIR and TTGIR; `file` is the base name of the kernel's source."""
    rows = text.split("\n")
    table = {match.group(1): match.group(2) for row in rows if (match := MLIR_ENTRY.match(row))}
    resolved: dict[str, int | None] = {}

    def resolve(name: str, depth: int = 0) -> int | None:
        if name not in resolved and depth < MAX_DEPTH:
            resolved[name] = None
            resolved[name] = _mlir_line(table.get(name, ""), file, lambda inner: resolve(inner, depth + 1))
        return resolved.get(name)

    lines: Lines = {}
    for number, row in enumerate(rows, 1):
        use = MLIR_USE.search(row)
        if use is None or row.startswith("#loc"):
            continue
        place = use.group(1)
        line = resolve(place) if place.startswith("#") else _mlir_line(place, file, lambda _: None)
        if line is not None:
            lines[number] = line
    return lines


def _mlir_line(text: str, file: str, resolve: Callable[[str], int | None]) -> int | None:
    """Return the line of a location: its own, otherwise that of the first nested location."""
    for path, line in MLIR_PLACE.findall(text):
        if _base(path) == file:
            return int(line)
    for name in re.findall(r"#loc\d*", text):
        line = resolve(name)
        if line is not None:
            return line
    return None


def llvm_lines(text: str, file: str) -> Lines:
    """Return the lines of LLVM IR."""
    rows = text.split("\n")
    table = {match.group(1): match.group(3) for row in rows if (match := LLVM_ENTRY.match(row))}
    lines: Lines = {}
    for number, row in enumerate(rows, 1):
        use = LLVM_USE.search(row)
        if use is None:
            continue
        line = _llvm_line(use.group(1), table, file)
        if line is not None:
            lines[number] = line
    return lines


def _llvm_line(entry: str, table: dict[str, str], file: str) -> int | None:
    for _ in range(MAX_DEPTH):
        fields = table.get(entry, "")
        links = dict(LLVM_LINK.findall(fields))
        number = LLVM_NUMBER.search(fields)
        if number and _llvm_file(entry, table) == file:
            return int(number.group(1))
        if "inlinedAt" not in links:
            return None
        entry = links["inlinedAt"]
    return None


def _llvm_file(entry: str, table: dict[str, str]) -> str:
    for _ in range(MAX_DEPTH):
        fields = table.get(entry, "")
        name = LLVM_FILE.search(fields)
        if name:
            return _base(name.group(1))
        links = dict(LLVM_LINK.findall(fields))
        entry = links.get("file") or links.get("scope") or ""
    return ""


def comment_lines(text: str, file: str) -> Lines:
    """Return the lines of PTX and AMD assembly, whose `.loc` comments contain the inlining call sites."""
    lines: Lines = {}
    current: int | None = None
    for number, row in enumerate(text.split("\n"), 1):
        if LOC.match(row):
            places = [int(line) for name, line in CHAIN.findall(row.partition(".loc")[2]) if name == file]
            current = places[0] if places else current if ":0:0" in row else None
        elif current and _is_instruction(row):
            lines[number] = current
    return lines


def sass_lines(text: str, file: str, ptx: str) -> Lines:
    """Return the lines of SASS, which has no inlining data.

    The PTX is used if a line has a single caller there.
    """
    callers = _callers(ptx, file)
    lines: Lines = {}
    current: int | None = None
    for number, row in enumerate(text.split("\n"), 1):
        place = SASS_PLACE.search(row)
        if place:
            name, line = _base(place.group(1)), int(place.group(2))
            current = line if name == file else callers.get((name, line))
        elif current and "/*" in row and ";" in row:
            lines[number] = current
    return lines


def without_places(text: str, lines: Lines) -> tuple[str, Lines]:
    """Return SASS without the comments that name files, and its lines with new numbers."""
    rows: list[str] = []
    renumbered: Lines = {}
    for number, row in enumerate(text.split("\n"), 1):
        if SASS_PLACE.search(row):
            continue
        rows.append(row)
        if number in lines:
            renumbered[len(rows)] = lines[number]
    return "\n".join(rows), renumbered


def _callers(ptx: str, file: str) -> dict[tuple[str, int], int]:
    lines_by_place: dict[tuple[str, int], set[int]] = {}
    for row in ptx.split("\n"):
        chain = CHAIN.findall(row) if LOC.match(row) else []
        lines = [int(line) for name, line in chain if name == file]
        if chain and lines and chain[0][0] != file:
            lines_by_place.setdefault((chain[0][0], int(chain[0][1])), set()).add(lines[0])
    return {place: next(iter(callers)) for place, callers in lines_by_place.items() if len(callers) == 1}


def loc_lines(rows: Iterable[str], file: str) -> Lines:
    """Return the lines of g++ and clang assembly.

    An instruction from a header belongs to the last line of the file before it.
    """
    files: dict[str, str] = {}
    lines: Lines = {}
    current: int | None = None
    for number, row in enumerate(rows, 1):
        if match := FILE.match(row):
            files[match.group(1)] = _base(match.group(3))
        elif match := LOC.match(row):
            if files.get(match.group(1)) == file and match.group(2) != "0":
                current = int(match.group(2))
        elif current and _is_instruction(row):
            lines[number] = current
    return lines


def _is_instruction(row: str) -> bool:
    stripped = row.strip()
    return (
        bool(stripped) and not stripped.startswith((".", "//", ";", "#", "$", "}", "{")) and not stripped.endswith(":")
    )


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]
