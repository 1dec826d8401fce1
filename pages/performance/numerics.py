"""Numerics page: eager and compiled compared with float64, by call results and by nodes."""

from functools import partial

from core.views import numerics as views
from pages.parts.graphs.drawn import node_lines
from pages.parts.performance.numerics import chosen_lines, node_table, nodes_part, results_part
from pages.parts.run.submit import bits_now, numerics_now
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import Parts, draw

view = require_report("This page checks results against float64.")
parts: Parts = {
    views.COMPARE: partial(numerics_now, view, "Compare with float64"),
    views.COMPARE_NODES: partial(numerics_now, view, "Compare every node"),
    views.COMPARE_BITS: partial(bits_now, view, views.NumericsView(view.report)),
    views.RESULTS: partial(results_part, view),
    views.NODES: partial(nodes_part, view),
    views.NODE_TABLE: node_table,
    views.LINES: partial(chosen_lines, view, node_lines),
}
draw(views.numerics(view.report, shown_compilation(view.report), view.side.nodes), parts)
