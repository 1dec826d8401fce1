"""A sub-model gets each molecule's table of neighbor lists, and reads none.

Source: https://github.com/ClementiGroup/mlcg/pull/57
Finds: recompiles
Cause: neighbor|dict|key|data
Cure: empty|clear|remove|leave out|not pass|without|same keys|only|outside|what it|fields
Expects: recompiles 0
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class AtomicData:
    positions: Tensor
    neighbor_list: dict[str, Tensor] = field(default_factory=dict)


class SchNet(nn.Module):
    def __init__(self, cutoff=2.0):
        super().__init__()
        self.cutoff = cutoff
        self.energy = nn.Sequential(nn.Linear(1, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, data):
        distances = torch.cdist(data.positions, data.positions)
        weight = torch.relu(1 - distances / self.cutoff)
        energy = (self.energy(distances.unsqueeze(-1)).squeeze(-1) * weight).sum()
        return energy + 0.0 * sum(len(v) for v in data.neighbor_list.values())


model = SchNet().eval()
mutants = [("bonds",), ("bonds", "angles"), ("bonds", "omega"), ("bonds", "angles", "phi")]
calls = [(AtomicData(torch.randn(8, 3), {name: torch.randint(8, (2, 5)) for name in names}),) for names in mutants]

# Cured
calls = [(AtomicData(data.positions, {}),) for (data,) in calls]
