"""A perspective transform is solved for by least squares within the model.

Source: https://github.com/pytorch/pytorch/issues/114353
Finds: graph breaks
Cause: lstsq|least.squares
Cure: solve|qr|pinv|pseudo|outside|before
Expects: graphs 1, breaks 0
"""

import torch
from torch import nn


def perspective_coefficients(start, end):
    rows = []
    for p, q in zip(end, start):
        one, zero = torch.ones_like(p[0]), torch.zeros_like(p[0])
        rows.append(torch.stack([p[0], p[1], one, zero, zero, zero, -q[0] * p[0], -q[0] * p[1]]))
        rows.append(torch.stack([zero, zero, zero, p[0], p[1], one, -q[1] * p[0], -q[1] * p[1]]))
    return torch.linalg.lstsq(torch.stack(rows), start.reshape(8, 1)).solution.squeeze(1)


class Warp(nn.Module):
    def forward(self, points, start, end):
        c = perspective_coefficients(start, end)
        x, y = points.unbind(-1)
        scale = c[6] * x + c[7] * y + 1
        return torch.stack([(c[0] * x + c[1] * y + c[2]) / scale, (c[3] * x + c[4] * y + c[5]) / scale], -1)


corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
model, inputs = Warp(), (torch.rand(10, 2), corners, corners + 0.1 * torch.rand(4, 2))


# Cured
def perspective_coefficients(start, end):
    rows = []
    for p, q in zip(end, start):
        one, zero = torch.ones_like(p[0]), torch.zeros_like(p[0])
        rows.append(torch.stack([p[0], p[1], one, zero, zero, zero, -q[0] * p[0], -q[0] * p[1]]))
        rows.append(torch.stack([zero, zero, zero, p[0], p[1], one, -q[1] * p[0], -q[1] * p[1]]))
    return torch.linalg.solve(torch.stack(rows), start.reshape(8))
