"""Mixture of experts

Top-k routing without a graph break. All experts process all tokens in batched matmuls, and each token's
weights are zero except for its top two experts. So no shape depends on data.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Recommendation and experts"

D_MODEL, HIDDEN, EXPERTS, TOP_K, TOKENS = 128, 256, 8, 2, 256


class MixtureOfExperts(nn.Module):
    """A router and its experts; each layer stacks the experts' weights in one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(D_MODEL, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, D_MODEL, HIDDEN) / D_MODEL**0.5)
        self.down = nn.Parameter(torch.randn(EXPERTS, HIDDEN, D_MODEL) / HIDDEN**0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.router(tokens)
        top, chosen = logits.topk(TOP_K, dim=-1)
        weights = torch.zeros_like(logits).scatter(-1, chosen, top.softmax(dim=-1))
        hidden = F.silu(torch.einsum("td,edh->eth", tokens, self.up))
        outputs = torch.einsum("eth,ehd->etd", hidden, self.down)
        return torch.einsum("te,etd->td", weights, outputs)


model = MixtureOfExperts().eval()
inputs = (torch.randn(TOKENS, D_MODEL),)
