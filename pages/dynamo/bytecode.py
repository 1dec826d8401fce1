"""Bytecode page: a function before and after Dynamo, with its compiled graph and its resume functions."""

from core.views import compilations as views
from pages.parts.dynamo.tables import bytecode_listings, decompiled_python
from pages.session.require import require_report
from pages.session.shown import shown_compilation
from pages.session.tables import draw, picks

view = require_report("This page compares bytecode before and after Dynamo.")
parts = {views.LISTINGS: lambda listings: bytecode_listings(view, listings), views.PYTHON: decompiled_python}
draw(views.bytecode(view.report, shown_compilation(view.report), view.text, picks()), parts)
