"""Neighbours page: the run's model on other compilers and runtimes, compared with eager and compiled."""

from functools import partial

from core.views import neighbours as views
from pages.parts.backends.alternatives import draw_lazy_graph
from pages.parts.run.submit import neighbours_now
from pages.session.require import require_report
from pages.session.tables import draw, picks

view = require_report("This page runs the model on other compilers and runtimes.")
draw(views.neighbours(view.report, picks()), {views.TRY: partial(neighbours_now, view), views.GRAPH: draw_lazy_graph})
