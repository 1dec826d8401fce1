"""Each denoising step passes a dictionary of options with its own sigma to the blocks.

Source: https://github.com/Comfy-Org/ComfyUI/pull/11317
Finds: recompiles
Cause: options|dict|key|sigma|float|number
Cure: tensor|leave out|not pass|without|remove|skip|outside|guard_filter|same keys
Expects: recompiles 0
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, dim))

    def forward(self, x, transformer_options={}):
        extra_options, patches = {}, {}
        for key, value in transformer_options.items():
            if key == "patches":
                patches = value
            else:
                extra_options[key] = value
        x = x + self.mlp(self.norm(x))
        for patch in patches.get("block_out", ()):
            x = patch(x, extra_options)
        return x


model = Block().eval()
latents = torch.randn(2, 6, 16)
calls = [
    (latents, {"sigma": 14.6, "patches": {}}),
    (latents, {"sigma": 7.3, "patches": {}, "uncond": [0, 1]}),
    (latents, {"sigma": 2.1, "patches": {}, "uncond": [0, 1], "sample_step": 2}),
    (latents, {"sigma": 0.4, "patches": {}, "uncond": [1], "sample_step": 3, "last": True}),
]

# Cured
calls = [(x, {"patches": options["patches"]}) for x, options in calls]
