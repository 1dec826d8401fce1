"""A step of AdamW over the parameters of a small transformer, all lists at once, in float32."""

import torch
from torch import nn


class Step(nn.Module):
    def forward(
        self, gradients: torch.Tensor, weights: torch.Tensor, means: torch.Tensor, squares: torch.Tensor
    ) -> torch.Tensor:
        grads, values, first, second = (list(part.split(SIZES)) for part in (gradients, weights, means, squares))
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads)))
        grads = torch._foreach_mul(grads, torch.clamp(1 / (norm + 1e-6), max=1.0))
        first = torch._foreach_add(torch._foreach_mul(first, 0.9), grads, alpha=0.1)
        second = torch._foreach_addcmul(torch._foreach_mul(second, 0.99), grads, grads, value=0.01)
        root = torch._foreach_add(torch._foreach_sqrt(torch._foreach_abs(second)), 1e-8)
        values = torch._foreach_addcdiv(torch._foreach_mul(values, 0.999), first, root, value=-1e-3)
        return torch.cat([part[:8] for part in values])


SIZES = [2_359_296, 3_072, 768 * 768, 768, 768 * 3_072, 3_072, 3_072 * 768, 768, 768, 768] * 4
TOTAL = sum(SIZES)
model = Step().eval()
calls = [[torch.randn(TOTAL), torch.randn(TOTAL), torch.randn(TOTAL), torch.rand(TOTAL)]]
training = False
