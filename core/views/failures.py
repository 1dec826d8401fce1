"""A failed compilation, or a frame that runs eagerly, as text."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import Failure
from core.report import Compilation
from core.views.markdown import LONGEST_TEXT, code, plain, prose


@dataclass(frozen=True)
class FailureView:
    """A failed compilation, or a frame that runs eagerly; `compilation` is None if the report lacks it."""

    failure: Failure
    compilation: Compilation | None

    @property
    def failed(self) -> bool:
        """True if nothing was compiled."""
        return self.failure.kind == "failed"

    @property
    def text(self) -> str:
        """The compilation, torch's reason and the consequence, as Markdown."""
        place = f" at {code(self.failure.place.short)}" if self.failure.place.file else ""
        name = f"\\[{plain(self.failure.compilation)}\\] {code(self.failure.frame)}{place}"
        return f"{name}: **{prose(self.failure.reason, LONGEST_TEXT)}**; {self.failure.consequence}."

    @property
    def traceback_title(self) -> str:
        """The title of torch's own message, as Markdown."""
        return f"torch's error for \\[{plain(self.failure.compilation)}\\], in full"

    @property
    def message(self) -> str:
        """The message without its traceback."""
        return (self.compilation.error if self.compilation is not None else "") or "It was not recorded."
