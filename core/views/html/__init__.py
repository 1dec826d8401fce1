"""HTML files of runs and comparisons: interactive graphs, code, charts and findings, without a server or network."""

from core.views.html.render import as_html, comparison_as_html, words_of_file

__all__ = ["as_html", "comparison_as_html", "words_of_file"]
