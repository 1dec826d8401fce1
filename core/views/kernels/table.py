"""Rows of the kernel ledger as a table."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.kernels import LedgerRow
from core.base import words as fmt
from core.code import CppFacts
from core.report import Frame

MOST_OPS = 12
# Columns that may be empty in all rows, and are left out then.
OPTIONAL = (
    "wasted", "time", "±", "in place", "share", "of roofline", "allowed", "bandwidth", "FLOP/s", "module", "line",
    "compile", "registers", "spills", "shared", "occupancy", "vectors", "OpenMP", "loops", "timed", "FLOP", "FLOP/B",
    "bytes are", "FLOP is",
)  # fmt: skip


def ledger_table(rows: Sequence[LedgerRow]) -> list[dict[str, object]]:
    """Return one row per kernel call, without the optional columns that are empty in all rows."""
    table = [_row(row) for row in rows]
    empty = {name for name in OPTIONAL if all(row[name] in (None, "") for row in table)}
    return [{name: value for name, value in row.items() if name not in empty} for row in table]


def _row(row: LedgerRow) -> dict[str, object]:
    return {
        "kernel": row.label,
        "time": row.time_s,
        "share": row.share,
        "of roofline": row.fraction,
        "wasted": row.wasted_s,
        "moved": row.bytes_moved,
        "calls": row.calls,
        "graph": row.direction,
        "kind": row.kind,
        "bandwidth": row.bandwidth_bytes_s if row.measured else None,
        "FLOP/s": row.flops_s if row.measured else None,
        "ops": ", ".join(row.ops[:MOST_OPS]),
        "module": _first_and_more([module.path for module in row.modules]),
        "line": _first_and_more([str(frame.line) for frame in _code_frames(row.frames)]),
        "read": row.bytes_read,
        "written": row.bytes_written,
        "bytes are": "at most" if row.at_most else "",
        "FLOP": row.flops,
        "FLOP is": "≈" if row.flops_estimated else "torch" if row.flops else "",
        "FLOP/B": row.intensity,
        "±": (row.quartiles_s[1] - row.quartiles_s[0]) / 2 if row.quartiles_s else None,
        "allowed": row.allowed_s,
        "in place": row.in_place_s,
        "timed": row.timed or row.reason,
        "compile": row.compile_s,
        "registers": row.registers,
        "spills": row.spill_bytes,
        "shared": row.shared_bytes,
        "occupancy": row.occupancy,
        "vectors": _vectors(row.cpp) if row.cpp else "",
        "OpenMP": _threads(row.cpp) if row.cpp else "",
        "loops": row.cpp.loops if row.cpp else None,
        "language": row.language,
        "generated name": row.name,
    }


def _first_and_more(names: Sequence[str]) -> str:
    return "" if not names else names[0] + (f" +{fmt.number(len(names) - 1)}" if len(names) > 1 else "")


def _code_frames(frames: Sequence[Frame]) -> list[Frame]:
    """Return the distinct frames whose text is a line of code."""
    return list({(frame.file, frame.line): frame for frame in frames if frame.line}.values())


def _vectors(facts: CppFacts) -> str:
    if not facts.vectorised:
        return facts.words
    width = f", {facts.bits} bits" if facts.bits else ""
    tails = f", {fmt.count(facts.scalar_tails, 'scalar tail')}" if facts.scalar_tails else ""
    return f"{facts.words}{width}: {facts.vector_loops} of {fmt.count(facts.loops, 'loop')}{tails}"


def _threads(facts: CppFacts) -> str:
    if not facts.parallel:
        return "one thread"
    threads = f", {fmt.count(facts.threads, 'thread')}" if facts.threads else ""
    return f"{fmt.count(facts.parallel_loops, 'loop')}{threads}"
