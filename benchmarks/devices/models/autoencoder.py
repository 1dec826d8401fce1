"""An autoencoder of dense layers with dropout and batch norm, trained in float16."""

import torch
from torch import nn


def dense(rows: int, columns: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(rows, columns), nn.BatchNorm1d(columns), nn.GELU(), nn.Dropout(0.1))


model = nn.Sequential(dense(3072, 2048), dense(2048, 768), dense(768, 64), dense(64, 768), nn.Linear(768, 3072)).to(
    torch.float16
)
calls = [[torch.randn(8_192, 3072, dtype=torch.float16)]] * 8
training = True
