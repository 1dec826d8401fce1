"""The loss of a transformer warns once that its type is unknown.

Source: https://github.com/huggingface/transformers/issues/34615
Finds: graph breaks at line 36 or nothing compiled or not compiled: skipped or graph breaks
Cause: (?i)logg|warn
Cure: (?i)(remove|ignore_logging|reorderable|outside|before|is_compiling|__init__|move|without|set .*loss_type)
Expects: graphs 1, breaks 0, recompiles 0
Lacks: cured
"""

import functools
import logging

import torch
import torch.nn.functional as F

logger = logging.getLogger("transformers")


@functools.lru_cache(None)
def warning_once(message):
    logger.warning(message)


LOSSES = {"ForCausalLM": F.cross_entropy}


class Model(torch.nn.Module):
    def __init__(self, loss_type=None):
        super().__init__()
        self.head = torch.nn.Linear(8, 12)
        self.loss_type = loss_type

    @property
    def loss_function(self):
        loss_type = self.loss_type
        if loss_type not in LOSSES:
            warning_once(f"`loss_type={loss_type}` is unrecognized, ForCausalLM is used")
            loss_type = "ForCausalLM"
        return LOSSES[loss_type]

    def forward(self, hidden, labels):
        return self.loss_function(self.head(hidden), labels)


model = Model()
inputs = (torch.randn(4, 8), torch.tensor([1, 2, 3, 4]))

# Cured
cured = Model("ForCausalLM")
cured.load_state_dict(model.state_dict())
model = cured
