"""A run as the preview of a link: title, verdict, and the graph of its heaviest compilation; plain text."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import ending_words, sentence, verdict
from core.base.errors import CompileboardError
from core.report import Report
from core.runs.sharing import may_preview, preview_token, set_preview
from core.runs.store import Run
from core.runs.stored import is_stored, open_graph, open_report
from core.views import wire
from core.views.colours import kernel_colours
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.header import first_compilation
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line

__all__ = ["CardView", "may_preview", "preview_token", "set_preview"]

# The report of a larger log is read by a page, not for a preview; a larger graph is drawn on its page.
LARGEST_LOG_BYTES = 2_000_000
MOST_OPS = 2_000
HELP = "A link that shows title, verdict and picture in a chat"
PRIVATE = "The run is private, so its links show nothing. *Runs* › *Seen by* changes that."
NO_TOKEN = "A link shows a preview to those who may open the run. A link with a token shows it to everybody."
WITH_TOKEN = (
    "Whoever has this link sees the title, the verdict and the picture of the graph, without signing in; nothing else."
)


@dataclass(frozen=True)
class CardView:
    """The preview of a run: its title and a sentence on its result."""

    run: Run
    title: str
    sentence: str

    @staticmethod
    def of(run: Run) -> CardView:
        """Return the preview of a run; raises CompileboardError."""
        status = run.status()
        title = one_line(run.name() or status.title or run.id, LONGEST_NAME)
        report = _report(run)
        ended = ending_words(status.state, status.reason, report)
        if report is None or ended:
            return CardView(run, title, one_line(f"{ended or status.state.capitalize()}.", LONGEST_LINE))
        return CardView(run, title, one_line(sentence(verdict(report)), 2 * LONGEST_LINE))

    @property
    def picture(self) -> wire.GraphData | None:
        """The graph of the heaviest compilation, laid out with its layers folded; None if there is none to draw."""
        report = _report(self.run)
        compilation = first_compilation(report) if report else None
        if report is None or compilation is None or not compilation.graphs:
            return None
        graph = GraphStages(compilation.graphs).first
        if not graph.ops or graph.calls > MOST_OPS:
            return None
        view = FxGraphView(self.run, report, compilation, graph, lambda each: open_graph(self.run, compilation, each))
        return wire.graph_data(wire.stored(view.picture, kernel_colours(report)))


def _report(run: Run) -> Report | None:
    """Return the report of an ended run if reading it is quick; None if not, or if there is none."""
    log = run.log_path()
    if log is None or run.status().live or not (is_stored(run) or log.stat().st_size <= LARGEST_LOG_BYTES):
        return None
    try:
        return open_report(run)
    except CompileboardError:
        return None
