"""Compile time page: phases as a flame chart and a table, cache results, and torch's metrics."""

from core.views import compile_time as views
from pages.parts.performance.charts import flame_chart
from pages.session.downloads import perfetto_download
from pages.session.require import require_report
from pages.session.tables import draw, picks

view = require_report("This page shows the seconds of each phase of compiling.")
picked = picks()
parts = {
    views.FLAME: lambda: flame_chart(view, views.phases_of(view.report, picked)),
    views.PERFETTO: lambda: perfetto_download(view.run),
}
draw(views.compile_time(view.report, view.text, picked), parts)
