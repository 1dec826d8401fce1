"""A picture of the contract between torch.compile and a backend: five steps, then one line per compilation with a strip
of the run's calls.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import streamlit as st

from pages.components.modules import joined

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_contract",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=joined(HERE / "view.js"),
)


class StationData(msgspec.Struct, frozen=True):
    """A station: what it is, what is handed over there as one would write it, and this run's number for it."""

    name: str
    handed: str
    told: str
    bad: bool = False


class GivenData(msgspec.Struct, frozen=True):
    """A line: a compilation by its id, with what stands below each of the first four stations; the marks of the calls,
    a letter each, with what is said of each of them; and its executions in words.
    """

    id: str
    cells: tuple[str, str, str, str]
    failed: bool
    marks: str
    said: tuple[str, ...]
    ran: str


class ContractData(msgspec.Struct, frozen=True):
    """The message to the browser; `once` and `always` say when the stations are passed, `legend` has a word for each
    letter.
    """

    stations: tuple[StationData, ...]
    once: str
    always: str
    rows: tuple[GivenData, ...]
    legend: dict[str, str]
    chosen: str


def contract_view(data: ContractData, *, key: str) -> str | None:
    """Show the picture; returns the compilation that was clicked just now, and none that is not shown."""
    result = _COMPONENT(key=key, data=msgspec.to_builtins(data), on_chosen_change=lambda: None)
    return result.chosen if result.chosen in {row.id for row in data.rows} else None
