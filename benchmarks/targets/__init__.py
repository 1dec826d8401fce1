"""Cross-compiled code: the outcome of every sample, and comparisons with code from a real device."""
