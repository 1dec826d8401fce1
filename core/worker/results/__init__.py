"""Results of a call, and their comparison between eager and compiled."""
