"""What a call leaves behind, and whether eager and compiled left the same."""
