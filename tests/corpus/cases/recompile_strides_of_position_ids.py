"""Position ids are the last column of a growing tensor, so that their stride differs at each step.

Source: https://github.com/huggingface/transformers/pull/32227
Finds: recompiles
Cause: (?i)stride
Cure: (?i)clone|contiguous|copy|empty_strided|layout
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8))

    def forward(self, hidden, position_ids):
        angles = position_ids[..., None].float() * self.inv_freq
        angles = torch.cat([angles, angles], dim=-1)
        return hidden * angles.cos() + hidden.flip(-1) * angles.sin()


model = Rotary()
hidden = torch.randn(2, 1, 8)
calls = []
for length in (7, 8, 9, 10):
    position_ids = torch.ones(2, length, dtype=torch.long).cumsum(-1) - 1
    calls.append((hidden, position_ids[:, -1:]))
inputs = calls[0]

# Cured
calls = [(hidden, position_ids.clone(memory_format=torch.contiguous_format)) for hidden, position_ids in calls]
inputs = calls[0]
