"""Speedup page: first call, steady state, break-even and results of compiled against eager."""

from functools import partial

from core.views import speedup as views
from pages.look.charts import ratio_chart
from pages.parts.performance.charts import break_even_chart, first_calls_chart, samples_chart, steady_chart
from pages.parts.run.submit import job_on_device, measure_again, measure_now
from pages.parts.sweep.sweeps import with_search
from pages.session.require import require_report
from pages.session.tables import charts, draw

view = require_report("This page compares eager and compiled time.")
figures = charts(
    view,
    {
        views.RATIO: ratio_chart,
        views.STEADY: steady_chart,
        views.SAMPLES: samples_chart,
        views.BREAK_EVEN: break_even_chart,
        views.ALTERNATIVE: partial(samples_chart, names=("this run's call", "the other call")),
        views.FIRST_CALLS: first_calls_chart,
    },
)
measure = partial(measure_now if views.SpeedupView(view.report).not_measured else measure_again, view)
search = partial(with_search, measure, job_on_device(view), "faster", "Find faster settings")
draw(views.speedup(view.report), {views.MEASURE: search, **figures})
