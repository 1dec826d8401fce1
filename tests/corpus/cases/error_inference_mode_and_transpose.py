"""A transposed view under `torch.inference_mode` in the forward pass fails to compile.

Source: https://github.com/pytorch/pytorch/issues/180823
Finds: not compiled: failed or view of an inference tensor or raised at run time
Cause: (?i)inference.?mode|inference tensor|view
Cure: (?i)no_grad|outside|caller|inference_mode
Expects: breaks 0, recompiles 0
Run: --backend aot_eager
"""

import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    @torch.inference_mode()
    def forward(self, x):
        keys = x.transpose(-2, -1)
        return torch.softmax(x @ keys, dim=-1) @ self.linear(x)


model = Attention()
inputs = (torch.randn(2, 4, 8),)

# Cured


class Cured(Attention):
    @torch.no_grad()
    def forward(self, x):
        keys = x.transpose(-2, -1)
        return torch.softmax(x @ keys, dim=-1) @ self.linear(x)


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
