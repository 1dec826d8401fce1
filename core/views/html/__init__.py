"""HTML files of runs and comparisons, with interactive graphs; they need no server and no network."""

from core.views.html.render import as_html, comparison_as_html, texts_of_file, words_of_file

__all__ = ["as_html", "comparison_as_html", "texts_of_file", "words_of_file"]
