"""Memory page: peak memory of eager and compiled, and Inductor's plan for the generated code."""

from functools import partial

from core.views import memory as views
from pages.parts.performance.memory import alive_part, curves_chart, plan_section, plans_of
from pages.parts.run.submit import job_on_device, measure_memory
from pages.parts.sweep.sweeps import with_search
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import Parts, charts, draw

view = require_report("This page compares the memory of eager and compiled.")
FIND = "Find settings with less memory"
compilation = shown_compilation(view.report)
parts: Parts = {
    views.MEASURE: partial(with_search, partial(measure_memory, view), job_on_device(view), "smaller", FIND),
    views.ALIVE: alive_part,
    views.PLANS: partial(plan_section, view),
    **charts(view, {views.CURVES: curves_chart}),
}
draw(views.memory(view.report, compilation, view.text, plans_of(view, compilation)), parts)
