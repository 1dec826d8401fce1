"""vLLM page: compile calls of vLLM's backend, their piecewise compilations, caches and configuration."""

from functools import partial

from core.views import vllm as views
from pages.parts.dynamo.tables import piece_record
from pages.session.require import require_report
from pages.session.tables import draw, picks

view = require_report("This page shows the compilations of vLLM.")
draw(views.vllm(view.report, view.text, picks()), {views.RECORD: partial(piece_record, view)})
