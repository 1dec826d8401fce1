"""A matrix is made sparse in the compiled forward pass.

Source: https://github.com/pytorch/pytorch/issues/150083
Finds: graph breaks at line 19 or not compiled: failed or raised at run time or graph breaks
Cause: (?i)sparse
Cure: (?i)outside|dense|before|disable|custom op
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)

    def forward(self, adjacency, x):
        x = self.linear(x)
        adjacency = adjacency.to_sparse_csr()
        return torch.relu(adjacency @ x)


model = Model()
inputs = (torch.eye(5) + torch.eye(5).flip(0), torch.randn(5, 6))

# Cured


class Cured(Model):
    def forward(self, adjacency, x):
        return torch.relu(adjacency @ self.linear(x))


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
