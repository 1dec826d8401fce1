"""Compiler graphs for display: nodes in nested groups, laid out level by level, searched and exported."""
