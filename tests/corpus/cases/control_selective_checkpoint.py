"""A compiled function is called within a selective checkpoint.

Source: https://github.com/pytorch/pytorch/issues/161889
Run: --script
"""

import functools

import torch
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


def keep_products(ctx, op, *args, **kwargs):
    is_product = op == torch.ops.aten.mm.default
    return CheckpointPolicy.MUST_SAVE if is_product else CheckpointPolicy.PREFER_RECOMPUTE


contexts = functools.partial(create_selective_checkpoint_contexts, keep_products)


@torch.compile(backend="aot_eager")
def product(left, right):
    return (3 * left + 1) @ (2 * right + 1)


left, right = torch.ones(4, 5, requires_grad=True), torch.ones(5, 4, requires_grad=True)
checkpoint(product, left, right, use_reentrant=False, context_fn=contexts).sum().backward()
print(left.grad.sum())
