"""Torch's log page: TORCH_LOGS messages, filtered by compilation, name and text, with user lines."""

from functools import partial

from core.views import texts as views
from pages.parts.dynamo.tables import line_of_user, record_logs
from pages.session.require import require_report
from pages.session.tables import draw, picks

view = require_report("This page shows torch's log messages.")
parts = {views.RECORD_LOGS: partial(record_logs, view), views.LINE_OF_USER: partial(line_of_user, view)}
draw(views.torch_logs(view.report, view.text, picks()), parts)
