"""Speedup page: first call, steady state, break-even and results of compiled against eager."""

from functools import partial

from core.views import numerics
from core.views import speedup as views
from pages import menu
from pages.parts.performance.charts import speed_parts
from pages.parts.run.outcome import numerics_link
from pages.parts.run.submit import measure_again, measure_now
from pages.session.require import require_report
from pages.session.tables import Parts, draw
from pages.session.url import page_link

view = require_report("This page compares eager and compiled time.")
parts: Parts = {
    views.KERNELS: partial(page_link, menu.KERNELS),
    views.MEASURE: partial(measure_now if views.SpeedupView(view.report).not_measured else measure_again, view),
    numerics.RESULTS: numerics_link,
    **speed_parts(view),
}
draw(views.speedup(view.report), parts)
