"""The header's chips for ops, kernels and memory traffic."""

from __future__ import annotations

from core.analysis import UNEVEN, Work, counted_words, traffic_words, work_words
from pages.components import format as fmt
from pages.components.chips import Chip


def work_chips(found: Work) -> list[Chip]:
    """How many ops became how many kernels, and by how much fusion changed the traffic."""
    items = []
    if found.ops is not None and found.kernels is not None:
        text = f"{fmt.number(found.ops)} → {fmt.number(found.kernels)}"
        items.append(Chip(text, "ops → kernels", page="graphs/kernels.py", tooltip=work_words(found)[0]))
    if found.traffic is not None and found.traffic.changed:
        sign = "−" if found.traffic.saved > 0 else "+"
        told = f"{traffic_words(found.traffic)}. {counted_words(found.traffic)}"
        text = f"{sign}{fmt.percent(abs(found.traffic.saved))}"
        items.append(Chip(text, "memory traffic", page="graphs/fusion.py", tooltip=told))
    elif found.uneven:
        items.append(Chip("not comparable", "memory traffic", "quiet", "graphs/fusion.py", UNEVEN))
    return items
