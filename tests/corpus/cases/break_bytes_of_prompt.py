r"""A text is encoded as bytes in the compiled preparation of a generation.

Source: https://github.com/nari-labs/dia/pull/165
Finds: graph breaks at line 20
Cause: (?i)bytes|encode|string|\btext\b
Cure: (?i)(outside|before|move|tokeni[sz]e|pass.*tensor|tensor.*argument|preprocess)
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, 16)
        self.out = torch.nn.Linear(16, 8)

    def forward(self, noise, text):
        noise = torch.tanh(noise)
        encoded = text.encode("utf-8").replace(b"[S1]", b"\x01").replace(b"[S2]", b"\x02")
        tokens = torch.tensor(list(encoded), dtype=torch.long)
        return self.out(self.embedding(tokens)).mean(dim=0) + noise


model = Encoder()
inputs = (torch.randn(8), "[S1] Hello there. [S2] Hi.")

# Cured


class Cured(Encoder):
    def forward(self, noise, tokens):
        return self.out(self.embedding(tokens)).mean(dim=0) + torch.tanh(noise)


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
encoded = inputs[1].encode("utf-8").replace(b"[S1]", b"\x01").replace(b"[S2]", b"\x02")
inputs = (inputs[0], torch.tensor(list(encoded), dtype=torch.long))
