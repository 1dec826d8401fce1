"""Decisions page: how Inductor computes each op, its layout and memory, and autotuning's choices."""

from core.views import decisions as views
from pages.session.require import require_view
from pages.session.tables import draw

view = require_view("This page shows how Inductor computes each op.")
if view is None:
    draw(views.not_recorded(None))
else:
    draw(views.op_decisions(view.report, view.compilation, view.nodes, view.text))
