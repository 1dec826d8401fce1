"""The grad and inference mode in which a call is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Mode:
    """Torch's grad and inference mode."""

    grad: bool
    inference: bool

    @classmethod
    def current(cls) -> Mode:
        """Return the current modes."""
        return cls(torch.is_grad_enabled(), torch.is_inference_mode_enabled())

    @contextmanager
    def on(self) -> Iterator[None]:
        """Switch both to this, and back."""
        with torch.inference_mode(self.inference), torch.set_grad_enabled(self.grad):
            yield
