"""Keypoint augmentation: NumPy's random numbers decide rotation and jitter."""

import numpy as np
import torch


def rotate(points, angle):
    cosine, sine = torch.cos(angle), torch.sin(angle)
    matrix = torch.stack([torch.stack([cosine, -sine]), torch.stack([sine, cosine])])
    return points @ matrix.T


@torch.compile
def augment_points(points):
    angle = torch.as_tensor(np.random.uniform(-0.5, 0.5, size=())).to(points.dtype)
    jitter = torch.as_tensor(np.random.normal(0.0, 0.05, size=points.shape)).to(points.dtype)
    moved = rotate(points, angle) + jitter
    low, high = moved.amin(dim=0), moved.amax(dim=0)
    return (moved - low) / (high - low).clamp_min(1e-6)


def augment(points):
    """Return augmented points, (n, 2), by NumPy's global random state."""
    return augment_points(points)
