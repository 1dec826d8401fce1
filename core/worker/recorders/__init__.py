"""What is recorded of a compilation beside torch's own trace, by context managers that leave torch as it was."""
