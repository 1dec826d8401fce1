"""A compiled call as a stacked bar: its kernels, then the rest of the call."""

from __future__ import annotations

import html

from core.analysis.kernels import CallPart, LedgerSum
from core.base import words as fmt
from pages.look.charts import blended
from pages.look.palette import ACCENT, MUTED, PAPER, Theme

# Opacity of the muted colour for the parts beside the kernels, from the inside out.
FADED = (0.9, 0.65, 0.45, 0.28)
BAR = "display:flex;height:20px;border-radius:3px;overflow:hidden"
KEYS = "display:flex;flex-wrap:wrap;gap:2px 16px;padding-top:5px;font-size:0.875rem;font-variant-numeric:tabular-nums"
MARK = "display:inline-block;width:10px;height:10px;margin-right:6px;border-radius:2px"


def call_bar(found: LedgerSum, on: Theme) -> str:
    """Return the bar and its parts with their seconds as HTML; a tooltip describes each part."""
    whole_s = sum(part.seconds for part in found.parts) or 1.0
    bars, keys = [], []
    for at, part in enumerate(found.parts):
        share, colour = part.seconds / whole_s, _colour(at, on)
        width = round(100 * share, 3)
        name, words = html.escape(_named(part)), html.escape(f"{fmt.percent(share)}: {part.words}")
        bars.append(f'<div title="{name}, {words}" style="width:{width}%;background:{colour}"></div>')
        keys.append(f'<span title="{words}"><i style="{MARK};background:{colour}"></i>{name}</span>')
    said = html.escape(", ".join(_named(part) for part in found.parts))
    drawn, told = "".join(bars), "".join(keys)
    return f'<div role="img" aria-label="{said}" style="{BAR}">{drawn}</div><div style="{KEYS}">{told}</div>'


def _named(part: CallPart) -> str:
    return f"{part.name} {fmt.duration_s(part.seconds)}"


def _colour(at: int, on: Theme) -> str:
    return ACCENT[on] if at == 0 else blended(MUTED[on], PAPER[on], FADED[min(at, len(FADED)) - 1])
