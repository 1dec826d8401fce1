"""The contract between torch.compile and a backend with the numbers of a run: the data of its picture."""

from __future__ import annotations

from core.views.backend import BackendCompilationView, BackendView
from pages.components.contract.view import ContractData, GivenData, StationData


def contract(backend: BackendView, chosen: str) -> ContractData:
    """Return the picture's data: stations with the numbers of the run, and a line per compilation."""
    return ContractData(
        stations=tuple(
            StationData(station.name, station.code, station.number, station.is_bad) for station in backend.stations
        ),
        once=backend.once,
        always=backend.always,
        rows=tuple(map(_line, backend.compilations)),
        legend=backend.legend,
        chosen=chosen,
    )


def _line(view: BackendCompilationView) -> GivenData:
    return GivenData(
        id=view.id,
        cells=view.cells,
        failed=view.is_failed,
        marks=view.marks,
        said=view.mark_texts,
        ran=view.execution_count,
    )
