"""An attention is wrapped as a custom operator with a fake kernel, but has no backward for training.

Source: https://github.com/hao-ai-lab/FastVideo/pull/1373
Finds: no backward of an op or raised in eager or not compiled: failed or raised at run time
Cause: (?i)autograd|backward|gradient
Cure: (?i)register_autograd|autograd formula|backward
Expects: graphs 1, breaks 0, results other
Run: --backend aot_eager
"""

import torch


@torch.library.custom_op("set6::flash_attention", mutates_args=())
def flash_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.softmax(query @ key.transpose(-1, -2), dim=-1) @ value


@flash_attention.register_fake
def _(query, key, value):
    return torch.empty_like(query)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(8, 24)

    def forward(self, x):
        return flash_attention(*self.qkv(x).chunk(3, dim=-1))


model = Block()
inputs = (torch.randn(2, 5, 8),)
training = True

# Cured


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, gradient):
    query, key, value = ctx.saved_tensors
    weights = torch.softmax(query @ key.transpose(-1, -2), dim=-1)
    of_weights = gradient @ value.transpose(-1, -2)
    of_scores = weights * (of_weights - (of_weights * weights).sum(dim=-1, keepdim=True))
    return of_scores @ key, of_scores.transpose(-1, -2) @ query, weights.transpose(-1, -2) @ gradient


flash_attention.register_autograd(backward, setup_context=setup_context)
