"""Artifacts page: every record of the log as torch wrote it, chosen by compilation, kind and text."""

from functools import partial

from core.views import artifacts as views
from pages.parts.dynamo.tables import chosen_records, open_artifacts, record_downloads, record_fields, record_text
from pages.session import url
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.tables import Parts, draw

view = require_report("This page shows every record of a run's log.")
whole = open_artifacts(view)
if whole is None:
    page_title("The records are listed once the run has ended")
else:
    ids = {compilation.id for compilation in view.report.compilations}
    parts: Parts = {
        views.FIELDS: record_fields,
        views.DOWNLOADS: partial(record_downloads, view),
        views.TEXT: record_text,
    }
    draw(views.artifacts(whole, chosen_records(whole), url.number(url.RECORD), ids), parts)
