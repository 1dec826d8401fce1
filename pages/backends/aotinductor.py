"""AOTInductor page: export the model, compile it to a package, run the package in Python and C++."""

from core.views.aotinductor import run as views
from pages.parts.aotinductor.panels import package_parts
from pages.session.require import require_report
from pages.session.tables import draw

view = require_report("This page compiles the model ahead of time into a package.")
draw(views.aotinductor(view.report, view.text), package_parts(view))
