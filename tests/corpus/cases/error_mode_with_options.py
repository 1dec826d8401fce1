"""A settings object passes a mode and backend options, too.

Source: https://github.com/xmarre/TorchCompileModel_LoRASafe/issues/6
Run: --script
Finds: mode and options
Cause: mode.*options|options.*mode|both
Cure: mode|options|either|one of
Expects: skipped 0
"""

from dataclasses import dataclass, field

import torch


@dataclass
class CompileSettings:
    backend: str = "inductor"
    mode: str | None = "max-autotune-no-cudagraphs"
    options: dict = field(default_factory=lambda: {"epilogue_fusion": True})


settings = CompileSettings()
network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
compiled = torch.compile(network, backend=settings.backend, mode=settings.mode, options=settings.options)
compiled(torch.ones(1, 3))

# Cured
import torch

network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
compiled = torch.compile(network, backend="inductor", options={"epilogue_fusion": True})
compiled(torch.ones(1, 3))
