"""HTML files of runs: interactive graphs, code, charts and findings, without a server and without network."""

from core.views.html.render import as_html, words_of_file

__all__ = ["as_html", "words_of_file"]
