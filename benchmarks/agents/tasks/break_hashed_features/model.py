"""Click prediction with hashed feature names: each column's name decides its row of the embedding."""

import hashlib
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Schema:
    columns: list = field(default_factory=lambda: ["age", "city", "device", "hour", "campaign"])
    buckets: int = 31
    width: int = 6
    salt: str = "v2"


def bucket(name: str, schema: Schema) -> int:
    digest = hashlib.sha1(f"{schema.salt}/{name}".encode()).hexdigest()
    return int(digest, 16) % schema.buckets


class Clicks(nn.Module):
    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.schema = schema
        self.table = nn.Embedding(schema.buckets, schema.width)
        self.output = nn.Linear(schema.width * len(schema.columns), 1)

    def forward(self, values):
        parts = []
        for number, name in enumerate(self.schema.columns):
            row = self.table.weight[bucket(name, self.schema)]
            parts.append(torch.tanh(values[:, number : number + 1] * row))
        return self.output(torch.cat(parts, dim=1)).squeeze(1)


def build(schema: Schema):
    """Return the model and its compiled forward over values, (rows, columns)."""
    model = Clicks(schema)
    return model, torch.compile(model)
