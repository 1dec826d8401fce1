r"""A checkpoint gets its contexts from a lambda within forward.

Source: https://github.com/pytorch/pytorch/pull/105489
Finds: not compiled: failed or graph breaks
Cause: context_fn|checkpoint
Cure: compiler\.disable|partial|module level
Expects: graphs 1
"""

import torch
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


def keep_products(ctx, op, *args, **kwargs):
    is_product = op == torch.ops.aten.mm.default
    return CheckpointPolicy.MUST_SAVE if is_product else CheckpointPolicy.PREFER_RECOMPUTE


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4, bias=False)

    def forward(self, rows):
        return checkpoint(
            self.net,
            torch.sin(rows),
            use_reentrant=False,
            context_fn=lambda: create_selective_checkpoint_contexts(keep_products),
        )


model, inputs = Block(), (torch.randn(3, 4),)
training = True

# Cured


@torch.compiler.disable
def checkpointed(net, rows):
    return checkpoint(
        net, rows, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(keep_products)
    )


class Outside(Block):
    def forward(self, rows):
        return checkpointed(self.net, torch.sin(rows))


torch.manual_seed(0)
model = Outside()
