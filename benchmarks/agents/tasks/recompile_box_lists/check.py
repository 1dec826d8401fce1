"""No more than three compilations over lists of many lengths."""

import torch

from benchmarks.agents.checker import Rules

RULES = Rules(graphs=3, least_ops=9, loose_ops=30)
ENTRY = ("detection_loss", "function")


def run(module, call):
    torch.manual_seed(14)
    results = []
    for count in (3, 5, 1, 8, 2, 13, 4, 27, 6, 1, 11, 9, 3):
        corners = torch.rand(20, 2)
        proposals = torch.cat([corners, corners + torch.rand(20, 2) + 0.05], dim=1)
        boxes = [torch.cat([corner, corner + torch.rand(2) + 0.05]) for corner in torch.rand(count, 2)]
        results.append(call(module.detection_loss, proposals, boxes))
    return results
