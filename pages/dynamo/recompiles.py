"""Recompiles page: a tree per recompiled frame, with the failed guard and the cost of each recompile."""

from core.views import recompiles as views
from pages.parts.dynamo.boxes import fixes_of, lineage, parts_of_fixes
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import draw, picks

view = require_report("This page shows why torch compiled a frame again.")
page = views.recompiles(view.report, fixes_of(view), shown_compilation(view.report), picks())
draw(page, {**parts_of_fixes(view), views.LINEAGE: lineage})
