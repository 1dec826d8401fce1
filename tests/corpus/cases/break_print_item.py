"""A number from `.item()` is only printed.

Source: https://github.com/pytorch/pytorch/issues/114483
Finds: graph breaks at line 15
Cause: item|print
Cure: capture_scalar_outputs
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    loss = x.square().mean()
    print("loss", loss.item())
    return x - loss


inputs = (torch.randn(4, 8),)


# Cured
torch._dynamo.config.capture_scalar_outputs = True


def model(x):
    loss = x.square().mean()
    torch._higher_order_ops.print("loss {!s}", loss.item())
    return x - loss
