"""The backend `accelerator` in a run: segments and their programs, calls, and changes between runs."""

from core.views.accelerator.program import ProgramFileView, ProgramView
from core.views.accelerator.run import AcceleratorOptions, AcceleratorView, SegmentView

__all__ = ["AcceleratorOptions", "AcceleratorView", "ProgramFileView", "ProgramView", "SegmentView"]
