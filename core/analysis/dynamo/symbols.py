"""Symbols of a compilation, with the conditions of tracing and of later calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.report import Compilation, Frame, Specialization, Symbol, SymbolGuard

# Files of our worker, which calls the model, and of torch, which traces its graphs again: no user code.
NOT_USER_CODE = re.compile(r"/core/worker/|/torch/(?:fx/|_)|^<string>$")


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A symbol: conditions needed by tracing, conditions checked at every call, and its specializations."""

    symbol: Symbol
    needed: tuple[SymbolGuard, ...]
    checked: tuple[str, ...]
    specializations: tuple[Specialization, ...]

    @property
    def constant(self) -> str:
        """Constant that the symbol was specialized to; empty if it stayed symbolic."""
        return self.specializations[0].value if self.specializations else ""


def symbol_rows(compilation: Compilation) -> tuple[SymbolRow, ...]:
    """Return the symbols in the order torch created them."""
    lines = [line for guard in compilation.guards if guard.depth == 0 for line in guard.expression.split("\n")]
    return tuple(_row(symbol, compilation, lines) for symbol in compilation.symbols)


def _row(symbol: Symbol, compilation: Compilation, lines: Sequence[str]) -> SymbolRow:
    name = re.compile(rf"\b{re.escape(symbol.name)}\b")
    return SymbolRow(
        symbol,
        tuple(guard for guard in compilation.symbol_guards if name.search(guard.expression)),
        tuple(line.partition("  # ")[0] for line in lines if symbol.source and symbol.source in line),
        tuple(specialization for specialization in compilation.specializations if specialization.symbol == symbol.name),
    )


def users_frames(stack: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return a stack without frames of our worker and of torch's tracing."""
    return tuple(frame for frame in stack if not NOT_USER_CODE.search(frame.file))
