"""Glossary page: torch's terms in compilation order, with links to the run and to torch's manual."""

from core.views.glossary import glossary
from pages.session.tables import draw, picks

draw(glossary(picks()))
