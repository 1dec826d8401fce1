"""Page "Where in torch": places in torch's and Triton's source, with their times in the shown run."""

from core.views import glossary as views
from pages.session.shown import shown_run
from pages.session.tables import draw, picks

here = shown_run()
draw(views.landmarks(here.report if here is not None else None, picks()))
