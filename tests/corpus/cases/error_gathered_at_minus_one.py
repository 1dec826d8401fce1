"""Scores are gathered at -1 for padding, which eager mode refuses too.

Source: https://github.com/pytorch/pytorch/issues/197554
Finds: raised in eager
Cause: index|out of bounds|eager
Cure: clamp|index|negative|where|mask
Expects: graphs 1, results other
Run: --backend inductor
"""

import torch


def model(scores, labels):
    return scores.log_softmax(-1).gather(1, labels.unsqueeze(1)).squeeze(1)


inputs = (torch.linspace(0, 1, 12).view(3, 4), torch.tensor([0, -1, 2]))

# Cured


def model(scores, labels):
    picked = scores.log_softmax(-1).gather(1, labels.clamp(min=0).unsqueeze(1)).squeeze(1)
    return picked * (labels >= 0)
