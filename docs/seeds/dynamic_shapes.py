"""A compiled function for two sizes."""

import torch


def function(x, y):
    return torch.sin(x) + torch.cos(y)


compiled_fn = torch.compile(function, dynamic=True)
result1 = compiled_fn(torch.randn(10, 10), torch.randn(10, 10))
result2 = compiled_fn(torch.randn(20, 20), torch.randn(20, 20))
print(result1.shape, result2.shape)
