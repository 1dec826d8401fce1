"""Four layers of a Llama in training: rotary embeddings, grouped heads, a causal mask, a loss."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

WORDS = 32_000
model = LlamaForCausalLM(
    LlamaConfig(
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=WORDS,
    )
)
training = True
tokens = torch.randint(0, WORDS, (2, 64))
inputs = {"input_ids": tokens, "labels": tokens, "use_cache": False}
