"""Picture of the contract between torch.compile and a backend: five steps, and a line per compilation."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from pages.components.exchange import component, message, when_picked

_COMPONENT = component(Path(__file__).parent)


class StationData(msgspec.Struct, frozen=True):
    """A step of the picture: its title, its call or object as text, and a count from the run."""

    name: str
    handed: str
    told: str
    bad: bool = False


class GivenData(msgspec.Struct, frozen=True):
    """A line of the picture: one compilation.

    `cells` are the texts below the first four steps. `marks` has one letter per call, `said` has a
    tooltip for each letter. `ran` is the number of executions as text.
    """

    id: str
    cells: tuple[str, str, str, str]
    failed: bool
    marks: str
    said: tuple[str, ...]
    ran: str


class ContractData(msgspec.Struct, frozen=True):
    """The message to the browser: steps, compilations, the chosen one, and texts.

    `once` and `always` describe when the steps happen; `legend` explains each letter.
    """

    stations: tuple[StationData, ...]
    once: str
    always: str
    rows: tuple[GivenData, ...]
    legend: dict[str, str]
    chosen: str


def contract_view(data: ContractData, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show the picture; `on_pick` gets a clicked compilation before the page runs again."""
    chosen = when_picked(key, "chosen", {row.id for row in data.rows}, on_pick)
    _COMPONENT(key=key, data=message(data), on_chosen_change=chosen)
