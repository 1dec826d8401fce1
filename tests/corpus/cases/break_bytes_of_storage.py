r"""A layer counts the bytes of its activations.

Source: https://github.com/pytorch/pytorch/pull/180628
Finds: graph breaks at line 21
Cause: nbytes|storage
Cure: numel|element_size|\.nbytes|outside
Expects: breaks 0, graphs 1
"""

import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.bytes = 0

    def forward(self, x):
        y = self.linear(x)
        self.bytes = y.untyped_storage().nbytes()
        return y.relu()


model = Layer()
inputs = (torch.randn(4, 8),)

# Cured


class CountedLayer(Layer):
    def forward(self, x):
        y = self.linear(x)
        self.bytes = y.numel() * y.element_size()
        return y.relu()


weights = model.state_dict()
model = CountedLayer()
model.load_state_dict(weights)
