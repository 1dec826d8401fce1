"""Accelerator page of one graph: segments, program, passes, memory, file, and calls across the ABI."""

from core.views.accelerator import run as views
from pages.parts.accelerator.panels import accelerator_parts
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import draw, picks

view = require_report("This page shows what the backend accelerator makes of a graph.")
compilation = shown_compilation(view.report)
draw(views.accelerator(view.report, compilation, view.side.nodes, picks(), view.job), accelerator_parts(view))
