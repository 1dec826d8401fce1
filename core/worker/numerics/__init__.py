"""Accuracy of eager and compiled against float64: results of calls, and every node of their graphs."""
