"""An operator is defined again with other mutated arguments, and the kernel of the old one comes from the FX graph cache.

Source: https://github.com/pytorch/pytorch/issues/187319
Finds: results differ
Cause: (?i)cache|stale|schema|mutat
Cure: (?i)name|cache|force_disable_caches|another|rename
Run: --script
Lacks: detected, cured
"""

import torch


def define(mutated):
    @torch.library.custom_op("set6::twice", mutates_args=mutated)
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.mul_(2).clone() if mutated else x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)


def function(x):
    y = x + 1
    z = torch.ops.set6.twice(y)
    return y + z


x = torch.ones(4)
define(())
torch.compile(function)(x)
define({"x"})
torch._dynamo.reset()
found = torch.compile(function)(x)
print(found, function(x))


def confirmed():
    return torch.equal(found, function(x))


# Cured
import torch


def define(name, mutated):
    @torch.library.custom_op(f"set6::{name}", mutates_args=mutated)
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.mul_(2).clone() if mutated else x * 2

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)


def first(x):
    y = x + 1
    z = torch.ops.set6.twice_new(y)
    return y + z


def function(x):
    y = x + 1
    z = torch.ops.set6.twice_in_place(y)
    return y + z


x = torch.ones(4)
define("twice_new", ())
torch.compile(first)(x)
define("twice_in_place", {"x"})
torch._dynamo.reset()
found = torch.compile(function)(x)
print(found, function(x))


def confirmed():
    return torch.equal(found, function(x))
