"""The command line, `python -m core`: a file for each command."""
