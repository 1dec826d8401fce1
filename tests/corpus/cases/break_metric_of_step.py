r"""A training step in the style of a trainer library logs its loss as a Python number.

Source: https://github.com/Lightning-AI/pytorch-lightning/pull/21837
Finds: graph breaks
Cause: item\(\)|float\(
Cure: detach|tensor|after the (call|step)|outside
Expects: breaks 0
"""

import torch


class Task(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(5, 1)
        self.metrics = {}

    def log(self, name, value):
        self.metrics[name] = float(value)

    def forward(self, rows, goal):
        error = self.net(rows) - goal
        loss = (error * error).mean()
        self.log("train_loss", loss)
        return loss


model, inputs = Task(), (torch.randn(7, 5), torch.randn(7, 1))

# Cured


class Kept(Task):
    def log(self, name, value):
        self.metrics[name] = value.detach()


torch.manual_seed(0)
model = Kept()
