r"""A custom operator replaces the storage of its argument with `set_`.

Source: https://github.com/pytorch/pytorch/issues/139257
Finds: not compiled: failed or raised at run time or wrong fake kernel or results differ
Cause: (?i)set_\b|storage|resiz|mutat|\bsize
Cure: (?i)return|copy_|new tensor|out|without|functional
Expects: graphs 1, breaks 0, recompiles 0
Run: --backend aot_eager
Lacks: explained, cured
"""

import torch


@torch.library.custom_op("set6::set_data", mutates_args=["parameter"])
def set_data(parameter: torch.Tensor, data: torch.Tensor) -> None:
    parameter.set_(data)


@set_data.register_fake
def _(parameter, data):
    parameter.set_(data)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.empty(0))

    def forward(self, x):
        state = self.state
        set_data(state, x * 3)
        return state / 3


model = Model()
inputs = (torch.randn(3, 3),)

# Cured


@torch.library.custom_op("set6::make_data", mutates_args=())
def make_data(data: torch.Tensor) -> torch.Tensor:
    return data.clone()


@make_data.register_fake
def _(data):
    return torch.empty_like(data)


class Cured(torch.nn.Module):
    def forward(self, x):
        return make_data(x * 3) / 3


model = Cured()
