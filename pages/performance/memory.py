"""Memory page: peak memory of eager and compiled, and Inductor's plan for the generated code."""

from functools import partial

from core.views import memory as views
from pages import menu
from pages.parts.performance.memory import alive_part, curves_part, plan_section, plans_of
from pages.parts.run.submit import measure_memory
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import Parts, draw
from pages.session.url import page_link

view = require_report("This page compares the memory of eager and compiled.")
compilation = shown_compilation(view.report)
plans = plans_of(view, compilation)
parts: Parts = {
    views.MEASURE: partial(measure_memory, view),
    views.CURVES: partial(curves_part, view),
    views.ALIVE: partial(alive_part, view),
    views.SAVED: partial(page_link, menu.PARTITION, views.SAVED_VALUES),
}
if compilation is not None and plans:
    parts = {**parts, views.PLANS: partial(plan_section, view.of(compilation), plans)}
draw(views.memory(view.report, compilation, view.text, plans), parts)
