"""Results over all compilations of a large report, computed once when the report is stored.

Pages and the command line use them.

python -m core.views.prepared RUN    store the outline of a large log that is being written
"""

import sys

from core.report import Report
from core.runs.store import Run, Store
from core.runs.stored import Summaries, open_graph, store_outline
from core.views.colours import kernel_colours
from core.views.compile_time import CompileTimeView
from core.views.header import HeaderView, page_contents
from core.views.overview import OverviewView
from core.views.progress import OutlineView, evidence
from core.views.texts import source_of
from core.views.tour import TourView


def summaries(run: Run) -> Summaries:
    """Return the functions that make the outline and the prepared content while a run's log is read."""
    return Summaries(OutlineView.of, lambda report: prepared(run, report))


def prepared(run: Run, report: Report) -> tuple[object, ...]:
    """Return the report's content for every page's header, *Overview*, *Tour* and *Compile time*."""
    header = HeaderView(run.status(), report, run.job())
    overview = OverviewView(report, run.output_tail(), source_of(run.log_path(), report))
    phases = CompileTimeView(report)
    return (
        page_contents(report, live=False),
        (header.facts, header.compilations, kernel_colours(report)),
        (overview.findings, evidence(report), overview.heaviest),
        TourView.of(report, lambda compilation, graph: open_graph(run, compilation, graph)),
        (phases.totals, phases.chart_note, phases.spans, phases.owner("")),
    )


def main(run_id: str) -> None:
    """Store the outline of the part of a run's log that has been written."""
    run = Store().open(run_id)
    log = run.log_path()
    if log is not None:
        store_outline(run, log, summaries(run))


if __name__ == "__main__":
    main(*sys.argv[1:])
