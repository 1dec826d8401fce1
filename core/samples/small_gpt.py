"""Small GPT

A whole language model with four layers and an output head tied to the embedding: Dynamo unrolls the layers into one
graph, and Inductor generates each repeated kernel only once.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

group = "Language models"

VOCABULARY, D_MODEL, HEADS, LAYERS, BATCH, LENGTH = 1000, 128, 4, 4, 2, 64


class Block(nn.Module):
    """A causal pre-norm transformer block."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(D_MODEL)
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL)
        self.proj = nn.Linear(D_MODEL, D_MODEL)
        self.norm2 = nn.LayerNorm(D_MODEL)
        self.mlp = nn.Sequential(nn.Linear(D_MODEL, 4 * D_MODEL), nn.GELU(), nn.Linear(4 * D_MODEL, D_MODEL))

    def forward(self, x: Tensor) -> Tensor:
        qkv = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, -1))
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.proj(attended.transpose(1, 2).flatten(2))
        x = x + self.mlp(self.norm2(x))
        return x


class SmallGPT(nn.Module):
    """A language model from token ids to logits."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, D_MODEL)
        self.positions = nn.Embedding(LENGTH, D_MODEL)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


model = SmallGPT().eval()
inputs = (torch.randint(VOCABULARY, (BATCH, LENGTH)),)
