"""A contrastive loss whose margin follows a curriculum; the margin's reader was marked as constant."""

import torch


class Curriculum:
    """A margin that grows each epoch."""

    def __init__(self) -> None:
        self.epoch = 0

    def margin(self) -> float:
        return 0.2 + 0.15 * self.epoch


curriculum = Curriculum()


@torch.compiler.assume_constant_result
def current_margin():
    return curriculum.margin()


@torch.compile
def pair_loss(left, right, same):
    distance = (left - right).square().sum(dim=1).add(1e-9).sqrt()
    apart = torch.relu(current_margin() - distance).square()
    return torch.where(same, distance.square(), apart).mean()


def contrast(left, right, same):
    """Return the loss of pairs, `same` says which belong together."""
    return pair_loss(left, right, same)


def next_epoch() -> None:
    """Begin the next epoch."""
    curriculum.epoch += 1
