"""Backend page: the backend's input graphs, its compiled code, executions, and annotations."""

from core.views.backend import run as views
from pages.parts.backends.panes import backend_parts
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import draw

view = require_report("This page shows each backend call and its result.")
draw(views.backend(view.report, shown_compilation(view.report), view.text, view.going), backend_parts(view))
