r"""A layer is made in the first call, when the number of features is known.

Source: https://github.com/pytorch/pytorch/issues/157452
Finds: graph breaks
Cause: creates a layer|Parameter
Cure: __init__
Not: graph_break_on_nn_param_ctor
Expects: breaks 0, results other
"""

import torch


class Head(torch.nn.Module):
    def forward(self, rows):
        if not hasattr(self, "out"):
            self.out = torch.nn.Linear(rows.shape[-1], 2)
        return self.out(rows)


torch.manual_seed(0)
model = Head()
inputs = (torch.ones(2, 3),)


# Cured
class Made(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(3, 2)

    def forward(self, rows):
        return self.out(rows)


model = Made()
