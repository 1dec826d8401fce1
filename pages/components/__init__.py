"""Interactive views, one folder each: they take data and return the visitor's choice, independent of any run."""
