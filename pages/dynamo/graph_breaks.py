"""Graph breaks page: the breaks on the user's own lines, the most expensive first, each with its fix."""

from functools import partial

from core.views import graph_breaks as views
from pages.parts.dynamo.boxes import code_with_breaks, fixed_sample, fixes_of, parts_of_fixes
from pages.session.require import require_report
from pages.session.tables import Parts, draw, picks

view = require_report("This page shows the lines where Dynamo stops tracing.")
parts: Parts = {
    **parts_of_fixes(view),
    views.CODE: partial(code_with_breaks, view),
    views.FIXED_SAMPLE: lambda: fixed_sample(view),
}
draw(views.graph_breaks(view.report, fixes_of(view), view.text, picks()), parts)
