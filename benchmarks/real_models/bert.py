"""Six layers of a BERT with a padding mask."""

import torch
from transformers import BertConfig, BertModel

WORDS = 30_522
model = BertModel(
    BertConfig(hidden_size=256, intermediate_size=1024, num_hidden_layers=6, num_attention_heads=8, vocab_size=WORDS)
).eval()
inputs = {"input_ids": torch.randint(0, WORDS, (2, 64)), "attention_mask": torch.ones(2, 64, dtype=torch.long)}
