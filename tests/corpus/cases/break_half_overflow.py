"""An encoder layer clamps its half-precision states only if some are infinite.

Source: https://github.com/huggingface/transformers/pull/36712
Finds: graph breaks
Cause: data.dependent|branch|isinf|control flow
Cure: always|clamp|where|cond|without
Expects: breaks 0
"""

import torch

torch.manual_seed(0)


class EncoderLayer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width, dtype=torch.float16)
        self.fc1 = torch.nn.Linear(width, 2 * width, dtype=torch.float16)
        self.fc2 = torch.nn.Linear(2 * width, width, dtype=torch.float16)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = residual + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(hidden_states))))
        if hidden_states.dtype == torch.float16 and (
            torch.isinf(hidden_states).any() or torch.isnan(hidden_states).any()
        ):
            limit = torch.finfo(hidden_states.dtype).max - 1000
            hidden_states = torch.clamp(hidden_states, min=-limit, max=limit)
        return hidden_states


model = torch.nn.Sequential(EncoderLayer(4), EncoderLayer(4)).eval()
inputs = (torch.randn(2, 3, 4).half(),)


# Cured
class Clamped(EncoderLayer):
    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = residual + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(hidden_states))))
        limit = torch.finfo(hidden_states.dtype).max - 1000
        return torch.clamp(hidden_states, min=-limit, max=limit)


for layer in model:
    layer.__class__ = Clamped
