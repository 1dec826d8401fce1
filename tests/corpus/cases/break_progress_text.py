"""A callback of the training step keeps a line of text with the loss.

Source: https://github.com/pytorch/pytorch/pull/186500
Finds: graph breaks
Cause: format|f-string|text|repr|str
Cure: outside|return|after|disable|detach
Expects: breaks 0, skipped 0
"""

import torch

torch.manual_seed(0)


class Progress:
    def __init__(self):
        self.lines = []

    def on_batch_end(self, step, loss):
        self.lines.append(f"step {step}: {loss=}")


class Trainer:
    def __init__(self, network, callbacks):
        self.network, self.callbacks = network, callbacks

    def training_step(self, rows, targets):
        loss = torch.nn.functional.mse_loss(self.network(rows), targets)
        for callback in self.callbacks:
            callback.on_batch_end(0, loss)
        return loss * 1.0


trainer = Trainer(torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1)), [Progress()])
model = trainer.training_step
inputs = (torch.ones(4, 3), torch.zeros(4, 1))


# Cured
trainer.callbacks = []
model = trainer.training_step
