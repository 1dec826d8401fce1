r"""A module keeps its last frames in a queue of bounded length.

Source: https://github.com/pytorch/pytorch/pull/195010
Finds: results differ
Cause: deque|maxlen|queue
Cure: deque|tensor|buffer|list
Expects: graphs 4
"""

from collections import deque

import torch


class Smoothed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = deque(maxlen=2)

    def forward(self, frame):
        self.frames.append(frame)
        return frame * len(self.frames)


model = Smoothed()


def calls():
    for number in range(4):
        yield (torch.arange(4.0) + number,)


# Cured


class Listed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = []

    def forward(self, frame):
        self.frames = [*self.frames[-1:], frame]
        return frame * len(self.frames)


model = Listed()
