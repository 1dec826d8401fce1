"""Glossary page: torch's terms in compilation order, with links to the run and to torch's manual."""

from core.views import glossary as views
from pages.session.tables import draw, picks

draw(views.glossary(picks()))
