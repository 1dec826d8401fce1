"""Compile time page: phases as a flame chart and a table, cache results, and torch's metrics."""

from functools import partial

from core.views import compile_time as views
from pages.parts.performance.charts import flame_chart
from pages.parts.run.submit import job_on_device
from pages.parts.sweep.sweeps import with_search
from pages.session.downloads import perfetto_download
from pages.session.require import require_report
from pages.session.tables import draw, picks

view = require_report("This page shows the seconds of each phase of compiling.")
picked, perfetto = picks(), partial(perfetto_download, view.run)
parts = {
    views.FLAME: lambda: flame_chart(view, views.phases_of(view.report, picked)),
    views.PERFETTO: lambda: with_search(perfetto, job_on_device(view), "start", "Time a second start"),
}
draw(views.compile_time(view.report, view.text, picked), parts)
