r"""A language model is compiled, and its `generate` method calls the original.

Source: https://github.com/pytorch/pytorch/issues/141473
Run: --script
Finds: not called
Cause: forward|not compiled|never compiled|no graph|generate
Cure: forward|\.compile\(|generate
Expects: skipped 0
"""

import torch


class LanguageModel(torch.nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.head = torch.nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(torch.tanh(self.embed(tokens)).mean(1))

    def generate(self, tokens, max_new_tokens):
        for _ in range(max_new_tokens):
            following = self(tokens).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens[:, 1:], following], dim=1)
        return tokens


torch.manual_seed(0)
language_model = torch.compile(LanguageModel(), backend="eager")
print(language_model.generate(torch.zeros(1, 4, dtype=torch.long), 5))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


# Cured
import torch


class LanguageModel(torch.nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.head = torch.nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(torch.tanh(self.embed(tokens)).mean(1))

    def generate(self, tokens, max_new_tokens):
        for _ in range(max_new_tokens):
            following = self(tokens).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens[:, 1:], following], dim=1)
        return tokens


torch.manual_seed(0)
language_model = LanguageModel()
language_model.compile(backend="eager")
print(language_model.generate(torch.zeros(1, 4, dtype=torch.long), 5))


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
