r"""A Lightning module logs an image to its experiment inside of the compiled step.

Source: https://github.com/Lightning-AI/pytorch-lightning/issues/17214
Finds: graph breaks at line 17
Cause: (?i)\bopen\b|write|\bfile|\blog|I/O
Cure: (?i)(outside|after|disable|move|remove|callback|hook)
Expects: graphs 1, breaks 0, recompiles 0
"""

import json
import os

import torch


class Experiment:
    def log(self, metrics):
        with open(os.devnull, "a") as file:
            file.write(json.dumps(metrics) + "\n")


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        self.experiment = Experiment()

    def forward(self, x):
        prediction = self.net(x)
        self.experiment.log({"event": "validation", "size": x.shape[0]})
        return torch.log_softmax(prediction, dim=-1)


model = Module()
inputs = (torch.randn(4, 8),)

# Cured


class Cured(Module):
    def forward(self, x):
        return torch.log_softmax(self.net(x), dim=-1)


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
