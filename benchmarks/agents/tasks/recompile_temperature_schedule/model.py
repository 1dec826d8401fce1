"""Distillation whose temperature and weight live in a config object that a schedule changes each step."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Settings:
    temperature: str = "4.0"
    weight: str = "0.9"


class Student(nn.Module):
    def __init__(self, width: int = 10, classes: int = 5) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, classes))

    def forward(self, x, teacher, target, settings):
        temperature, weight = float(settings.temperature), float(settings.weight)
        logits = self.net(x)
        soft = F.kl_div(
            F.log_softmax(logits / temperature, dim=1), F.softmax(teacher / temperature, dim=1), reduction="batchmean"
        )
        return weight * soft * temperature**2 + (1 - weight) * F.cross_entropy(logits, target)


student = Student()
forward = torch.compile(student)


def distill(x, teacher, target, settings: Settings):
    """Return the loss by the settings of this step, which come as text from a file."""
    return forward(x, teacher, target, settings)
