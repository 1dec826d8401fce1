"""A shape is printed between two layers, which costs the speed of the compiled model.

Source: https://25621.github.io/ai-learning-guides/guides/pytorch-deep-dive/projects/bottleneck-fix/
Finds: graph breaks at line 20
Cause: (?i)print
Cure: (?i)remove|reorderable|outside|is_compiling|move|logging
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        print("hidden", x.shape)
        return self.second(x)


model = Net()
inputs = (torch.randn(4, 8),)

# Cured


class Cured(Net):
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
