"""Timeline page: a profile by torch.profiler, its slices joined to kernels, and idle time by cause."""

from functools import partial

from core.views import timeline as views
from pages.parts.performance.charts import add_profile, another_profile, open_timeline, slice_table, tracks
from pages.parts.run.submit import record_profile
from pages.session.require import require_report
from pages.session.tables import Parts, draw

view = require_report("This page shows a profile of the run.")
parts: Parts = {
    views.RECORD: partial(record_profile, view),
    views.ADD: partial(add_profile, view),
    views.ANOTHER: partial(another_profile, view),
    views.TRACKS: partial(tracks, view),
    views.SLICES: slice_table,
}
draw(views.timeline(view.report, open_timeline(view)), parts)
