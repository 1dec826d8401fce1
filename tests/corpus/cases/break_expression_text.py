"""The configuration has the activation as a Python expression.

Source: https://github.com/pytorch/pytorch/pull/184041
Finds: graph breaks
Cause: eval|builtin
Cure: getattr|dictionary|dict|function|lambda|outside|before|__init__
Expects: breaks 0, skipped 0
"""

import torch

CONFIG = {"activation": "torch.nn.functional.silu(hidden)", "width": 6}


class Block(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.up = torch.nn.Linear(config["width"], config["width"])

    def forward(self, rows):
        hidden = self.up(rows)
        hidden = eval(self.config["activation"], {"torch": torch, "hidden": hidden})
        return hidden.sum(-1)


torch.manual_seed(0)
model = Block(CONFIG)
inputs = (torch.ones(2, 6),)


# Cured
class Named(Block):
    def forward(self, rows):
        return torch.nn.functional.silu(self.up(rows)).sum(-1)


torch.manual_seed(0)
model = Named(CONFIG)
