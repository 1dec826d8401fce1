"""Greedy decoding with a cache that grows: many small frames around the model."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

WORDS = 1_000
decoder = GPT2LMHeadModel(GPT2Config(n_embd=128, n_layer=2, n_head=4, vocab_size=WORDS, bos_token_id=0, eos_token_id=0))
decoder.eval()


def model(tokens: torch.Tensor) -> object:
    return decoder.generate(tokens, max_new_tokens=6, do_sample=False, pad_token_id=0)


inputs = (torch.randint(1, WORDS, (1, 8)),)
