"""Compilations page: all compilations of a run as a tree, marked as the model's or as helpers."""

from core.views import compilations as views
from pages.parts.dynamo.tables import compilation_table
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import draw, picks

view = require_report("This page shows the compilations of a run.")
page = views.compilations(view.report, shown_compilation(view.report), picks())
draw(page, {views.TREE: compilation_table})
