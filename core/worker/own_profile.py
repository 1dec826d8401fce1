"""A profile by torch.profiler of a process that is not our worker's: a user's own, with the user's code in it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import torch.autograd.profiler as autograd_profiler
from torch.profiler import ProfilerActivity, profile, record_function, supported_activities

from core.base.errors import CompileboardError
from core.worker.measuring.profiler import KernelMarks, quiet_profile, write_profile

# The first slice of a profile: one that another profiler has taken over lacks it.
BEGIN = "record(profile=True)"
ADD = "torch has one at a time; `python -m core profile` adds its file"
RUNNING = f"a torch.profiler was running already, and {ADD}"
ENDED = f"another torch.profiler was started meanwhile, and {ADD}"


class OwnProfile:
    """A profile from here to its end; an error of the profiler is kept as `problem`, and never reaches the user's code.

    Without a device, the generated kernels have slices, too: `add_kernels` marks those that were compiled since.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._stack = ExitStack()
        self._marks: KernelMarks | None = None
        self._profile: profile | None = None
        if autograd_profiler._is_profiler_enabled:
            self.problem = RUNNING
            return
        try:
            self._profile = self._stack.enter_context(quiet_profile(None))
            with record_function(BEGIN):
                pass
            if supported_activities() == {ProfilerActivity.CPU}:
                self._marks = self._stack.enter_context(KernelMarks())
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def add_kernels(self) -> None:
        """Mark the kernels that were compiled since."""
        try:
            if self._marks is not None:
                self._marks.add()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def write(self, path: Path) -> None:
        """End the profile and write its file, unless there is a problem."""
        try:
            self._stack.close()
            if self._profile is None or self.problem:
                return
            if any(event.name() == BEGIN for event in self._profile.profiler.kineto_results.events()):
                write_profile(self._profile, path)
            else:
                self.problem = ENDED
        except CompileboardError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"
