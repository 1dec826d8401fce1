"""Guards page: the guards of a compilation by family, and the cost of checking them."""

from core.views.guards import guards
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import draw, picks

view = require_view("This page shows the guards of a compilation.")
if view is None:
    page_title("No guard was recorded for this compilation")
else:
    draw(guards(view.report, view.compilation, picks()))
