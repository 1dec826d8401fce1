"""Pure functions that analyse a report."""
