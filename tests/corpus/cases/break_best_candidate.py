"""Python's `max` picks the candidate with the largest score.

Source: https://github.com/pytorch/pytorch/pull/191401
Finds: graph breaks at line 19
Cause: max|key|builtin
Cure: argmax|stack|outside|topk
Expects: breaks 0
"""

import torch


def score(candidate):
    return candidate.square().sum()


def model(candidates, offset):
    shifted = [each + offset for each in candidates]
    best = max(shifted, key=score)
    return best * 2


inputs = ([torch.tensor([1.0, 2.0]), torch.tensor([3.0, -4.0]), torch.tensor([0.5, 0.0])], torch.tensor(0.25))


# Cured
def model(candidates, offset):
    shifted = torch.stack(candidates) + offset
    best = shifted.square().sum(-1).argmax(keepdim=True)
    return shifted.index_select(0, best).squeeze(0) * 2
