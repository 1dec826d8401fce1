r"""An audio transform asks for the type of its argument by a function of TorchScript.

Source: https://github.com/pytorch/audio/pull/3876
Finds: graph breaks
Cause: jit\.isinstance
Cure: isinstance
Expects: breaks 0
"""

from typing import List

import torch


class Loudness(torch.nn.Module):
    def forward(self, sounds):
        if torch.jit.isinstance(sounds, List[torch.Tensor]):
            sounds = torch.stack(sounds)
        return sounds.square().mean(-1).log1p()


model, inputs = Loudness(), ([torch.randn(16), torch.randn(16)],)

# Cured


class Plain(torch.nn.Module):
    def forward(self, sounds):
        if isinstance(sounds, list):
            sounds = torch.stack(sounds)
        return sounds.square().mean(-1).log1p()


model = Plain()
