"""The backend `accelerator` in a run: its segments with their programs, its calls, and changes between runs."""

from core.views.accelerator.changes import AcceleratorOptions
from core.views.accelerator.file import ProgramFileView
from core.views.accelerator.program import ProgramView
from core.views.accelerator.run import AcceleratorView
from core.views.accelerator.segment import SegmentView

__all__ = ["AcceleratorOptions", "AcceleratorView", "ProgramFileView", "ProgramView", "SegmentView"]
