"""Random projections for hashing audio fingerprints; the projection is drawn once and cached."""

import functools

import torch


@functools.lru_cache(maxsize=8)
def projection(width: int, bits: int):
    """Return the projection of a width, drawn when it is first needed."""
    return torch.randn(width, bits) / width**0.5


@torch.compile
def hash_frames(frames, bits: int):
    centred = frames - frames.mean(dim=-1, keepdim=True)
    values = torch.tanh(3 * centred @ projection(frames.shape[-1], bits))
    return values, (values > 0).float().mean(dim=0)


def fingerprint(frames, bits: int = 16):
    """Return the projected frames, (frames, bits), and each bit's share of ones."""
    return hash_frames(frames, bits)
