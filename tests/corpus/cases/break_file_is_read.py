r"""`pathlib.Path.read_text` in compiled code ends at a builtin without a trace.

Source: https://github.com/pytorch/pytorch/issues/189925
Finds: graph breaks at line 20 or graph breaks
Cause: (?i)\bfile|read_text|\bopen\b|text_encoding|pathlib
Cure: (?i)(outside|before|move|__init__|once|pass)
Expects: graphs 1, breaks 0, recompiles 0
"""

import pathlib
import tempfile

import torch

path = pathlib.Path(tempfile.mkdtemp()) / "scale.txt"
path.write_text("0.5")


def model(x):
    x = torch.sin(x)
    scale = float(path.read_text())
    return x * scale


inputs = (torch.randn(8),)

# Cured
scale = float(path.read_text())


def model(x):
    return torch.sin(x) * scale
