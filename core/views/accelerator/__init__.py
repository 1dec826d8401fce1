"""The backend `accelerator` in a run: segments and their programs, calls, and changes between runs."""
