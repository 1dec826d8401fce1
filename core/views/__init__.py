"""Views: what a family of pages says of a run, made once for pages, command line, JSON and export."""
