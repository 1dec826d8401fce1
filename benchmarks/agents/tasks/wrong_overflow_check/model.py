"""Gradient compression to float16: buckets that overflow are skipped and counted."""

import torch


@torch.compile
def compress_bucket(values, scale):
    small = (values * scale).half()
    squares = small * small
    overflow = torch.isinf(squares).any()
    restored = squares.float().sqrt() * values.sign() / scale
    return torch.where(overflow, torch.zeros_like(values), restored), overflow


class Compressor:
    """Compresses buckets of gradients and halves the scale after an overflow."""

    def __init__(self, scale: float = 256.0) -> None:
        self.scale = scale
        self.skipped = 0

    def __call__(self, values):
        restored, overflow = compress_bucket(values, torch.tensor(self.scale))
        if bool(overflow):
            self.skipped += 1
            self.scale /= 2
        return restored


def make():
    """Return a compressor."""
    return Compressor()
