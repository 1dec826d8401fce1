"""Interactive views, a folder each: data in, choice out. They know no run."""
