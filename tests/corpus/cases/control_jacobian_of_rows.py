"""A forward Jacobian under vmap.

Source: https://github.com/pytorch/pytorch/issues/151196
"""

import torch

net = torch.nn.Linear(1, 3)


def model(times):
    with torch.no_grad():
        return torch.vmap(torch.func.jacfwd(lambda time: net(time[None]).tanh()))(times)


inputs = (torch.rand(4),)
