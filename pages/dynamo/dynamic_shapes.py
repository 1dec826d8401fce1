"""Dynamic shapes page: every symbol of a compilation, its origin, and torch's constraints on it."""

from functools import partial

from core.views import dynamic_shapes as views
from pages.parts.dynamo.tables import try_dynamic
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import draw, picks

view = require_view("This page shows the symbolic sizes of a compilation.")
if view is None:
    page_title("No frame was compiled, so no size is dynamic")
else:
    page = views.dynamic_shapes(view.report, view.compilation, view.job, picks())
    draw(page, {views.TRY_DYNAMIC: partial(try_dynamic, view)})
