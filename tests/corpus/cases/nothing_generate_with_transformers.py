r"""A small GPT-2 is compiled by torch.compile, and asked to generate.

Source: https://github.com/huggingface/transformers/issues/34906
Finds: not called or nothing compiled
Cause: generate|forward|method
Cure: forward = torch\.compile|\.compile\(|compile.{0,30}(forward|generate)
Expects: breaks 0
Run: --script
"""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32, n_positions=32, bos_token_id=0, eos_token_id=1)
model = GPT2LMHeadModel(config).eval()
compiled = torch.compile(model, backend="eager")
ids = torch.tensor([[3, 4, 5]])
print(compiled.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, do_sample=False, pad_token_id=1))

# Cured
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32, n_positions=32, bos_token_id=0, eos_token_id=1)
model = GPT2LMHeadModel(config).eval()
model.compile(backend="eager")
ids = torch.tensor([[3, 4, 5]])
print(model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=3, do_sample=False, pad_token_id=1))
