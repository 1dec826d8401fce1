"""A GRU breaks the graph on purpose.

Source: https://github.com/pytorch/pytorch/issues/167275
Finds: graph breaks at line 16
Cause: RNN|GRU
Cure: allow_rnn
Expects: breaks 0, graphs 1
"""

import torch

rnn = torch.nn.GRU(8, 8)


def model(x):
    return rnn(x * 2)[0].tanh()


inputs = (torch.randn(3, 4, 8),)
