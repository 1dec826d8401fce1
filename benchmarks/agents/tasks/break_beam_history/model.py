"""Greedy decoding of a tiny recurrent language model until all rows end."""

import torch
from torch import nn

END = 0


class Speaker(nn.Module):
    def __init__(self, tokens: int = 20, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, width)
        self.cell = nn.GRUCell(width, width)
        self.project = nn.Linear(width, tokens)

    def forward(self, state, steps: int):
        token = torch.full((state.shape[0],), 1, dtype=torch.long)
        done = torch.zeros(state.shape[0], dtype=torch.bool)
        words = []
        for _ in range(steps):
            state = self.cell(self.embed(token), state)
            token = self.project(state).argmax(dim=-1)
            token = torch.where(done, END, token)
            done = done | (token == END)
            words.append(token)
            if done.all():
                break
        lengths = [int(sum(word[row] != END for word in words)) for row in range(state.shape[0])]
        padded = torch.stack(words + [torch.zeros_like(token)] * (steps - len(words)), dim=1)
        return padded, lengths


speaker = Speaker()
decode = torch.compile(speaker)


def speak(state, steps: int = 12):
    """Return tokens, (rows, steps), zero after the end, and a list of each row's length."""
    return decode(state, steps)
