"""Interactive views, one folder each: they take data and return the visitor's choice. They know no run."""
