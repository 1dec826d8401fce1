"""An exported mixture loops over those experts that some token hits.

Source: https://github.com/huggingface/transformers/pull/40114
Run: --script
Finds: loop over data in an export
Cause: data.dependent|nonzero|unbacked|u0|depends on data
Cure: range|static|all experts|loop over|fixed
Expects: skipped 0
"""

import torch


class Experts(torch.nn.Module):
    def __init__(self, experts=3, width=4):
        super().__init__()
        self.number = experts
        self.gate = torch.nn.Linear(width, experts)
        self.weights = torch.nn.Parameter(torch.ones(experts, width, width))

    def forward(self, tokens):
        mask = torch.nn.functional.one_hot(self.gate(tokens).argmax(-1), self.number)
        output = torch.zeros_like(tokens)
        for expert in (mask.sum(0) > 0).nonzero():
            number = expert[0].item()
            output = output + (tokens @ self.weights[number]) * mask[:, number, None]
        return output


torch.export.export(Experts(), (torch.ones(5, 4),))

# Cured
import torch


class Experts(torch.nn.Module):
    def __init__(self, experts=3, width=4):
        super().__init__()
        self.number = experts
        self.gate = torch.nn.Linear(width, experts)
        self.weights = torch.nn.Parameter(torch.ones(experts, width, width))

    def forward(self, tokens):
        mask = torch.nn.functional.one_hot(self.gate(tokens).argmax(-1), self.number)
        output = torch.zeros_like(tokens)
        for number in range(self.number):
            output = output + (tokens @ self.weights[number]) * mask[:, number, None]
        return output


torch.export.export(Experts(), (torch.ones(5, 4),))
