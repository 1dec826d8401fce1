"""A generator of random numbers is made in each call for the noise.

Source: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0363.html
Finds: graph breaks
Cause: Generator|opaque
Cure: outside|argument|before|randn|noise
Expects: breaks 0, graphs 1
"""

import torch


def model(x):
    y = x * 2
    generator = torch.Generator()
    generator.manual_seed(7)
    return y + torch.randn(4, 8, generator=generator)


inputs = (torch.ones(4, 8),)

# Cured
NOISE = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))


def model(x):
    y = x * 2
    return y + NOISE
