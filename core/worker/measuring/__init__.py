"""Measurements: eager and compiled times, kernel times, profiles, and the machine's roofline."""
