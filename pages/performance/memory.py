"""Memory page: peak memory of eager and compiled, and Inductor's plan for the generated code."""

from functools import partial

from core.views import memory as views
from pages.parts.performance.memory import alive_part, curves_chart, plan_section, plans_of
from pages.parts.run.submit import job_on_device, measure_memory
from pages.parts.sweep.sweeps import preset_button
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import Parts, charts, draw

view = require_report("This page compares the memory of eager and compiled.")
compilation = shown_compilation(view.report)


def measure() -> None:
    """Draw the buttons that measure the memory, and look for settings that need less."""
    measure_memory(view)
    preset_button(job_on_device(view), "smaller", "Find settings with less memory")


parts: Parts = {
    views.MEASURE: measure,
    views.ALIVE: alive_part,
    views.PLANS: partial(plan_section, view),
    **charts(view, {views.CURVES: curves_chart}),
}
draw(views.memory(view.report, compilation, view.text, plans_of(view, compilation)), parts)
