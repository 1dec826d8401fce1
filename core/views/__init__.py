"""Views: the sentences, rows and chart data about a run, shared by pages, command line, JSON and export."""
