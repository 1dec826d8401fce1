"""`warnings.warn` for a deprecated argument breaks the graph of an attention.

Source: https://github.com/pytorch/torchtitan/pull/2684
Finds: graph breaks at line 23
Cause: (?i)warn
Cure: (?i)(remove|avoid|drop|ignore_logging|reorderable|outside|is_compiling|__init__|not.*warn|without|move)
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import warnings

import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(16, 16)

    def attend(self, query, key, value, return_lse=False, return_aux=False):
        scores = query @ key.transpose(-1, -2) / 4
        lse = torch.logsumexp(scores, dim=-1)
        if return_lse:
            warnings.warn("return_lse is deprecated, use return_aux", FutureWarning)
        result = torch.exp(scores - lse[..., None]) @ value
        return (result, lse) if return_lse or return_aux else result

    def forward(self, x):
        result, lse = self.attend(x, x, x, return_lse=True)
        return self.out(result) * torch.sigmoid(lse)[..., None]


model = Attention()
inputs = (torch.randn(2, 6, 16),)

# Cured


class Cured(Attention):
    def forward(self, x):
        result, lse = self.attend(x, x, x, return_aux=True)
        return self.out(result) * torch.sigmoid(lse)[..., None]


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
