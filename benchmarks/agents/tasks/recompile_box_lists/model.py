"""A detection loss over a list of images, each with its own list of boxes."""

import torch


def overlap(boxes, target):
    low = torch.maximum(boxes[:, :2], target[:2])
    high = torch.minimum(boxes[:, 2:], target[2:])
    inner = (high - low).clamp_min(0).prod(dim=1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
    return inner / (area + (target[2:] - target[:2]).prod() - inner)


@torch.compile
def matched(proposals, boxes):
    total = proposals.new_zeros(())
    for box in boxes:
        total = total + (1 - overlap(proposals, box).amax())
    return total / len(boxes)


def detection_loss(proposals, boxes):
    """Return the mean loss of the boxes, a list of at least one tensor of 4 numbers, by proposals (n, 4)."""
    return matched(proposals, boxes)
