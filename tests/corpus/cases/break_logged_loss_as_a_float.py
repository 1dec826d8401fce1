r"""A Lightning model logs its loss as a float in the compiled step.

Source: https://github.com/Lightning-AI/pytorch-lightning/issues/16822
Finds: graph breaks at line 19
Cause: (?i)float\(|\bitem\b|number of a tensor|scalar|value of a tensor|to a (Python )?number
Cure: (?i)outside|after|disable|move|remove|return|detach
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class LitModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 8))
        self.logged = {}

    def log(self, name, value):
        self.logged[name] = float(value)

    def forward(self, x):
        loss = torch.nn.functional.mse_loss(self.encoder(x), x)
        self.log("train_loss", loss)
        return loss * 2


model = LitModel()
inputs = (torch.randn(4, 8),)

# Cured


class Cured(LitModel):
    def forward(self, x):
        return torch.nn.functional.mse_loss(self.encoder(x), x) * 2


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
